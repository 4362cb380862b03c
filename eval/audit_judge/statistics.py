"""Statistics of an audit: rates of wrong verdicts, effect of length, agreement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eval.audit_judge.probes import KINDS, RIGHT, ProbeOutcome
from eval.judges.verdicts import PanelStatistics, panel_statistics
from eval.stats.agreement import fleiss_interval
from eval.stats.interval import ClusterBootstrap, Interval
from eval.stats.rates import Rate, rate

_PAIRS = (("gold", "gold_long"), ("wrong_specific", "wrong_long"))


@dataclass(frozen=True, slots=True)
class KindStatistics:
    """Probes of one kind: the number of errors, and the rate of wrong verdicts among the others.

    Wrong verdicts are false rejects of a right kind and false accepts of a wrong one; the rate is
    None without a verdict.
    """

    kind: str
    errors: int
    mistaken: Rate | None


@dataclass(frozen=True, slots=True)
class Audit:
    """All statistics of an audit.

    `false_rejects`: over the right kinds together. `lengths`: by bare kind, the rise of the share
    passed when the same answer is part of a long text, paired by question. `halves`: by wrong kind,
    the share passed of the half with fewer words and of the half with more. `self_agreement`:
    Fleiss' kappa over the runs of each judge with several runs. `panel`: None for a single judge.
    """

    kinds: tuple[KindStatistics, ...]
    false_rejects: Rate | None
    lengths: dict[str, Interval]
    halves: dict[str, tuple[float, float]]
    self_agreement: dict[str, Interval]
    panel: PanelStatistics | None


def audit(outcomes: Sequence[ProbeOutcome], seed: int = 0) -> Audit:
    """Return the statistics of `outcomes`; errors are counted and excluded from all rates."""
    judged = [one for one in outcomes if one.error is None]
    present = [kind for kind in KINDS if any(one.probe.kind == kind for one in outcomes)]
    kinds = tuple(
        KindStatistics(
            kind,
            sum(one.probe.kind == kind and one.error is not None for one in outcomes),
            mistaken([one for one in judged if one.probe.kind == kind], seed),
        )
        for kind in present
    )
    pairs = {bare: _longer(judged, bare, long, seed) for bare, long in _PAIRS}
    halves = {kind: _halves(judged, kind) for kind in ("wrong_specific", "wrong_vague")}
    return Audit(
        kinds,
        mistaken([one for one in judged if one.probe.kind in RIGHT], seed),
        {bare: rise for bare, rise in pairs.items() if rise is not None},
        {kind: pair for kind, pair in halves.items() if pair is not None},
        _self_agreement(judged, seed),
        _panel(judged, seed),
    )


def mistaken(outcomes: Sequence[ProbeOutcome], seed: int = 0) -> Rate | None:
    """Return the rate of wrong verdicts: right probes rejected, wrong probes passed."""
    return rate(
        [one.passed != one.probe.right for one in outcomes],
        [one.probe.conversation for one in outcomes],
        seed,
    )


def _longer(outcomes: Sequence[ProbeOutcome], bare: str, long: str, seed: int) -> Interval | None:
    """Return the mean of passed in the long form - passed bare, over the questions with both."""
    passed = {(one.probe.kind, one.probe.question_id): one for one in outcomes}
    both = [
        (passed[bare, id_], passed[kind, id_])
        for kind, id_ in passed
        if kind == long and (bare, id_) in passed
    ]
    if not both:
        return None
    rises = [float(second.passed) - float(first.passed) for first, second in both]
    return ClusterBootstrap([one.probe.conversation for one, _ in both], seed).mean(rises)


def _halves(outcomes: Sequence[ProbeOutcome], kind: str) -> tuple[float, float] | None:
    of_kind = [one for one in outcomes if one.probe.kind == kind]
    of_kind.sort(key=lambda one: len(one.probe.answer.split()))  # stable, so deterministic
    if len(of_kind) < 2:
        return None
    middle = len(of_kind) // 2
    shorter, longer = (
        float(np.mean([one.passed for one in half]))
        for half in (of_kind[:middle], of_kind[middle:])
    )
    return shorter, longer


def _self_agreement(outcomes: Sequence[ProbeOutcome], seed: int) -> dict[str, Interval]:
    clusters = [one.probe.conversation for one in outcomes]
    names = list(outcomes[0].runs) if outcomes else []
    by_judge = {name: [one.runs[name] for one in outcomes] for name in names}
    return {
        name: fleiss_interval(verdicts, clusters, seed)
        for name, verdicts in by_judge.items()
        if len(verdicts[0]) > 1 and len({len(runs) for runs in verdicts}) == 1
    }


def _panel(outcomes: Sequence[ProbeOutcome], seed: int) -> PanelStatistics | None:
    if not outcomes or len(outcomes[0].runs) < 2:
        return None
    clusters = [one.probe.conversation for one in outcomes]
    return panel_statistics([one.runs for one in outcomes], clusters, seed)
