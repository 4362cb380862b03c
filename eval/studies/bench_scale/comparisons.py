"""Measure the alternatives to one large store: rank_bm25, many small stores, mem0ai, embedding."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from hydra.utils import instantiate

from baselines.libraries.memory import LibraryMemory
from eval.studies.bench_scale.generated_data import (
    LookupEmbedder,
    SequentialEmbedder,
    memories,
    queries,
    query_vectors,
    write_vectors,
)
from eval.studies.bench_scale.one_store import (
    ASKED,
    SEED,
    K,
    composed,
    in_turns,
    parts_of,
    percentiles,
    resident_bytes,
    settings,
)
from memsys.embed.cache import CachedEmbedder
from memsys.index.lexical import LexicalIndex
from memsys.index.rank import top
from memsys.llm.meter import Meter
from memsys.strategies.graph_expand import GraphExpand
from memsys.types import Query, Session, Turn

_PER_OWNER = 1000  # memories
_EMBEDDED = 500


def rank_bm25(n: int) -> dict[str, Any]:
    """Measure the lexical index of small stores at size `n`: ms per question, s to build."""
    texts = [memory.index_text for memory in memories(n, SEED)]
    began = perf_counter()
    index = LexicalIndex(texts, 0.9, 0.4)
    seconds = perf_counter() - began
    asked = queries(ASKED, SEED)[: 200 if n < 100_000 else 30]
    times = in_turns({"rank_bm25": lambda text: top(index.scores(text), K)}, asked)
    return {"build_s": seconds, "ms": {"rank_bm25": percentiles(times["rank_bm25"])}}


def many_owners(n: int) -> dict[str, Any]:
    """Measure `n` memories of owners with 1,000 each, searched exactly; owners drawn at random."""
    with tempfile.TemporaryDirectory() as folder:
        generated = write_vectors(Path(folder) / "vectors.npy", n, SEED)
        texts = queries(ASKED, SEED)
        embedder = SequentialEmbedder(
            generated, dict(zip(texts, query_vectors(ASKED, SEED), strict=True))
        )
        config = settings("flat", "graph.max_share=0.1")  # the default of conversations
        all_memories = list(memories(n, SEED))
        owners = []
        began = perf_counter()
        for start in range(0, n, _PER_OWNER):
            owner = GraphExpand(parts_of(config, embedder), K, 2048, "vector", config["expansion"])
            owner.store.add(all_memories[start : start + _PER_OWNER])
            owner.retrieve(Query("q", texts[0], "c", all_memories[start].time))  # builds indexes
            owners.append(owner)
        seconds = perf_counter() - began
        picks = iter(np.random.default_rng(SEED).integers(len(owners), size=2 * ASKED).tolist())
        last = all_memories[-1].time
        ask = lambda text: owners[next(picks)].retrieve(Query("q", text, "c", last))  # noqa: E731
        times = in_turns({"graph_expand": ask}, texts)
        return {
            "owners": len(owners),
            "ingest_s": seconds,
            "ms": {"graph_expand": percentiles(times["graph_expand"])},
            "resident_bytes": resident_bytes(),
        }


def embedding(n: int) -> dict[str, Any]:
    """Measure memories embedded per second by the default embedder, on 500 of them."""
    texts = [memory.content for memory in memories(min(n, _EMBEDDED), SEED)]
    with tempfile.TemporaryDirectory() as cache:
        embedder = CachedEmbedder(instantiate(composed().embedder), cache, Meter())
        embedder.documents(texts[:8])  # loads the model
        began = perf_counter()
        embedder.documents(texts[8:])
        return {"embedded_per_s": (len(texts) - 8) / (perf_counter() - began)}


def mem0ai(n: int) -> dict[str, Any]:
    """Measure adding and searching in the library mem0ai with infer=False on the same vectors.

    Raises InputError if it is not installed (`make baseline NAME=mem0ai`).
    """
    all_memories = list(memories(n, SEED))
    with tempfile.TemporaryDirectory() as folder:
        generated = write_vectors(Path(folder) / "vectors.npy", n, SEED)
        texts = queries(ASKED, SEED)
        contents = [memory.content for memory in all_memories]
        vectors = dict(zip(contents, generated, strict=True))
        vectors |= zip(texts, query_vectors(ASKED, SEED), strict=True)
        library = LibraryMemory(
            parts_of(settings("flat"), LookupEmbedder(vectors)), K, 2048, "mem0ai", infer=False
        )
        try:
            began = perf_counter()
            for start in range(0, n, 100):
                part = all_memories[start : start + 100]
                turns = [Turn(m.id, m.speaker, m.content.removeprefix("Mara: ")) for m in part]
                library.ingest(Session(f"session_{start}", part[0].time, tuple(turns)))
            seconds = perf_counter() - began
            ask = lambda text: library.retrieve(Query("q", text, "c", all_memories[-1].time))  # noqa: E731
            times = in_turns({"mem0ai": ask}, texts)
        finally:
            library.close()
    return {"ingest_s": seconds, "ms": {"mem0ai": percentiles(times["mem0ai"])}}


MEASURES = {
    "rank_bm25": rank_bm25,
    "many_owners": many_owners,
    "embedding": embedding,
    "mem0ai": mem0ai,
}

if __name__ == "__main__":
    print(json.dumps(MEASURES[sys.argv[1]](int(sys.argv[2]))))
