"""Large stores: ingestion, latency, recall, memory and size on disk of the large vector indexes."""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Final, cast

import numpy as np

from eval.bench.generated import (
    DIMENSIONS,
    GeneratedEmbedder,
    memories,
    queries,
    query_vectors,
    write_vectors,
)
from eval.bench.runs import Row
from eval.run.build import build
from eval.run.composing import composed
from memsys.core.concurrency import one_thread
from memsys.core.types import Query, Vectors
from memsys.embed.cache import CachedEmbedder
from memsys.index.rank import top
from memsys.index.vector import LargeVectors
from memsys.strategies.plain import VectorOnly
from memsys.strategies.store import Parts, Store
from memsys.strategies.strategy import Strategy

SIZES: Final = (1_000, 10_000, 100_000, 1_000_000)
_SEED, _ASKED, _K = 0, 200, 10
_MB = 1_000_000
_SLOW = 100_000  # memories; hnsw takes hours to build beyond


def scale(sizes: Sequence[int]) -> Iterator[Row]:
    """Yield the figures of each index at each number of memories; every store has a process of its
    own. `failed` says why there are none, for example for lack of memory.
    """
    kinds = ("flat", "ivf", "hnsw")
    jobs = [(n, kind) for n in sizes for kind in kinds if kind != "hnsw" or n <= _SLOW]
    for n, kind in jobs:
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            try:
                row: Row = pool.submit(large_store, kind, n).result()
            except (BrokenProcessPool, MemoryError) as error:
                row = {"failed": type(error).__name__}
        yield {"memories": n, "index": kind, **row}


def large_store(vectors: str, n: int, percentile: float = 95) -> dict[str, float]:
    """Return the figures of a store of `n` memories under index.vectors=`vectors`: rates per
    second, milliseconds of a question (the methods take turns), and their ratios.
    """
    with tempfile.TemporaryDirectory() as folder:
        generated = write_vectors(Path(folder) / "vectors.npy", n, _SEED)
        texts = queries(_ASKED, _SEED)
        asked = dict(zip(texts, query_vectors(_ASKED, _SEED), strict=True))
        large = ["strategy=graph_expand", "index=large", "graph=large", f"index.vectors={vectors}"]
        expanding = build(*composed([*large, f"k={_K}"])).make_strategy("")
        assert isinstance(expanding, Strategy)  # noqa: S101
        embedder = cast(CachedEmbedder, GeneratedEmbedder(generated, asked))
        expanding.parts = replace(expanding.parts, embedder=embedder)
        before = _resident_bytes()
        store, seconds = _fill(expanding.parts, n)
        gc.collect()
        resident = _resident_bytes() - before
        index = store.by_vector
        assert isinstance(index, LargeVectors)  # noqa: S101
        ms = _times(store, index, expanding, asked, percentile)
        recall = _recall(index, generated, list(asked.values()))
        saved = Path(folder) / "index"
        index.save(saved)
        began = perf_counter()
        LargeVectors.open(saved)
        reopened = perf_counter() - began
        size = saved.stat().st_size
    return {
        "recall@10": recall,
        "ingested a second": n / sum(seconds.values()),
        **{f"{name} s": value for name, value in seconds.items()},
        **{f"{name} ms": value for name, value in ms.items()},
        "graph_expand / raw search": ms["graph_expand"] / ms["raw search"],
        "resident MB": resident / _MB,
        "resident / raw vectors": resident / (n * DIMENSIONS * 4),
        "on disk MB": size / _MB,
        "reopening s": reopened,
    }


def _times(
    store: Store,
    index: LargeVectors,
    expanding: Strategy,
    asked: Mapping[str, Vectors],
    percentile: float,
) -> dict[str, float]:
    """Return this percentile in milliseconds of every search method; `faiss`: on one thread."""
    plain = VectorOnly(expanding.parts, _K, expanding.budget)
    plain.store = expanding.store = store
    words, last = store.by_word, store.memories[-1].time

    def raw(text: str) -> object:
        with one_thread():
            return index._index.search(asked[text][None, :], _K)

    jobs: dict[str, Callable[[str], object]] = {
        "faiss": raw,
        "raw search": lambda text: index.nearest(asked[text], _K),
        "vector_only": lambda text: plain.retrieve(Query("q", text, "c", last)),
        "graph_expand": lambda text: expanding.retrieve(Query("q", text, "c", last)),
        "bm25s": lambda text: top(words.scores(text), _K),
    }
    return _in_turns(jobs, list(asked), percentile)


def _fill(parts: Parts, n: int) -> tuple[Store, dict[str, float]]:
    """Return a store of `n` memories, and the seconds of each step of filling it."""
    store, seconds = Store(parts), {}
    generated = list(memories(n, _SEED))  # before the clock starts
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
    jobs: Mapping[str, Callable[[str], object]], texts: Sequence[str], percentile: float
) -> dict[str, float]:
    """Return this percentile in milliseconds of every job over the texts; the jobs alternate."""
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for job in jobs.values():
        job(texts[0])  # warm-up
    for text in texts:
        for name, job in jobs.items():
            began = perf_counter()
            job(text)
            times[name].append((perf_counter() - began) * 1000)
    return {name: float(np.percentile(ms, percentile)) for name, ms in times.items()}


def _recall(index: LargeVectors, generated: Vectors, asked: Sequence[Vectors]) -> float:
    """Return the mean recall of the exact ten nearest vectors over fifty questions."""
    shares = []
    for vector in asked[:50]:
        exact = set(top((generated @ vector).astype(np.float64), _K))
        shares.append(len({row for row, _ in index.nearest(vector, _K)} & exact) / len(exact))
    return float(np.mean(shares))


def _resident_bytes() -> int:
    """Return the resident memory of this process, without mapped files; 0 if unknown."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.is_file() else []
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon")), 0)
