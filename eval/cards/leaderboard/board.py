"""One board: systems that are ranked together, with means, ranks, pairs and moves of ranks."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from eval.cards.leaderboard.pairs import Pairs, pairs
from eval.cards.leaderboard.ranks import TOPS, Rank, correlation, ranks
from eval.cards.leaderboard.scores import Column, Mean, Scores, means
from eval.metrics.stats.interval import Interval
from eval.summary.summarise import OVERALL

_DIGITS = 6  # of numbers in the files


@dataclass(frozen=True, slots=True)
class Move:
    """How ranks differ between two columns, over the systems that both rank: Spearman's `rho`, and
    the systems that move furthest, with their ranks among these systems.
    """

    one: Column
    other: Column
    systems: int
    rho: float
    furthest: tuple[tuple[str, float, float], ...]


@dataclass(frozen=True)
class Board:
    """Everything computed of one table, `name`: means on each system's own questions, ranks on the
    questions that all answered, and pairs by column.
    """

    name: str
    scores: Scores
    means: tuple[Mean, ...]
    ranks: tuple[Rank, ...]
    pairs: Mapping[Column, Pairs]

    @classmethod
    def of(cls, name: str, scores: Scores, seed: int) -> Board:
        """Compute the board of `scores`."""
        return cls(
            name,
            scores,
            tuple(means(scores, seed)),
            tuple(ranks(scores, seed)),
            {one.column: one for one in pairs(scores, seed)},
        )

    def overall(self, column: Column) -> dict[str, Rank]:
        """Return the ranks in `column` over all types, by system, the first first."""
        found = [one for one in self.ranks if one.column == column and one.type == OVERALL]
        return {one.system: one for one in sorted(found, key=lambda one: one.rank)}

    def mean(self, column: Column, type_: str, system: str) -> Interval | None:
        """Return a mean on the system's own questions; None without one."""
        for one in self.means:
            if (one.column, one.type, one.system) == (column, type_, system):
                return one.found
        return None

    def moves(self, columns: Sequence[Column]) -> list[Move]:
        """Return how the ranks of each two of `columns` differ."""
        return [self._move(one, other) for one, other in combinations(columns, 2)]

    def _move(self, one: Column, other: Column) -> Move:
        first, second = self.overall(one), self.overall(other)
        common = [system for system in first if system in second]
        before, after = ({s: r[s].rank for s in common} for r in (first, second))
        if len(common) < max(len(first), len(second)):  # places among the common ones
            before, after = (_places(ranking) for ranking in (before, after))
        moved = {system: abs(before[system] - after[system]) for system in common}
        most = max(moved.values(), default=0.0)
        furthest = [s for s, by in moved.items() if by == most and most > 0]
        found = tuple((system, before[system], after[system]) for system in furthest)
        return Move(one, other, len(common), correlation(before, after), found)


def _places(ranking: Mapping[str, float]) -> dict[str, float]:
    """Return the ranks among the systems of `ranking` alone; ties share their mean."""
    values = list(ranking.values())
    return {
        system: 1 + sum(v < rank for v in values) + (values.count(rank) - 1) / 2
        for system, rank in ranking.items()
    }


def write(boards: Sequence[Board], folder: Path) -> None:
    """Write scores.csv, ranks.csv and groups.csv: numbers, and names of systems alone."""
    _write(folder / "scores.csv", (row for board in boards for row in _scores(board)))
    _write(folder / "ranks.csv", (row for board in boards for row in _ranks(board)))
    _write(folder / "groups.csv", (row for board in boards for row in _groups(board)))


def _scores(board: Board) -> Iterable[dict[str, Any]]:
    for one in board.means:
        yield {
            **_where(board, one.column),
            **{"type": one.type, "system": one.system, "n": one.found.n},
            **_interval("mean", one.found),
        }


def _ranks(board: Board) -> Iterable[dict[str, Any]]:
    for one in board.ranks:
        pairs = board.pairs.get(one.column) if one.type == OVERALL else None
        least, most = pairs.possible(one.system) if pairs else ("", "")
        yield {
            **_where(board, one.column),
            **{"type": one.type, "system": one.system, "systems": one.systems, "n": one.mean.n},
            **_interval("mean", one.mean),
            **{"rank": one.rank, "rank_low": one.low, "rank_high": one.high},
            **{f"top{k}": round(one.top[k], _DIGITS) for k in TOPS},
            **{"best_left": least, "worst_left": most},
            "groups": pairs.letters(one.system) if pairs else "",
        }


def _groups(board: Board) -> Iterable[dict[str, Any]]:
    for column, found in board.pairs.items():
        for pair in found.pairs:
            yield {
                **_where(board, column),
                **{"first": pair.first, "second": pair.second, "n": pair.difference.n},
                **_interval("difference", pair.difference),
                **{"p_holm": round(pair.p_holm, _DIGITS), "verdict": pair.verdict},
                "groups": found.letters(pair.first, pair.second),
            }


def _where(board: Board, column: Column) -> dict[str, str]:
    return {"table": board.name, **column._asdict()}


def _interval(name: str, found: Interval) -> dict[str, float]:
    values = {name: found.value, "low": found.low, "high": found.high}
    return {column: round(value, _DIGITS) for column, value in values.items()}


def _write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    listed = list(rows)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, listed[0] if listed else (), lineterminator="\n")
        writer.writeheader()
        writer.writerows(listed)
