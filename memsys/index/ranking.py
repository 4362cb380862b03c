"""What a ranking can be asked: its best, and how a memory fares in it."""

from __future__ import annotations

from typing import Protocol

from memsys.index.rank import Scores, top


class Ranking(Protocol):
    """The memories of a store in the light of one query. A row is a memory's place in the store."""

    def best(self, k: int | None) -> list[tuple[int, float]]:
        """Rows and scores of the `k` best (None: all), best first."""
        ...

    def of(self, row: int) -> float:
        """The score of any row."""
        ...


class Dense:
    """Every memory was scored: right up to some ten thousand."""

    def __init__(self, scores: Scores) -> None:
        """`scores` has shape (n,)."""
        self.scores = scores

    def best(self, k: int | None) -> list[tuple[int, float]]:
        """See Ranking; of equals the older row first."""
        return [(row, float(self.scores[row])) for row in top(self.scores, k)]

    def of(self, row: int) -> float:
        """See Ranking."""
        return float(self.scores[row])
