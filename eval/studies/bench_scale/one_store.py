"""Measure one store of n memories: ingestion, latency, recall, memory and size on disk."""

from __future__ import annotations

import gc
import json
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, cast

import numpy as np
from hydra import compose, initialize_config_module
from hydra.utils import instantiate
from omegaconf import DictConfig

from eval.studies.bench_scale.generated_data import (
    DIMENSIONS,
    SequentialEmbedder,
    memories,
    queries,
    query_vectors,
    write_vectors,
)
from memsys.embed.cache import CachedEmbedder
from memsys.index.rank import top
from memsys.index.vector import LargeVectors
from memsys.store import Parts, Store
from memsys.strategies.graph_expand import GraphExpand
from memsys.strategies.plain import VectorOnly
from memsys.strategy import Strategy
from memsys.types import Query, Vectors

SEED, ASKED, K = 0, 200, 10


def measure(n: int, vectors: str) -> dict[str, Any]:
    """Return all figures of a store of `n` under index.vectors=`vectors`; in s, ms and bytes."""
    with tempfile.TemporaryDirectory() as folder:
        generated = write_vectors(Path(folder) / "vectors.npy", n, SEED)
        texts = queries(ASKED, SEED)
        asked = dict(zip(texts, query_vectors(ASKED, SEED), strict=True))
        config = settings(vectors)
        parts = parts_of(config, SequentialEmbedder(generated, asked))
        before = resident_bytes()
        store, seconds = _fill(parts, n)
        del parts
        gc.collect()
        resident = resident_bytes()
        index = store.by_vector
        assert isinstance(index, LargeVectors)  # noqa: S101
        plain = _strategy(VectorOnly(parts_of(config, store._parts.embedder), K, 2048), store)
        expanding = _strategy(
            GraphExpand(plain.parts, K, 2048, "vector", config["expansion"]), store
        )
        last = store.memories[-1].time
        words = store.by_word
        jobs: dict[str, Callable[[str], object]] = {
            "raw vector search": lambda text: index.nearest(asked[text], K),
            "vector_only": lambda text: plain.retrieve(Query("q", text, "c", last)),
            "graph_expand": lambda text: expanding.retrieve(Query("q", text, "c", last)),
            "bm25s": lambda text: top(words.scores(text), K),
            "numpy": lambda text: top((generated @ asked[text]).astype(np.float64), K),
        }
        times = in_turns(jobs, texts)
        saved = Path(folder) / "index"
        index.save(saved)
        began = perf_counter()
        LargeVectors.open(saved)
        return {
            "memories": n,
            "vectors": vectors,
            "ingest_s": seconds,
            "ms": {name: percentiles(values) for name, values in times.items()},
            "recall": _recall(index, generated, list(asked.values())),
            "resident_bytes": resident,
            "before_bytes": before,
            "raw_bytes": n * DIMENSIONS * 4,
            "disk_bytes": saved.stat().st_size,
            "reopen_s": perf_counter() - began,
        }


def settings(vectors: str, *overrides: str) -> dict[str, Any]:
    """Return the settings of a run with index=large graph=large and these `overrides`."""
    config = composed(
        *("strategy=graph_expand", "index=large", "graph=large"),
        f"index.vectors={vectors}",
        *overrides,
    )
    groups = ("index", "graph", "context", "memory")
    parts = {name: instantiate(config[name]) for name in groups}
    return {**parts, "expansion": dict(config.strategy.expansion)}


def composed(*overrides: str) -> DictConfig:
    """Return the configuration of a run with these `overrides`."""
    with initialize_config_module("conf", version_base="1.3"):
        return compose("config", list(overrides))


def parts_of(config: Mapping[str, Any], embedder: object) -> Parts:
    """Return the parts of a store with an embedder of generated vectors."""
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


def _strategy(strategy: Strategy, store: Store) -> Strategy:
    strategy.store = store
    return strategy


def in_turns(jobs: Mapping[str, Callable[[str], object]], texts: Sequence[str]) -> dict[str, Any]:
    """Milliseconds of every job on every text; the jobs take turns on each text."""
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for job in jobs.values():
        job(texts[0])  # warm-up
    for text in texts:
        for name, job in jobs.items():
            began = perf_counter()
            job(text)
            times[name].append((perf_counter() - began) * 1000)
    return times


def percentiles(values: Sequence[float]) -> list[float]:
    """Return p50, p95 and p99 by linear interpolation."""
    return [float(value) for value in np.percentile(values, [50, 95, 99])]


def _recall(index: LargeVectors, generated: Vectors, asked: Sequence[Vectors]) -> float:
    """Mean recall of the exact ten nearest vectors over fifty questions."""
    shares = []
    for vector in asked[:50]:
        exact = set(top((generated @ vector).astype(np.float64), K))
        shares.append(len({row for row, _ in index.nearest(vector, K)} & exact) / len(exact))
    return float(np.mean(shares))


def resident_bytes() -> int:
    """Resident memory of this process, without mapped files; 0 if unknown."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) * 1024
    return 0


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]), sys.argv[2])))
