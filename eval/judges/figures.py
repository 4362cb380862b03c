"""What the verdicts of a judge's runs, or of a panel's members, say over all answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, stdev

from eval.stats.agreement import all_judges, two_judges
from eval.stats.interval import Interval

Verdicts = Sequence[Sequence[bool]]


@dataclass(frozen=True, slots=True)
class RunFigures:
    """Of one judge over all answers: the mean of each run, their mean and standard deviation
    (n - 1; None for one run), and the share of answers that most runs passed.
    """

    runs: tuple[float, ...]
    mean: float
    deviation: float | None
    majority: float


@dataclass(frozen=True, slots=True)
class PanelFigures:
    """Of a panel: each member's figures, Cohen's kappa of each pair of members and Fleiss' of all,
    each member with the verdict of most of its runs. Kappas are None for a single member.
    """

    members: Mapping[str, RunFigures]
    pairs: Mapping[tuple[str, str], Interval]
    all_members: Interval | None


def majority(verdicts: Sequence[bool]) -> bool:
    """True if more than half of `verdicts` passed the answer: a tie is no majority."""
    return 2 * sum(verdicts) > len(verdicts)


def run_figures(verdicts: Verdicts) -> RunFigures:
    """Figures of the verdicts on n answers, one a run: the j-th of each answer is of run j.

    Raises ValueError without an answer, or where answers have different numbers of runs.
    """
    if not verdicts or len({len(row) for row in verdicts}) != 1 or not verdicts[0]:
        raise ValueError("run_figures: every answer needs the same number of runs, 1 or more")
    means = tuple(fmean(run) for run in zip(*verdicts, strict=True))
    return RunFigures(
        means,
        fmean(means),
        stdev(means) if len(means) > 1 else None,
        fmean(majority(row) for row in verdicts),
    )


def panel_figures(
    judgements: Sequence[Mapping[str, Sequence[bool]]], clusters: Sequence[str], seed: int = 0
) -> PanelFigures:
    """Figures of a panel from the `runs` of its judgements on n answers in conversations.

    Raises ValueError without an answer, or where answers have different judges or runs.
    """
    names = list(judgements[0]) if judgements else []
    if any(list(one) != names for one in judgements):
        raise ValueError("panel_figures: every answer needs the same judges")
    by_member = {name: [one[name] for one in judgements] for name in names}
    members = {name: run_figures(verdicts) for name, verdicts in by_member.items()}
    votes = {name: [majority(row) for row in verdicts] for name, verdicts in by_member.items()}
    pairs = {
        (one, other): two_judges(votes[one], votes[other], clusters, seed)
        for one, other in combinations(names, 2)
    }
    together = None
    if len(names) > 1:
        together = all_judges(list(zip(*votes.values(), strict=True)), clusters, seed)
    return PanelFigures(members, pairs, together)
