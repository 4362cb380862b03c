"""One board: systems that are ranked together, with means, ranks, pairs and moves of ranks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from eval.cards.leaderboard.ranks import TOPS, Pairs, Rank, correlation, pairs, places, ranks
from eval.cards.scores import ByQuestion, Column, Mean, Scores, of_protocols, of_records, under_keys
from eval.datasets.types import Dataset
from eval.metrics.stats.interval import Interval
from eval.records.answer_key_views import ORIGINAL, key_name
from eval.records.comma_separated import text_of
from eval.records.run import Run
from eval.summary.summarise import OVERALL
from memsys.core.errors import InputError

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
        by_column = {one.column: one for one in pairs(scores, seed)}
        return cls(name, scores, tuple(scores.means(seed)), tuple(ranks(scores, seed)), by_column)

    def overall(self, column: Column) -> dict[str, Rank]:
        """Return the ranks in `column` over all types, by system, the first first."""
        found = [one for one in self.ranks if one.column == column and one.type == OVERALL]
        return {one.system: one for one in sorted(found, key=lambda one: one.rank)}

    def mean(self, column: Column, type_: str, system: str) -> Interval | None:
        """Return a mean on the system's own questions; None without one."""
        place = (column, type_, system)
        return next((one.interval for one in self.means if one[:3] == place), None)

    def moves(self, columns: Sequence[Column]) -> list[Move]:
        """Return how the ranks of each two of `columns` differ."""
        return [self._move(one, other) for one, other in combinations(columns, 2)]

    def _move(self, one: Column, other: Column) -> Move:
        first, second = self.overall(one), self.overall(other)
        common = [system for system in first if system in second]
        before, after = (places({s: ranks[s].rank for s in common}) for ranks in (first, second))
        moved = {system: abs(before[system] - after[system]) for system in common}
        most = max(moved.values(), default=0.0)
        furthest = tuple((s, before[s], after[s]) for s in common if moved[s] == most > 0)
        return Move(one, other, len(common), correlation(before, after), furthest)

    def rows(self) -> dict[str, Iterator[dict[str, Any]]]:
        """Return the rows of each file: numbers, and names of systems alone."""
        return {"scores": self._scores(), "ranks": self._ranks(), "groups": self._groups()}

    def _scores(self) -> Iterator[dict[str, Any]]:
        for one in self.means:
            about = {"type": one.type, "system": one.system, "n": one.interval.n}
            yield self._row(one.column, about, "mean", one.interval)

    def _ranks(self) -> Iterator[dict[str, Any]]:
        for one in self.ranks:
            pairs = self.pairs.get(one.column) if one.type == OVERALL else None
            least, most = pairs.possible(one.system) if pairs else ("", "")
            counts = {"systems": one.systems, "n": one.mean.n}
            about = {"type": one.type, "system": one.system, **counts}
            yield {
                **self._row(one.column, about, "mean", one.mean),
                **{"rank": one.rank, "rank_low": one.low, "rank_high": one.high},
                **{f"top{k}": round(one.top[k], _DIGITS) for k in TOPS},
                **{"best_left": least, "worst_left": most},
                "groups": pairs.letters(one.system) if pairs else "",
            }

    def _groups(self) -> Iterator[dict[str, Any]]:
        for column, of_column in self.pairs.items():
            for pair in of_column.pairs:
                about = {"first": pair.first, "second": pair.second, "n": pair.difference.n}
                yield {
                    **self._row(column, about, "difference", pair.difference),
                    **{"p_holm": round(pair.p_holm, _DIGITS), "verdict": pair.verdict},
                    "groups": of_column.letters(pair.first, pair.second),
                }

    def _row(
        self, column: Column, about: Mapping[str, object], name: str, found: Interval
    ) -> dict[str, Any]:
        numbers = {name: found.value, "low": found.low, "high": found.high}
        rounded = {part: round(value, _DIGITS) for part, value in numbers.items()}
        return {"table": self.name, **column._asdict(), **about, **rounded}


def scores_of(runs: Iterable[tuple[str, Run]], datasets: Mapping[str, Dataset]) -> Scores:
    """Return the scores of runs, by the names of their systems, under all protocols and answer
    keys. The runs are read one after the other, and none is needed again.

    `datasets`: the data set of the runs by answer key, the original one first. Raises InputError
    for a run on other data, or scored under another key than the original one.
    """
    first, systems = datasets[ORIGINAL], dict[str, ByQuestion]()
    for name, run in runs:
        _check(run, first)
        views = under_keys(run.records.values(), datasets)
        systems[name] = {
            column: scores
            for part in (of_protocols, of_records)
            for key, records in views.items()
            for column, scores in part(records, key).items()
        }
    return Scores.of(systems, first.questions)


def _check(run: Run, dataset: Dataset) -> None:
    if {file["sha256"] for file in run.manifest["data"]} != {one.sha256 for one in dataset.files}:
        raise InputError(f"{run.folder}: answers other data than {dataset.name}; leave it out")
    if (key := key_name(run.manifest)) != ORIGINAL:
        raise InputError(
            f"{run.folder}: scored under the {key} answer key; first: python -m eval rescore "
            f"{run.folder} --key {ORIGINAL}"
        )


def write(boards: Sequence[Board], folder: Path) -> None:
    """Write scores.csv, ranks.csv and groups.csv: the rows of all boards."""
    for name in ("scores", "ranks", "groups"):
        rows = [row for board in boards for row in board.rows()[name]]
        text = text_of([*rows[0]] if rows else [], rows)
        (folder / f"{name}.csv").write_text(text, encoding="utf-8", newline="")
