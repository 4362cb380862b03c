"""Exact search by cosine, one index a conversation."""

from __future__ import annotations

import faiss
import numpy as np
from numpy.typing import NDArray

from memsys.concurrency import one_thread
from memsys.types import Vectors


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
