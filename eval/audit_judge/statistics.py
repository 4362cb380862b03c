"""What the outcomes of an audit add up to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eval.audit_judge.measure import Outcome
from eval.audit_judge.probes import KINDS, RIGHT
from eval.judges.figures import PanelFigures, panel_figures
from eval.stats.agreement import all_judges
from eval.stats.interval import ClusterBootstrap, Interval
from eval.stats.rates import Rate, rate

_PAIRS = (("gold", "gold_long"), ("wrong_specific", "wrong_long"))


@dataclass(frozen=True, slots=True)
class KindFigures:
    """Probes of one kind: how many errors there were, and the rate of wrong verdicts among the
    others: false rejects of a right kind, false accepts of a wrong one; None without a verdict.
    """

    kind: str
    errors: int
    mistaken: Rate | None


@dataclass(frozen=True, slots=True)
class Audit:
    """All figures of an audit.

    `false_rejects`: over the right kinds together. `lengths`: how much the share passed rises from
    a bare answer to the same one in a long text, paired by question, by name of the bare kind.
    `halves`: share passed of the shorter and of the longer half of each wrong kind, by words.
    `self_agreement`: Fleiss' kappa over the runs of each judge that has several. `panel`: of two
    judges or more.
    """

    kinds: tuple[KindFigures, ...]
    false_rejects: Rate | None
    lengths: dict[str, Interval]
    halves: dict[str, tuple[float, float]]
    self_agreement: dict[str, Interval]
    panel: PanelFigures | None


def audit(outcomes: Sequence[Outcome], seed: int = 0) -> Audit:
    """The figures of `outcomes`; errors are counted and are in no rate."""
    judged = [one for one in outcomes if one.error is None]
    present = [kind for kind in KINDS if any(one.probe.kind == kind for one in outcomes)]
    kinds = tuple(
        KindFigures(
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
        {bare: found for bare, found in pairs.items() if found is not None},
        {kind: found for kind, found in halves.items() if found is not None},
        _self_agreement(judged, seed),
        _panel(judged, seed),
    )


def mistaken(outcomes: Sequence[Outcome], seed: int = 0) -> Rate | None:
    """The rate of wrong verdicts: a right probe not passed, a wrong one passed."""
    return rate(
        [one.passed != one.probe.right for one in outcomes],
        [one.probe.conversation for one in outcomes],
        seed,
    )


def _longer(outcomes: Sequence[Outcome], bare: str, long: str, seed: int) -> Interval | None:
    """Passed in the long form minus passed bare, over the questions that have both."""
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


def _halves(outcomes: Sequence[Outcome], kind: str) -> tuple[float, float] | None:
    own = [one for one in outcomes if one.probe.kind == kind]
    own.sort(key=lambda one: len(one.probe.answer.split()))  # stable: the same every time
    if len(own) < 2:
        return None
    middle = len(own) // 2
    shorter, longer = (
        float(np.mean([one.passed for one in half])) for half in (own[:middle], own[middle:])
    )
    return shorter, longer


def _self_agreement(outcomes: Sequence[Outcome], seed: int) -> dict[str, Interval]:
    clusters = [one.probe.conversation for one in outcomes]
    names = list(outcomes[0].runs) if outcomes else []
    by_judge = {name: [one.runs[name] for one in outcomes] for name in names}
    return {
        name: all_judges(verdicts, clusters, seed)
        for name, verdicts in by_judge.items()
        if len(verdicts[0]) > 1 and len({len(runs) for runs in verdicts}) == 1
    }


def _panel(outcomes: Sequence[Outcome], seed: int) -> PanelFigures | None:
    if not outcomes or len(outcomes[0].runs) < 2:
        return None
    clusters = [one.probe.conversation for one in outcomes]
    return panel_figures([one.runs for one in outcomes], clusters, seed)
