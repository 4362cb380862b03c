"""Vector search by faiss: exact over every memory, and indexes for large stores."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, get_args

import faiss
import numpy as np
from numpy.typing import NDArray

from memsys.concurrency import one_thread
from memsys.errors import InputError
from memsys.index.rank import top
from memsys.types import Vectors

Kind = Literal["flat", "ivf", "hnsw"]
_BY_ROW = 1  # faiss's DirectMap.Array, which its stubs do not know
_LISTS = 2048  # at most: each vector that comes is compared with the centroids of all
_TRAINED_ON, _TRAINED_ON_ALL = 64, 100_000  # vectors a list: k-means gains little from more
_ITERATIONS = 5  # of k-means
_SEARCHED = 128  # of hnsw: candidates that a search keeps
_BUILT = 80  # of hnsw: candidates that an insertion keeps


class VectorIndex:
    """faiss inner product over unit vectors. Approximate indexes lose recall under a filter by
    conversation and gain nothing at this size.
    """

    def __init__(self, vectors: Vectors) -> None:
        """`vectors` has shape (n, d) with n at least 1, rows of length 1."""
        self._index = faiss.IndexFlatIP(vectors.shape[1])
        self._index.add(np.ascontiguousarray(vectors))

    def similarities(self, vector: Vectors) -> NDArray[np.float64]:
        """Cosine of `vector`, shape (d,), to every row, shape (n,), in -1 to 1."""
        with one_thread():
            found, rows = self._index.search(vector[None, :], self._index.ntotal)
        cosines = np.empty(self._index.ntotal, dtype=np.float64)
        cosines[rows[0]] = found[0]
        return cosines


class LargeVectors:
    """faiss over unit vectors: `flat` is exact; `ivf` (inverted lists of nearest centroids; Jegou
    et al., 2011) and `hnsw` (a graph of neighbours; Malkov and Yashunin, 2018) are approximate and
    miss some of the nearest. `python -m eval.studies.bench_scale` measures how many.

    The index holds the only copy of the vectors.
    """

    def __init__(self, kind: Kind, dimensions: int, expected: int, searched: float) -> None:
        """`expected`: vectors at the end, by which the number of lists is chosen: 4 sqrt(n), but
        2,048 at most and none of fewer than 64 vectors. `searched`: share of the lists that a
        question looks into.

        Raises InputError on an unknown kind.
        """
        if kind not in get_args(Kind):
            known = ", ".join(("exact", *get_args(Kind)))
            raise InputError(f"index.vectors: {kind!r} is none of {known}")
        product = faiss.METRIC_INNER_PRODUCT
        if kind == "flat":
            index: Any = faiss.IndexFlatIP(dimensions)
        elif kind == "hnsw":
            index = faiss.IndexHNSWFlat(dimensions, 32, product)
            index.hnsw.efConstruction, index.hnsw.efSearch = _BUILT, _SEARCHED
        else:
            lists = max(1, min(int(4 * expected**0.5), expected // _TRAINED_ON, _LISTS))
            quantiser: Any = faiss.IndexFlatIP(dimensions)
            index = faiss.IndexIVFFlat(quantiser, dimensions, lists, product)
            index.nprobe = min(lists, max(8, round(lists * searched)))
            index.set_direct_map_type(_BY_ROW)  # so that a row's vector can be had
            index.cp.max_points_per_centroid = min(_TRAINED_ON, _TRAINED_ON_ALL // lists)
            index.cp.niter = _ITERATIONS
        self._index = index

    def save(self, path: Path) -> None:
        """Write the index to a file."""
        faiss.write_index(self._index, str(path))

    @classmethod
    def open(cls, path: Path) -> LargeVectors:
        """The index that was saved at `path`. Raises RuntimeError where there is none."""
        opened = cls.__new__(cls)
        opened._index = faiss.read_index(str(path))
        return opened

    @property
    def bytes(self) -> int:
        """Of the file that `save` would write: vectors, and the lists or links to search them."""
        written = 0

        def count(chunk: bytes) -> None:
            nonlocal written
            written += len(chunk)

        writer: Any = getattr(faiss, "PyCallbackIOWriter")  # noqa: B009 - its stubs do not know it
        faiss.write_index(self._index, writer(count))
        return written

    def __len__(self) -> int:
        """Rows so far."""
        return int(self._index.ntotal)

    def add(self, vectors: Vectors) -> None:
        """Append rows, shape (n, d); inverted lists are learnt from the first that come."""
        rows = np.ascontiguousarray(vectors, dtype=np.float32)
        if not self._index.is_trained:
            self._index.train(rows)
        self._index.add(rows)

    def nearest(self, vector: Vectors, k: int) -> list[tuple[int, float]]:
        """Rows and cosines of the `k` nearest to `vector`, shape (d,), as far as they are found."""
        if isinstance(self._index, faiss.IndexFlatIP):  # for one question faster than its search
            every = self.similarities(vector)
            return [(row, float(every[row])) for row in top(every, k)]
        cosines, rows = self._index.search(vector[None, :], min(k, len(self)))
        pairs = zip(rows[0].tolist(), cosines[0].tolist(), strict=True)
        return [(row, cosine) for row, cosine in pairs if row >= 0]

    def cosine(self, row: int, vector: Vectors) -> float:
        """Of one row and `vector`, exactly."""
        return float(np.dot(self._index.reconstruct(row), vector))

    def similarities(self, vector: Vectors) -> NDArray[np.float64]:
        """Cosine of `vector` and every row, shape (n,). Raises InputError but where kind is flat:
        to score all would undo what an approximate index is for.
        """
        if not isinstance(self._index, faiss.IndexFlatIP):
            raise InputError(
                "index.vectors: ivf and hnsw do not score every memory, which this strategy or "
                "start asks for; use index.vectors=flat, or start=vector"
            )
        stored = faiss.rev_swig_ptr(self._index.get_xb(), self._index.ntotal * self._index.d)
        rows = stored.reshape(self._index.ntotal, self._index.d)
        return np.asarray(rows @ vector, dtype=np.float64)


class Nearest:
    """A ranking by cosine that scores only what it is asked for."""

    def __init__(self, index: LargeVectors, vector: Vectors) -> None:
        self._index, self._vector = index, vector

    def best(self, k: int | None) -> list[tuple[int, float]]:
        """See Ranking."""
        return self._index.nearest(self._vector, len(self._index) if k is None else k)

    def of(self, row: int) -> float:
        """See Ranking."""
        return self._index.cosine(row, self._vector)
