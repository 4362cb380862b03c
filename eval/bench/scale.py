"""Large stores of generated memories: ingestion, latency, recall, memory and size on disk."""

import gc
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from datetime import datetime, timedelta
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Final, cast

import numpy as np

from eval.bench.runs import Row
from eval.run.build import build
from eval.run.composing import composed
from memsys.core.concurrency import one_thread
from memsys.core.types import Memory, Query, Vectors
from memsys.embed.base import unit_rows
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
# No data set has a million memories, and embedding them takes hours. Generated words follow Zipf's
# law, as in natural language; vectors cluster around centres, as texts around topics.
DIMENSIONS: Final = 384  # as MiniLM
_WORDS = 60_000
_ZIPF = 1.05
_LENGTH = 11  # words per memory; LoCoMo's turns have twice that, half of them function words
_CENTRES = 4_000
_SPREAD = 0.9  # of vectors around their centre; the mean cosine to it is .74
_BATCH = 20_000
_SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe qui ro su ta ve wi xo zu".split()


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


def memories(n: int, seed: int) -> Iterator[Memory]:
    """Yield `n` memories in order of time, ten per minute."""
    random = np.random.default_rng(seed)
    words = [_word(number) for number in range(_WORDS)]
    share = 1 / np.arange(1, _WORDS + 1) ** _ZIPF
    chance = np.cumsum(share / share.sum())
    began = datetime(2024, 1, 1)
    for start in range(0, n, _BATCH):
        drawn = np.searchsorted(chance, random.random((min(_BATCH, n - start), _LENGTH)))
        for row, numbers in enumerate(np.minimum(drawn, _WORDS - 1).tolist(), start):
            text = "Mara: " + " ".join([words[number] for number in numbers])
            time = began + timedelta(minutes=row // 10)
            yield Memory(str(row), text, text, time, "Mara", (str(row),))


def queries(n: int, seed: int) -> list[str]:
    """Return `n` questions of three words with the word frequencies of the memories."""
    return [" ".join(memory.content.split()[2:5]) for memory in memories(n, seed + 1)]


def write_vectors(path: Path, n: int, seed: int) -> Vectors:
    """Write `n` unit vectors, shape (n, 384), and return them memory-mapped."""
    random = np.random.default_rng(seed)
    centres = _centres(seed)
    file = np.lib.format.open_memmap(path, "w+", np.float32, (n, DIMENSIONS))
    for start in range(0, n, _BATCH):
        file[start : start + _BATCH] = _around(centres, min(_BATCH, n - start), random)
    file.flush()
    return np.asarray(np.load(path, mmap_mode="r"))


def query_vectors(n: int, seed: int) -> Vectors:
    """Return `n` unit vectors around the same centres, shape (n, 384)."""
    return _around(_centres(seed), n, np.random.default_rng(seed + 1))


class GeneratedEmbedder:
    """Embedder that takes no time: documents are `stored`, one after the other, independent of the
    texts; `queries` has the vectors of questions by text.
    """

    name, typical_similarity, languages = "generated", 0.5, None

    def __init__(self, stored: Vectors, queries: Mapping[str, Vectors]) -> None:
        self._stored, self._queries, self._next = stored, queries, 0

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Return the next vectors, shape (len(texts), 384)."""
        self._next += len(texts)
        return self._stored[self._next - len(texts) : self._next]

    def query(self, text: str) -> Vectors:
        """Return a vector of shape (384,)."""
        return self._queries[text]


def _centres(seed: int) -> Vectors:
    drawn = np.random.default_rng([seed, 7]).normal(size=(_CENTRES, DIMENSIONS))
    return unit_rows(drawn.astype(np.float32))


def _around(centres: Vectors, n: int, random: np.random.Generator) -> Vectors:
    noise = random.standard_normal((n, DIMENSIONS), dtype=np.float32) / DIMENSIONS**0.5
    return unit_rows(centres[random.integers(len(centres), size=n)] + _SPREAD * noise)


def _word(number: int) -> str:
    letters = []
    number += len(_SYLLABLES)  # at least two syllables: shorter words are not entities
    while number:
        number, syllable = divmod(number, len(_SYLLABLES))
        letters.append(_SYLLABLES[syllable])
    return "".join(letters)
