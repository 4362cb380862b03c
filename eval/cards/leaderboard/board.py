"""One board: systems that are ranked together, with means, ranks, differences between all pairs,
groups without a difference shown, and moves of ranks.

The uncertainty of all ranks is computed on the same draws of conversations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import nan
from string import ascii_letters
from typing import Any, NamedTuple

import numpy as np

from eval.cards.scores import Column, Mean, Scores
from eval.metrics.stats.interval import Floats, Interval
from eval.metrics.stats.paired import holm, permutation_tests
from eval.summary.contrast import Verdict, verdict
from eval.summary.summarise import OVERALL
from memsys.core.errors import InputError

TOPS = (1, 3, 5)
_EQUAL = 12  # digits of means; beyond them, equal scores differ by the order of summation
_DIGITS = 6  # of numbers in the files
_SAME: Verdict = "no difference shown"
Groups = Mapping[str, tuple[str, ...]]  # the systems of each group by its letter


class Rank(NamedTuple):
    """The rank of one system among `systems` by its `mean` on the questions that all have a score
    on, 1 for the highest; systems with equal means share the mean of their ranks.

    `rank_low`, `rank_high`: 2.5% and 97.5% quantiles of the rank over resamples. `top`: by number
    of places, the share of resamples in which the system is among them; a tie across the last
    place counts in part, so that the shares of all systems sum to the number of places. Over all
    types, `best_left` and `worst_left` are the ranks that the differences shown leave: one more
    than the number of systems shown to be better, and the number of those not shown to be worse;
    `groups` are the letters of the system's groups. Elsewhere, these are "".
    """

    column: Column
    type: str
    system: str
    systems: int
    mean: Interval
    rank: float
    rank_low: float
    rank_high: float
    top: Mapping[int, float]
    best_left: int | str
    worst_left: int | str
    groups: str


class Pair(NamedTuple):
    """The `first` system minus the `second` on the questions that both have a score on.

    `p_holm` is adjusted over all pairs of the column; `verdict` is on the first. `groups`: the
    letters of the groups that contain both.
    """

    column: Column
    first: str
    second: str
    difference: Interval
    p_holm: float
    verdict: Verdict
    groups: str = ""


class Move(NamedTuple):
    """How ranks differ between two columns, over the systems that both rank: Spearman's `rho`, nan
    where all share one rank, and the systems that move furthest, with their ranks among these.
    """

    one: Column
    other: Column
    systems: int
    rho: float
    furthest: tuple[tuple[str, float, float], ...]


@dataclass(frozen=True)
class Board:
    """Everything computed of one table, `name`: means on each system's own questions, ranks on the
    questions that all answered, and the differences of all pairs over all types.
    """

    name: str
    scores: Scores
    means: tuple[Mean, ...]
    ranks: tuple[Rank, ...]
    pairs: tuple[Pair, ...]

    @classmethod
    def of(cls, name: str, scores: Scores, seed: int) -> Board:
        """Compute the board of `scores`."""
        ranks: list[Rank] = []
        pairs: list[Pair] = []
        for column in scores.ranked():
            of_column, groups = _pairs(scores, column, seed)
            ranks += _ranks(scores, column, of_column, groups, seed)
            pairs += of_column
        return cls(name, scores, tuple(scores.means(seed)), tuple(ranks), tuple(pairs))

    def overall(self, column: Column) -> dict[str, Rank]:
        """Return the ranks in `column` over all types, by system, the first first."""
        ranks = [rank for rank in self.ranks if rank.column == column and rank.type == OVERALL]
        return {rank.system: rank for rank in sorted(ranks, key=lambda rank: rank.rank)}

    def compared(self, columns: Sequence[Column]) -> list[Column]:
        """Return those of `columns` in which systems were compared."""
        present = {pair.column for pair in self.pairs}
        return [column for column in columns if column in present]

    def mean(self, column: Column, type_: str, system: str) -> Interval | None:
        """Return a mean on the system's own questions; None without one."""
        place = (column, type_, system)
        return next((mean.mean for mean in self.means if mean[:3] == place), None)

    def moves(self, columns: Sequence[Column]) -> list[Move]:
        """Return how the ranks of each two of `columns` differ."""
        return [self._move(column, other) for column, other in combinations(columns, 2)]

    def _move(self, column: Column, other: Column) -> Move:
        first, second = self.overall(column), self.overall(other)
        common = [system for system in first if system in second]
        before, after = (
            ranked(-np.array([[ranks[system].rank for system in common]]))[0]
            for ranks in (first, second)
        )
        varied = before.std() > 0 and after.std() > 0
        rho = float(np.corrcoef(before, after)[0, 1]) if varied else nan
        moved = abs(before - after)
        furthest = tuple(
            (system, float(before[i]), float(after[i]))
            for i, system in enumerate(common)
            if moved[i] == moved.max() > 0
        )
        return Move(column, other, len(common), rho, furthest)

    def rows(self) -> dict[str, list[dict[str, Any]]]:
        """Return the rows of each file: numbers, and names of systems alone."""
        return {
            "scores": [*map(self._row, self.means)],
            "ranks": [*map(self._row, self.ranks)],
            "groups": [*map(self._row, self.pairs)],
        }

    def _row(self, entry: Mean | Rank | Pair) -> dict[str, Any]:
        """Return the fields of `entry`, each interval as n, value, low and high."""
        row: dict[str, Any] = {"table": self.name, **entry.column._asdict()}
        for name, value in entry._asdict().items():
            if isinstance(value, Interval):
                row |= {"n": value.n, name: value.value, "low": value.low, "high": value.high}
            elif isinstance(value, Mapping):
                row |= {f"{name}{k}": share for k, share in value.items()}
            elif name != "column":
                row[name] = value
        return {k: round(v, _DIGITS) if isinstance(v, float) else v for k, v in row.items()}


def _ranks(
    scores: Scores, column: Column, pairs: Sequence[Pair], groups: Groups, seed: int
) -> Iterator[Rank]:
    """Yield the ranks in `column` by type and system; `pairs` and `groups`: of the column. Raises
    InputError where the systems have no question in common.
    """
    values = scores.scores[column]
    for type_, mask in scores.masks(column):
        systems, both = scores.shared(column, mask)
        if not both.any():
            fewest = min(systems, key=lambda i: int((~np.isnan(values[i, mask])).sum()))
            where = column.protocol or column.measure
            raise InputError(
                f"{scores.names[fewest]}: no {type_} question that all other systems have a "
                f"score of ({where}); leave it out, or rank it on its own"
            )
        table = values[systems][:, both]
        bootstrap = scores.bootstrap(both, seed)
        drawn = bootstrap.sums(table.T)  # the same questions for all: in the order of means
        order = ranked(table.mean(axis=1)[np.newaxis])[0]
        places = ranked(drawn)
        low, high = np.quantile(places, [0.025, 0.975], axis=0, method="inverted_cdf")
        top = {k: shares(drawn, k) for k in TOPS}
        for i, system in enumerate(systems):
            name, count = scores.names[system], len(systems)
            best_left: int | str = ""
            worst_left: int | str = ""
            letters = ""
            if type_ == OVERALL and pairs:
                best_left, worst_left = _left(name, count, pairs)
                letters = _letters(groups, name)
            mean = bootstrap.mean(table[i].tolist())
            if mean is not None:
                yield Rank(
                    column=column,
                    type=type_,
                    system=name,
                    systems=count,
                    mean=mean.within(),
                    rank=float(order[i]),
                    rank_low=float(low[i]),
                    rank_high=float(high[i]),
                    top={k: float(share[i]) for k, share in top.items()},
                    best_left=best_left,
                    worst_left=worst_left,
                    groups=letters,
                )


def _left(system: str, systems: int, pairs: Sequence[Pair]) -> tuple[int, int]:
    """Return the best and the worst rank that the differences shown leave."""
    better = worse = 0
    for pair in pairs:
        if pair.verdict != _SAME and system in (pair.first, pair.second):
            won = (pair.verdict == "better") == (pair.first == system)
            worse, better = worse + won, better + (not won)
    return 1 + better, systems - worse


def ranked(values: Floats) -> Floats:
    """Return the rank of each column within its row, 1 for the highest; ties share their mean."""
    from scipy.stats import rankdata  # noqa: PLC0415 - takes a second

    return np.asarray(rankdata(-values.round(_EQUAL), axis=1), dtype=np.float64)


def shares(drawn: Floats, places: int) -> Floats:
    """Return the share of rows of `drawn` (resamples, S) in which each column has one of the first
    `places`; columns that tie for the last of these share it.
    """
    from scipy.stats import rankdata  # noqa: PLC0415 - takes a second

    first, last = (
        rankdata(-drawn.round(_EQUAL), method=method, axis=1) for method in ("min", "max")
    )
    tied = last - first + 1
    return np.asarray((np.clip(places - first + 1, 0, tied) / tied).mean(axis=0))


def _pairs(scores: Scores, column: Column, seed: int) -> tuple[list[Pair], Groups]:
    """Return the pairs of a column that systems are ranked by, the higher mean first, and the
    groups of systems; none where no two have a common question.

    Two systems without a common question form no pair, and are in no group together.
    """
    mask = dict(scores.masks(column))[OVERALL]
    values = scores.scores[column][:, mask]
    systems, both = scores.shared(column, mask)
    shared = scores.scores[column][:, both]
    systems.sort(key=lambda i: -float(shared[i].mean()) if both.any() else 0.0)
    differences = {(i, j): values[i] - values[j] for i, j in combinations(systems, 2)}
    differences = {pair: gap for pair, gap in differences.items() if not np.isnan(gap).all()}
    if not differences:
        return [], {}
    bootstrap = scores.bootstrap(mask, seed)
    estimates = [bootstrap.mean(gap.tolist()) for gap in differences.values()]
    # nan: a question of one of the two, which a 0 leaves out of the sum
    raw = permutation_tests(np.nan_to_num(np.array([*differences.values()])), seed)
    names = scores.names
    compared = [
        Pair(column, names[i], names[j], mean.within(-1.0), p, verdict(mean, p, lower=False))
        for (i, j), mean, p in zip(differences, estimates, holm(raw), strict=True)
        if mean is not None
    ]
    groups = groups_of([names[i] for i in systems], compared)
    lettered = [
        pair._replace(groups=_letters(groups, pair.first, pair.second)) for pair in compared
    ]
    return lettered, groups


def _letters(groups: Groups, *systems: str) -> str:
    """Return the letters of the groups that contain all of `systems`."""
    return "".join(letter for letter, group in groups.items() if {*systems} <= {*group})


def groups_of(systems: Sequence[str], pairs: Sequence[Pair]) -> Groups:
    """Return the largest groups of `systems` without a difference shown, by letter, in order of
    their best system: maximal cliques of the graph of such pairs, so that a system may be in
    several (letters of a compact display: Piepho, 2004).
    """
    import networkx as nx  # noqa: PLC0415 - takes a tenth of a second

    graph = nx.Graph()
    graph.add_nodes_from(systems)
    graph.add_edges_from((pair.first, pair.second) for pair in pairs if pair.verdict == _SAME)
    place = {system: i for i, system in enumerate(systems)}
    cliques = sorted(sorted(place[system] for system in group) for group in nx.find_cliques(graph))
    if len(cliques) > len(ascii_letters):
        raise ValueError(f"groups: {len(cliques)} groups for {len(ascii_letters)} letters")
    named = zip(ascii_letters, cliques, strict=False)
    return {letter: tuple(systems[i] for i in group) for letter, group in named}
