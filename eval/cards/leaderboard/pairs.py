"""Differences between all pairs of systems, and groups of systems without a difference shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from string import ascii_lowercase

import numpy as np

from eval.cards.leaderboard.scores import Column, Scores
from eval.metrics.stats.interval import Interval
from eval.metrics.stats.paired import holm, permutation_tests
from eval.summary.contrast import Verdict, verdict
from eval.summary.summarise import OVERALL


@dataclass(frozen=True, slots=True)
class Pair:
    """The `first` system minus the `second` on the questions that both have a score on.

    `p_holm` is adjusted over all pairs of the column; `verdict` is on the first.
    """

    first: str
    second: str
    difference: Interval
    p_holm: float
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Pairs:
    """All pairs of one column, over the questions of all types, and the groups of its `systems`.

    `groups`: letter -> systems. No pair of a group has a difference shown, and no further system
    could join it; a system may be in several (letters of a compact display: Piepho, 2004).
    """

    column: Column
    systems: tuple[str, ...]
    pairs: tuple[Pair, ...]
    groups: Mapping[str, tuple[str, ...]]

    def letters(self, *systems: str) -> str:
        """Return the letters of the groups that contain all of `systems`."""
        return "".join(letter for letter, group in self.groups.items() if {*systems} <= {*group})

    def possible(self, system: str) -> tuple[int, int]:
        """Return the best and the worst rank that the differences shown leave: one more than the
        number of systems shown to be better, and the number of those not shown to be worse.
        """
        better = worse = 0
        for pair in self.pairs:
            if pair.verdict != "no difference shown" and system in (pair.first, pair.second):
                won = (pair.verdict == "better") == (pair.first == system)
                worse, better = worse + won, better + (not won)
        return 1 + better, len(self.systems) - worse


def pairs(scores: Scores, seed: int) -> Iterator[Pairs]:
    """Yield the pairs of each column that systems are ranked by, the higher mean first.

    Two systems without a common question form no pair, and are in no group together.
    """
    for column in scores.ranked():
        chosen = dict(scores.masks(column))[OVERALL]
        values = scores.scores[column][:, chosen]
        systems, both = scores.shared(column, chosen)
        shared = scores.scores[column][:, both]
        systems.sort(key=lambda i: -float(shared[i].mean()) if both.any() else 0.0)
        differences = {
            (i, j): difference
            for i, j in combinations(systems, 2)
            if not np.isnan(difference := values[i] - values[j]).all()
        }
        if not differences:
            continue
        bootstrap = scores.bootstrap(chosen, seed)
        estimates = [bootstrap.mean(one.tolist()) for one in differences.values()]
        # nan: a question of one of the two, which a 0 leaves out of the sum
        raw = permutation_tests(np.nan_to_num(np.array([*differences.values()])), seed)
        names = scores.names
        found = tuple(
            Pair(names[i], names[j], estimate.within(-1.0), p, verdict(estimate, p, lower=False))
            for (i, j), estimate, p in zip(differences, estimates, holm(raw), strict=True)
            if estimate is not None
        )
        ordered = tuple(names[i] for i in systems)
        yield Pairs(column, ordered, found, groups(ordered, found))


def groups(systems: Sequence[str], found: Sequence[Pair]) -> dict[str, tuple[str, ...]]:
    """Return the largest groups of `systems` without a difference shown, by letter, in order of
    their best system: maximal cliques of the graph of such pairs.
    """
    import networkx as nx  # noqa: PLC0415 - takes a tenth of a second

    graph = nx.Graph()
    graph.add_nodes_from(systems)
    graph.add_edges_from(
        (pair.first, pair.second) for pair in found if pair.verdict == "no difference shown"
    )
    place = {system: i for i, system in enumerate(systems)}
    cliques = sorted(sorted(place[system] for system in one) for one in nx.find_cliques(graph))
    letters = [*ascii_lowercase, *ascii_lowercase.upper()]
    if len(cliques) > len(letters):
        raise ValueError(f"groups: {len(cliques)} groups for {len(letters)} letters")
    named = zip(letters, cliques, strict=False)
    return {letter: tuple(systems[i] for i in one) for letter, one in named}
