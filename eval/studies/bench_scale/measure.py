"""`python -m eval.studies.bench_scale.measure NAME N`: figures of one store of N memories, as JSON.

NAME is a kind of large vector index (flat, ivf, hnsw) or an alternative to one large store.
"""

from __future__ import annotations

import gc
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, Final, cast

import numpy as np
from hydra import compose, initialize_config_dir
from hydra.utils import instantiate
from omegaconf import DictConfig

from eval.studies.bench_scale.generated_data import (
    DIMENSIONS,
    LookupEmbedder,
    SequentialEmbedder,
    memories,
    queries,
    query_vectors,
    write_vectors,
)
from memsys.core.places import CONF
from memsys.core.types import Query, Session, Turn, Vectors
from memsys.embed.cache import CachedEmbedder
from memsys.index.lexical import LexicalIndex
from memsys.index.rank import top
from memsys.index.vector import LargeVectors
from memsys.llm.meter import Meter
from memsys.strategies.graph_expand import GraphExpand
from memsys.strategies.plain import VectorOnly
from memsys.strategies.store import Parts, Store

SEED, ASKED, K = 0, 200, 10
_BUDGET = 2048  # context tokens
_PER_OWNER = 1000  # memories
_EMBEDDED = 500


def large_store(vectors: str, n: int) -> dict[str, Any]:
    """Return all figures of a store of `n` under index.vectors=`vectors`; in s, ms and bytes."""
    with _generated(n) as (folder, generated, asked):
        config = _settings(vectors)
        parts = _parts(config, SequentialEmbedder(generated, asked))
        before = _resident_bytes()
        store, seconds = _fill(parts, n)
        del parts
        gc.collect()
        resident = _resident_bytes()
        index = store.by_vector
        assert isinstance(index, LargeVectors)  # noqa: S101
        plain = VectorOnly(_parts(config, store._parts.embedder), K, _BUDGET)
        expanding: GraphExpand = config["strategy"](plain.parts)
        plain.store = expanding.store = store
        words, last = store.by_word, store.memories[-1]
        jobs: dict[str, Callable[[str], object]] = {
            "raw vector search": lambda text: index.nearest(asked[text], K),
            "vector_only": lambda text: plain.retrieve(Query("q", text, "c", last.time)),
            "graph_expand": lambda text: expanding.retrieve(Query("q", text, "c", last.time)),
            "bm25s": lambda text: top(words.scores(text), K),
            "numpy": lambda text: top((generated @ asked[text]).astype(np.float64), K),
        }
        times = _in_turns(jobs, queries(ASKED, SEED))
        saved = folder / "index"
        index.save(saved)
        began = perf_counter()
        LargeVectors.open(saved)
        return {
            "memories": n,
            "vectors": vectors,
            "ingest_s": seconds,
            "ms": times,
            "recall": _recall(index, generated, list(asked.values())),
            "resident_bytes": resident,
            "before_bytes": before,
            "raw_bytes": n * DIMENSIONS * 4,
            "disk_bytes": saved.stat().st_size,
            "reopen_s": perf_counter() - began,
        }


def rank_bm25(n: int) -> dict[str, Any]:
    """Measure the lexical index of small stores at size `n`: ms per question, s to build."""
    texts = [memory.index_text for memory in memories(n, SEED)]
    began = perf_counter()
    index = LexicalIndex(texts, 0.9, 0.4)
    seconds = perf_counter() - began
    asked = queries(ASKED, SEED)[: 200 if n < 100_000 else 30]
    times = _in_turns({"rank_bm25": lambda text: top(index.scores(text), K)}, asked)
    return {"build_s": seconds, "ms": times}


def many_owners(n: int) -> dict[str, Any]:
    """Measure exact search over `n` memories, 1,000 per owner, for owners drawn at random."""
    with _generated(n) as (_, generated, asked):
        embedder = SequentialEmbedder(generated, asked)
        config = _settings("flat", "graph.max_share=0.1")  # the default of conversations
        texts, all_memories = queries(ASKED, SEED), list(memories(n, SEED))
        owners = []
        began = perf_counter()
        for start in range(0, n, _PER_OWNER):
            parts = _parts(config, embedder)
            owner: GraphExpand = config["strategy"](parts)
            owner.store.add(all_memories[start : start + _PER_OWNER])
            owner.retrieve(Query("q", texts[0], "c", all_memories[start].time))  # builds indexes
            owners.append(owner)
        seconds = perf_counter() - began
        picks = iter(np.random.default_rng(SEED).integers(len(owners), size=2 * ASKED).tolist())
        last = all_memories[-1].time
        ask = lambda text: owners[next(picks)].retrieve(Query("q", text, "c", last))  # noqa: E731
        return {
            "owners": len(owners),
            "ingest_s": seconds,
            "ms": _in_turns({"graph_expand": ask}, texts),
            "resident_bytes": _resident_bytes(),
        }


def embedding(n: int) -> dict[str, Any]:
    """Measure memories embedded per second by the default embedder, on 500 of them."""
    texts = [memory.content for memory in memories(min(n, _EMBEDDED), SEED)]
    with tempfile.TemporaryDirectory() as cache:
        embedder = CachedEmbedder(instantiate(_composed().embedder), cache, Meter())
        embedder.documents(texts[:8])  # loads the model
        began = perf_counter()
        embedder.documents(texts[8:])
        return {"embedded_per_s": (len(texts) - 8) / (perf_counter() - began)}


def mem0ai(n: int) -> dict[str, Any]:
    """Measure adding and searching in the library mem0ai with infer=False on the same vectors.

    Raises InputError if it is not installed (`make baseline NAME=mem0ai`).
    """
    # Imported here so that the memory of the other measures does not contain it.
    from baselines.libraries.memory import LibraryMemory  # noqa: PLC0415

    all_memories = list(memories(n, SEED))
    with _generated(n) as (_, generated, asked):
        contents = [memory.content for memory in all_memories]
        embedder = LookupEmbedder({**dict(zip(contents, generated, strict=True)), **asked})
        parts = _parts(_settings("flat"), embedder)
        with closing(LibraryMemory(parts, K, _BUDGET, "mem0ai", infer=False)) as library:
            began = perf_counter()
            for start in range(0, n, 100):
                part = all_memories[start : start + 100]
                turns = [Turn(m.id, m.speaker, m.content.removeprefix("Mara: ")) for m in part]
                library.ingest(Session(f"session_{start}", part[0].time, tuple(turns)))
            seconds = perf_counter() - began
            last = all_memories[-1].time
            ask = lambda text: library.retrieve(Query("q", text, "c", last))  # noqa: E731
            return {"ingest_s": seconds, "ms": _in_turns({"mem0ai": ask}, queries(ASKED, SEED))}


MEASURES: Final[Mapping[str, Callable[[int], dict[str, Any]]]] = {
    **{kind: partial(large_store, kind) for kind in ("ivf", "flat", "hnsw")},
    "rank_bm25": rank_bm25,
    "many_owners": many_owners,
    "embedding": embedding,
    "mem0ai": mem0ai,
}


@contextmanager
def _generated(n: int) -> Iterator[tuple[Path, Vectors, dict[str, Vectors]]]:
    """Yield a temporary folder, `n` vectors stored in it, and the questions' vectors by text."""
    with tempfile.TemporaryDirectory() as folder:
        generated = write_vectors(Path(folder) / "vectors.npy", n, SEED)
        asked = dict(zip(queries(ASKED, SEED), query_vectors(ASKED, SEED), strict=True))
        yield Path(folder), generated, asked


def _settings(vectors: str, *overrides: str) -> dict[str, Any]:
    """Return the settings of a run with index=large graph=large and these `overrides`."""
    large = ("strategy=graph_expand", "index=large", "graph=large")
    config = _composed(*large, f"index.vectors={vectors}", *overrides)
    groups = ("index", "graph", "context", "memory")
    parts = {name: instantiate(config[name]) for name in groups}
    strategy = instantiate(config.strategy, k=K, budget=_BUDGET, _convert_="all")
    return {**parts, "strategy": strategy}


def _composed(*overrides: str) -> DictConfig:
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return compose("config", list(overrides))


def _parts(config: Mapping[str, Any], embedder: object) -> Parts:
    settings = {name: config[name] for name in ("memory", "context", "index", "graph")}
    return Parts(embedder=cast(CachedEmbedder, embedder), **settings)


def _fill(parts: Parts, n: int) -> tuple[Store, dict[str, float]]:
    store, seconds = Store(parts), {}
    generated = list(memories(n, SEED))  # before the clock starts
    steps: dict[str, Callable[[], object]] = {
        "memories": lambda: store.add(generated),
        "vectors": lambda: store.by_vector,
        "words": lambda: store.by_word,
        "graph": lambda: (store.rows, store.graph),
    }
    for name, step in steps.items():
        began = perf_counter()
        step()
        seconds[name] = perf_counter() - began
    return store, seconds


def _in_turns(
    jobs: Mapping[str, Callable[[str], object]], texts: Sequence[str]
) -> dict[str, list[float]]:
    """Return milliseconds (p50, p95, p99) of every job over the texts; the jobs alternate."""
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for job in jobs.values():
        job(texts[0])  # warm-up
    for text in texts:
        for name, job in jobs.items():
            began = perf_counter()
            job(text)
            times[name].append((perf_counter() - began) * 1000)
    return {name: np.percentile(ms, [50, 95, 99]).tolist() for name, ms in times.items()}


def _recall(index: LargeVectors, generated: Vectors, asked: Sequence[Vectors]) -> float:
    """Return the mean recall of the exact ten nearest vectors over fifty questions."""
    shares = []
    for vector in asked[:50]:
        exact = set(top((generated @ vector).astype(np.float64), K))
        shares.append(len({row for row, _ in index.nearest(vector, K)} & exact) / len(exact))
    return float(np.mean(shares))


def _resident_bytes() -> int:
    """Return the resident memory of this process, without mapped files; 0 if unknown."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon")), 0)


if __name__ == "__main__":
    print(json.dumps(MEASURES[sys.argv[1]](int(sys.argv[2]))))
