"""Rankings of a store's memories: settings, scores, and the k best."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from memsys.core.declared import CountFrom0, Range, Share, Weight, check_fields

Start = Literal["vector", "lexical", "hybrid", "fusion"]  # the ranking that a strategy begins with
Scores = NDArray[np.float64]  # of memories for one query
_BLOCK = 16


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """BM25's `k1` and `b`, and `alpha`, the weight of vectors in the hybrid ranking.

    `vectors` and `lexical`: kind of index. The defaults score every memory, exactly; the others are
    for large stores (LargeVectors, SparseLexicalIndex). `expected`: final number of memories of a
    large store, 0 if all of them are present at the first query. `searched`: share of the lists
    that an ivf index searches, 0 to 1: more is slower and misses less. `fusion`: YAML file with the
    weights of the fusion ranking; None: those in memsys/index/weights.yaml.
    """

    k1: Weight
    b: Share
    alpha: Share
    vectors: Literal["exact", "flat", "ivf", "hnsw"] = "exact"
    lexical: Literal["rank_bm25", "sparse"] = "rank_bm25"
    expected: CountFrom0 = 0
    searched: Annotated[float, Range(0.0001, 1)] = 0.06
    fusion: str | None = None

    def __post_init__(self) -> None:
        """Raise InputError on a value outside its range."""
        check_fields(self, "index")


def min_max(scores: Scores) -> Scores:
    """Return the scores of one query scaled to 0..1, shape (n,); all 0 if they are equal."""
    low = scores.min()
    span = float(scores.max() - low)
    return (scores - low) / span if span > 0 else np.zeros_like(scores)


def convex(vector: Scores, lexical: Scores, alpha: float) -> Scores:
    """Return alpha * vector + (1 - alpha) * lexical, shape (n,), each min-max scaled per query.
    Convex combination (Bruch, Gai and Ingber, 2023), which scored above rank fusion here.
    """
    return alpha * min_max(vector) + (1 - alpha) * min_max(lexical)


def top(scores: Scores, k: int | None) -> list[int]:
    """Return the rows of the k highest scores (None: all), best first; ties by row."""
    if k is not None and k < len(scores) // _BLOCK:  # sorting a million takes 0.1 s
        # The kth of the blocks' highest scores is no higher than the kth of all scores.
        whole = scores[: len(scores) // _BLOCK * _BLOCK]
        least = np.partition(whole.reshape(_BLOCK, -1).max(axis=0), -k)[-k]
        rows = np.flatnonzero(scores >= least)
        rows = rows[np.argsort(-scores[rows], kind="stable")[:k]]
    else:
        rows = np.argsort(-scores, kind="stable")[:k]
    best_rows: list[int] = rows.tolist()
    return best_rows


class Ranking(ABC):
    """A ranking of a store's memories for one query. A row is a memory's position in the store."""

    def __init__(self, size: int, depth: int) -> None:
        """`size`: number of memories. `depth`: number that the first reading ranks at least, since
        a second one for the rankings that are recorded would take as long.
        """
        self._size, self._depth = size, depth
        self._ranked, self._best = 0, list[tuple[int, float]]()

    def best(self, k: int | None) -> list[tuple[int, float]]:
        """Return rows and scores of the `k` best (None: all), best first."""
        k = self._size if k is None else k
        if k > self._ranked:
            self._ranked = max(k, self._depth)
            self._best = self._first(self._ranked)
        return self._best[:k]

    @abstractmethod
    def of(self, row: int) -> float:
        """Return the score of one row, whatever its rank."""

    @abstractmethod
    def _first(self, k: int) -> list[tuple[int, float]]:
        """Return rows and scores of the `k` best, computed anew."""


class Dense(Ranking):
    """A ranking in which every memory is scored, for up to some ten thousand memories."""

    def __init__(self, scores: Scores, depth: int = 0) -> None:
        """`scores` has shape (n,); of equal ones the first ranks higher."""
        super().__init__(len(scores), depth)
        self.scores = scores

    def of(self, row: int) -> float:
        """See Ranking."""
        return float(self.scores.item(row))

    def _first(self, k: int) -> list[tuple[int, float]]:
        rows = top(self.scores, k)
        return list(zip(rows, self.scores[rows].tolist(), strict=True))
