"""Statistics of repeated verdicts: of each judge's runs, and of the agreement of several judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, stdev

from eval.metrics.stats.agreement import cohen_interval, fleiss_interval
from eval.metrics.stats.interval import Interval


@dataclass(frozen=True, slots=True)
class RunStatistics:
    """Statistics of one judge over all answers.

    The mean of each run, their mean and standard deviation (n - 1; None for one run), and the share
    of answers that a majority of the runs passed.
    """

    runs: tuple[float, ...]
    mean: float
    deviation: float | None
    majority: float


@dataclass(frozen=True, slots=True)
class PanelStatistics:
    """Statistics of each member of a panel, and their agreement.

    Agreement is Cohen's kappa of each pair and Fleiss' kappa of all members, each member with the
    majority verdict of its runs; a single member has no kappas.
    """

    members: Mapping[str, RunStatistics]
    pairs: Mapping[tuple[str, str], Interval]
    all_members: Interval | None


def majority(verdicts: Sequence[bool]) -> bool:
    """Return True if more than half of `verdicts` passed the answer; a tie is no majority."""
    return 2 * sum(verdicts) > len(verdicts)


def run_statistics(verdicts: Sequence[Sequence[bool]]) -> RunStatistics:
    """Return the statistics of verdicts on n answers, a row per answer and a column per run.

    Raises ValueError without an answer, or if answers have different numbers of runs.
    """
    if not verdicts or len({len(row) for row in verdicts}) != 1 or not verdicts[0]:
        raise ValueError("run_statistics: every answer needs the same number of runs, 1 or more")
    means = tuple(fmean(run) for run in zip(*verdicts, strict=True))
    return RunStatistics(
        means,
        fmean(means),
        stdev(means) if len(means) > 1 else None,
        fmean(majority(row) for row in verdicts),
    )


def panel_statistics(
    judgements: Sequence[Mapping[str, Sequence[bool]]], clusters: Sequence[str], seed: int = 0
) -> PanelStatistics:
    """Return the statistics of a panel from the `runs` of its judgements on n answers.

    `clusters`: the conversation of each answer. Raises ValueError without an answer, or if answers
    have different judges or numbers of runs.
    """
    names = list(judgements[0]) if judgements else []
    if any(list(one) != names for one in judgements):
        raise ValueError("panel_statistics: every answer needs the same judges")
    by_member = {name: [one[name] for one in judgements] for name in names}
    members = {name: run_statistics(verdicts) for name, verdicts in by_member.items()}
    votes = {name: [majority(row) for row in verdicts] for name, verdicts in by_member.items()}
    pairs = {
        (one, other): cohen_interval(votes[one], votes[other], clusters, seed)
        for one, other in combinations(names, 2)
    }
    together = None
    if len(names) > 1:
        together = fleiss_interval(list(zip(*votes.values(), strict=True)), clusters, seed)
    return PanelStatistics(members, pairs, together)
