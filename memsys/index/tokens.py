"""Late interaction: texts compared token by token."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memsys.embed.base import TokenVectors
from memsys.index.rank import Scores

_ON_ONE_THREAD = 2**18  # multiplications of a matrix product for which OpenBLAS starts no threads
_CONVERTED = 2**25  # bytes of vectors that are also stored in single precision: it takes a while


class TokenIndex:
    """The token vectors of n memories, in half precision."""

    def __init__(self, memories: Sequence[TokenVectors]) -> None:
        """`memories`: the tokens of each, at least one memory."""
        self._vectors = np.concatenate([one.vectors for one in memories])
        self._ends = np.cumsum([0, *(len(one.ids) for one in memories)])
        present = np.concatenate([np.unique(one.ids) for one in memories])
        self._frequencies = np.bincount(present)  # number of memories by token id

    @cached_property
    def _single(self) -> NDArray[np.float32]:
        return self._vectors.astype(np.float32)

    @property
    def bytes(self) -> int:
        """Bytes of the vectors in half precision."""
        return self._vectors.nbytes

    def max_sim(
        self, query: TokenVectors, rows: Sequence[int] | None = None, idf: float = 1
    ) -> Scores:
        """Return MaxSim of the query and the memories of `rows` (None: all), shape (len(rows),).

        MaxSim (Khattab and Zaharia, 2020) is the sum over query tokens of the greatest cosine to a
        token of the memory; here the mean, weighted by idf to the power `idf` (0: all alike), with
        idf = log(1 + (n - df + 0.5) / (df + 0.5)). 0 where query or memory has no tokens.
        """
        chosen = np.arange(len(self._ends) - 1) if rows is None else np.asarray(rows, dtype=np.intp)
        scores = np.zeros(len(chosen))
        firsts, ends = self._ends[chosen], self._ends[chosen + 1]
        (filled,) = np.nonzero(ends > firsts)
        if not len(query.ids) or not len(filled):
            return scores
        firsts, ends = firsts[filled], ends[filled]
        stored = self._single if self._vectors.nbytes <= _CONVERTED else self._vectors
        parts = [stored[a:b] for a, b in zip(firsts, ends, strict=True)]
        vectors = stored if rows is None else np.concatenate(parts)
        cosines = _products(vectors.astype(np.float32, copy=False), query.vectors)
        starts = np.cumsum([0, *(ends - firsts)])[:-1]
        scores[filled] = np.maximum.reduceat(cosines, starts) @ self._weights(query.ids, idf)
        return scores

    def _weights(self, ids: np.ndarray, power: float) -> Scores:
        """Return the weights of query tokens, shape (len(ids),), which sum to 1."""
        known = np.minimum(ids, len(self._frequencies) - 1)
        frequency = np.where(ids == known, self._frequencies[known], 0)
        n = len(self._ends) - 1
        weights = np.log1p((n - frequency + 0.5) / (frequency + 0.5)) ** power
        return np.asarray(weights / weights.sum(), dtype=np.float64)


def _products(vectors: NDArray[np.float32], query: NDArray[Any]) -> NDArray[np.float32]:
    """Return the products of `vectors`, shape (m, d), and the rows of `query`, shape (n, d), as
    (m, n). They are computed on the calling thread: for so few, threads wait for each other much
    longer than one takes, and the last bits of a sum would depend on their number.
    """
    turned = np.asarray(query, dtype=np.float32).T
    found = np.empty((len(vectors), turned.shape[1]), dtype=np.float32)
    step = max(_ON_ONE_THREAD // turned.size, 1)
    for first in range(0, len(vectors), step):
        block = slice(first, first + step)
        np.matmul(vectors[block], turned, out=found[block])
    return found
