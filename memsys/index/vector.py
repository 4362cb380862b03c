"""Vector search by faiss: exact over every memory, and indexes for large stores; and late
interaction: texts compared token by token.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import faiss
import numpy as np
from numpy.typing import NDArray

from memsys.core.concurrency import one_thread
from memsys.core.errors import InputError
from memsys.core.types import Vectors
from memsys.embed.base import TokenVectors
from memsys.index.rank import Ranking, Scores, top

Kind = Literal["flat", "ivf", "hnsw"]
_BY_ROW = 1  # faiss's DirectMap.Array, which its stubs do not know
_LISTS = 2048  # at most: each new vector is compared with the centroids of all
_TRAINED_ON, _TRAINED_ON_ALL = 64, 100_000  # vectors per list: k-means gains little from more
_ITERATIONS = 5  # of k-means
_SEARCHED = 128  # of hnsw: candidates during a search
_BUILT = 80  # of hnsw: candidates during an insertion


class VectorIndex:
    """Exact search by inner product, with faiss, over the unit vectors of one conversation.
    Approximate indexes lose recall under a filter by conversation and save nothing at this size.
    """

    def __init__(self, vectors: Vectors) -> None:
        """`vectors` has shape (n, d), rows of length 1."""
        self._index: Any = faiss.IndexFlatIP(vectors.shape[1])
        self.add(vectors)

    def __len__(self) -> int:
        """Return the number of rows."""
        return int(self._index.ntotal)

    @property
    def bytes(self) -> int:
        """Bytes of the vectors in single precision."""
        return 4 * len(self) * int(self._index.d)

    def add(self, vectors: Vectors) -> None:
        """Append rows, shape (n, d); inverted lists are trained on the first ones."""
        rows = np.ascontiguousarray(vectors, dtype=np.float32)
        if not self._index.is_trained:
            self._index.train(rows)
        self._index.add(rows)

    def similarities(self, vector: Vectors) -> NDArray[np.float64]:
        """Return the cosine of `vector`, shape (d,), and every row, shape (n,), -1 to 1."""
        n, query = len(self), np.ascontiguousarray(vector, dtype=np.float32)
        cosines, rows = np.empty(n, dtype=np.float32), np.arange(n, dtype=np.int64)
        asked, *given = [faiss.swig_ptr(array) for array in (query, cosines, rows)]
        with one_thread():  # a search would also sort the rows, and take three times as long
            self._index.compute_distance_subset(1, asked, n, *given)
        return cosines.astype(np.float64)

    def rows(self) -> Vectors:
        """Return a copy of the vectors of any kind, shape (n, d)."""
        return np.asarray(self._index.reconstruct_n(0, len(self)))

    def vectors(self) -> Vectors:
        """Return the vectors, shape (n, d), without copying them: valid until more are added."""
        flat = faiss.rev_swig_ptr(self._index.get_xb(), len(self) * self._index.d)
        return np.asarray(flat.reshape(len(self), self._index.d))


class LargeVectors(VectorIndex):
    """faiss index over the unit vectors of a large store, with the only copy of the vectors.

    `flat` is exact; `ivf` (inverted lists of nearest centroids; Jegou et al., 2011) and `hnsw` (a
    graph of neighbours; Malkov and Yashunin, 2018) are approximate and miss some of the nearest;
    `python -m eval bench --part scale` measures how many.
    """

    def __init__(self, kind: Kind, dimensions: int, expected: int, searched: float) -> None:
        """`expected`: final number n of vectors, which sets the number of lists: 4 sqrt(n), at most
        2,048, each with at least 64 vectors. `searched`: share of the lists searched per query.
        """
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
            index.set_direct_map_type(_BY_ROW)  # so that a row's vector can be read
            index.cp.max_points_per_centroid = min(_TRAINED_ON, _TRAINED_ON_ALL // lists)
            index.cp.niter = _ITERATIONS
        self._index = index

    def save(self, path: Path) -> None:
        """Write the index to a file."""
        faiss.write_index(self._index, str(path))

    @classmethod
    def open(cls, path: Path) -> LargeVectors:
        """Return the index saved at `path`. Raises RuntimeError if there is none."""
        opened = cls.__new__(cls)
        opened._index = faiss.read_index(str(path))
        return opened

    @property
    def bytes(self) -> int:
        """Size of the file that `save` would write: vectors, and lists or links between them."""
        written = 0

        def count(chunk: bytes) -> None:
            nonlocal written
            written += len(chunk)

        writer: Any = getattr(faiss, "PyCallbackIOWriter")  # noqa: B009 - missing in its stubs
        faiss.write_index(self._index, writer(count))
        return written

    def nearest(self, vector: Vectors, k: int) -> list[tuple[int, float]]:
        """Return rows and cosines of up to `k` nearest to `vector`, shape (d,)."""
        if isinstance(self._index, faiss.IndexFlatIP):  # faster than its search for one query
            every = self.similarities(vector)
            return [(row, float(every[row])) for row in top(every, k)]
        cosines, rows = self._index.search(vector[None, :], min(k, len(self)))
        pairs = zip(rows[0].tolist(), cosines[0].tolist(), strict=True)
        return [(row, cosine) for row, cosine in pairs if row >= 0]

    def cosine(self, row: int, vector: Vectors) -> float:
        """Return the exact cosine of one row and `vector`."""
        return float(np.dot(self._index.reconstruct(row), vector))

    def similarities(self, vector: Vectors) -> NDArray[np.float64]:
        """Return the cosine of `vector` and every row, shape (n,). Raises InputError unless the
        kind is flat: scoring every vector defeats an approximate index.
        """
        return np.asarray(self.vectors() @ vector, dtype=np.float64)

    def vectors(self) -> Vectors:
        """Return the vectors, shape (n, d). Raises InputError unless the kind is flat."""
        if not isinstance(self._index, faiss.IndexFlatIP):
            raise InputError(
                "index.vectors: ivf and hnsw do not score every memory, which this strategy or "
                "start needs; use index.vectors=flat, or start=vector"
            )
        return super().vectors()


class Nearest(Ranking):
    """A ranking by cosine that computes only the scores that are read."""

    def __init__(self, index: LargeVectors, vector: Vectors, depth: int) -> None:
        super().__init__(len(index), depth)
        self._index, self._vector = index, vector

    def of(self, row: int) -> float:
        """See Ranking."""
        return self._index.cosine(row, self._vector)

    def _first(self, k: int) -> list[tuple[int, float]]:
        return self._index.nearest(self._vector, k)


_ON_ONE_THREAD = 2**18  # multiplications of a matrix product for which OpenBLAS starts no threads
_CONVERTED = 2**25  # bytes of vectors that are also stored in single precision: it takes a while


class TokenIndex:
    """The token vectors of n memories, in half precision."""

    def __init__(self, memories: Sequence[TokenVectors]) -> None:
        """`memories`: the tokens of each, at least one memory."""
        self._vectors = np.concatenate([memory.vectors for memory in memories])
        self._ends = np.cumsum([0, *(len(memory.ids) for memory in memories)])
        present = np.concatenate([np.unique(memory.ids) for memory in memories])
        self._frequencies = np.bincount(present)  # number of memories by token id

    @cached_property
    def _single(self) -> NDArray[np.float32]:
        return self._vectors.astype(np.float32)

    @property
    def bytes(self) -> int:
        """Bytes of the vectors in half precision."""
        return self._vectors.nbytes

    def max_sim(self, query: TokenVectors, rows: Sequence[int], idf: float = 1) -> Scores:
        """Return MaxSim of the query and the memories of `rows`, shape (len(rows),).

        MaxSim (Khattab and Zaharia, 2020) is the sum over query tokens of the greatest cosine to a
        token of the memory; here the mean, weighted by idf to the power `idf` (0: all alike), with
        idf = log(1 + (n - df + 0.5) / (df + 0.5)). 0 where query or memory has no tokens.
        """
        row_numbers, scores = np.asarray(rows, dtype=np.intp), np.zeros(len(rows))
        firsts, ends = self._ends[row_numbers], self._ends[row_numbers + 1]
        (filled,) = np.nonzero(ends > firsts)
        if not len(query.ids) or not len(filled):
            return scores
        firsts, ends = firsts[filled], ends[filled]
        stored = self._single if self._vectors.nbytes <= _CONVERTED else self._vectors
        vectors = np.concatenate([stored[a:b] for a, b in zip(firsts, ends, strict=True)])
        cosines = _products(vectors.astype(np.float32, copy=False), query.vectors)
        starts = np.cumsum([0, *(ends - firsts)])[:-1]
        scores[filled] = np.maximum.reduceat(cosines, starts) @ self._weights(query.ids, idf)
        return scores

    def _weights(self, ids: np.ndarray, power: float) -> Scores:
        """Return the weights of query tokens, shape (len(ids),), which sum to 1."""
        clipped = np.minimum(ids, len(self._frequencies) - 1)
        frequency = np.where(ids == clipped, self._frequencies[clipped], 0)
        n = len(self._ends) - 1
        weights = np.log1p((n - frequency + 0.5) / (frequency + 0.5)) ** power
        return np.asarray(weights / weights.sum(), dtype=np.float64)


def _products(vectors: NDArray[np.float32], query: NDArray[Any]) -> NDArray[np.float32]:
    """Return the products of `vectors`, shape (m, d), and the rows of `query`, shape (n, d), as
    (m, n). They are computed on the calling thread: for so few, threads wait for each other much
    longer than one takes, and the last bits of a sum would depend on their number.
    """
    turned = np.asarray(query, dtype=np.float32).T
    products = np.empty((len(vectors), turned.shape[1]), dtype=np.float32)
    step = max(_ON_ONE_THREAD // turned.size, 1)
    for first in range(0, len(vectors), step):
        block = slice(first, first + step)
        np.matmul(vectors[block], turned, out=products[block])
    return products
