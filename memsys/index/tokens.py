"""Late interaction: texts compared token by token."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memsys.embed.base import TokenVectors
from memsys.index.rank import Scores


class TokenIndex:
    """The token vectors of n memories, in half precision."""

    def __init__(self, memories: Sequence[TokenVectors]) -> None:
        """`memories`: the tokens of each, at least one memory."""
        self._vectors = np.concatenate([one.vectors for one in memories])
        self._ends = np.cumsum([0, *(len(one.ids) for one in memories)])
        present = np.concatenate([np.unique(one.ids) for one in memories])
        self._frequencies = np.bincount(present)  # number of memories by token id

    @property
    def bytes(self) -> int:
        """Bytes of the vectors."""
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
        parts = [self._vectors[a:b] for a, b in zip(firsts, ends, strict=True)]
        vectors = self._vectors if rows is None else np.concatenate(parts)
        cosines = vectors.astype(np.float32) @ query.vectors.astype(np.float32).T
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
