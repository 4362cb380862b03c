"""From scores to ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from memsys.errors import InputError

Start = Literal["vector", "lexical", "hybrid"]
Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """BM25's `k1` and `b`, and `alpha`, the weight of vectors in the hybrid ranking."""

    k1: float
    b: float
    alpha: float

    def __post_init__(self) -> None:
        """Raises InputError on a value outside its range."""
        if not 0 <= self.alpha <= 1:
            raise InputError(f"index.alpha: {self.alpha} is not between 0 and 1")
        if self.k1 < 0 or not 0 <= self.b <= 1:
            raise InputError(f"index: k1={self.k1}, b={self.b}; need k1 >= 0 and 0 <= b <= 1")


def check_start(start: str) -> None:
    """Raises InputError unless `start` names a ranking."""
    if start not in get_args(Start):
        raise InputError(f"strategy.start: {start!r} is none of {', '.join(get_args(Start))}")


def min_max(scores: Scores) -> Scores:
    """Scores of one query scaled to 0..1, shape (n,); all 0 where they are equal."""
    span = float(scores.max() - scores.min())
    return (scores - scores.min()) / span if span > 0 else np.zeros_like(scores)


def convex(vector: Scores, lexical: Scores, alpha: float) -> Scores:
    """Scores alpha * vector + (1 - alpha) * lexical, shape (n,), each min-max scaled per query.

    Convex combination (Bruch, Gai and Ingber, 2023), which beat rank fusion here.
    """
    return alpha * min_max(vector) + (1 - alpha) * min_max(lexical)


def top(scores: Scores, k: int | None) -> list[int]:
    """Rows of the k highest scores (None: all), best first; of equals the older row first."""
    return [int(row) for row in np.argsort(-scores, kind="stable")[:k]]
