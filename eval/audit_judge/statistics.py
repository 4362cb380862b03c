"""Statistics of an audit: wrong verdicts, effect of length, agreement, corrected shares."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from eval.audit_judge.probes import KINDS, RIGHT, ProbeOutcome
from eval.datasets.types import ADVERSARIAL, TYPES
from eval.metrics.stats.agreement import (
    CorrectedShare,
    PanelStatistics,
    Rate,
    corrected_share,
    fleiss_interval,
    panel_statistics,
    rate,
)
from eval.metrics.stats.interval import ClusterBootstrap, Interval
from eval.records.run import Run
from eval.records.schema import Record
from memsys.core.errors import InputError

_PAIRS = (("gold", "gold_long"), ("wrong_specific", "wrong_long"))
WRONG = ("wrong_specific", "wrong_vague")
OVERALL = "overall"
ENOUGH = 30  # probes of a question type from which its own rates are used
UNPROBED = Rate(0, 0, 0.0, (0.0, 1.0), None, 0.0)


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
    `conversations`: the number of these that the verdicts are on.
    """

    kinds: tuple[KindStatistics, ...]
    false_rejects: Rate | None
    lengths: dict[str, Interval]
    halves: dict[str, tuple[float, float]]
    self_agreement: dict[str, Interval]
    panel: PanelStatistics | None
    conversations: int


def audit(outcomes: Sequence[ProbeOutcome], seed: int = 0) -> Audit:
    """Return the statistics of `outcomes`; errors are counted and excluded from all rates."""
    judged = [one for one in outcomes if one.error is None]
    present = [kind for kind in KINDS if any(one.probe.kind == kind for one in outcomes)]
    kinds = []
    for kind in present:
        verdicts = [one for one in judged if one.probe.kind == kind]
        errors = sum(one.probe.kind == kind for one in outcomes) - len(verdicts)
        kinds.append(KindStatistics(kind, errors, mistaken(verdicts, seed)))
    pairs = {bare: _longer(judged, bare, long, seed) for bare, long in _PAIRS}
    halves = {kind: _halves(judged, kind) for kind in WRONG}
    return Audit(
        tuple(kinds),
        mistaken([one for one in judged if one.probe.kind in RIGHT], seed),
        {bare: rise for bare, rise in pairs.items() if rise is not None},
        {kind: pair for kind, pair in halves.items() if pair is not None},
        _self_agreement(judged, seed),
        _panel(judged, seed),
        len({one.probe.conversation for one in judged}),
    )


def mistaken(outcomes: Sequence[ProbeOutcome], seed: int = 0) -> Rate | None:
    """Return the rate of wrong verdicts: right probes rejected, wrong probes passed."""
    return rate(
        [one.passed != one.probe.right for one in outcomes],
        [one.probe.conversation for one in outcomes],
        seed,
    )


def _longer(outcomes: Sequence[ProbeOutcome], bare: str, long: str, seed: int) -> Interval | None:
    """Return the share passed in the long form minus the bare one, over the questions with both."""
    passed = {(one.probe.kind, one.probe.question_id): one for one in outcomes}
    both = [
        (passed[bare, id_], passed[kind, id_])
        for kind, id_ in passed
        if kind == long and (bare, id_) in passed
    ]
    if not both:
        return None
    rises = [float(second.passed) - float(first.passed) for first, second in both]
    mean = ClusterBootstrap([one.probe.conversation for one, _ in both], seed).mean(rises)
    return mean and mean.within(-1.0, 1.0)


def _halves(outcomes: Sequence[ProbeOutcome], kind: str) -> tuple[float, float] | None:
    of_kind = [one for one in outcomes if one.probe.kind == kind]
    of_kind.sort(key=lambda one: len(one.probe.answer.split()))  # stable, so deterministic
    if len(of_kind) < 2:
        return None
    middle = len(of_kind) // 2
    passed = [float(one.passed) for one in of_kind]
    return fmean(passed[:middle]), fmean(passed[middle:])


def _self_agreement(outcomes: Sequence[ProbeOutcome], seed: int) -> dict[str, Interval]:
    clusters = [one.probe.conversation for one in outcomes]
    agreement = {}
    for name in outcomes[0].runs if outcomes else ():
        verdicts = [one.runs[name] for one in outcomes]
        if len(verdicts[0]) > 1 and len({len(runs) for runs in verdicts}) == 1:
            agreement[name] = fleiss_interval(verdicts, clusters, seed)
    return agreement


def _panel(outcomes: Sequence[ProbeOutcome], seed: int) -> PanelStatistics | None:
    if not outcomes or len(outcomes[0].runs) < 2:
        return None
    clusters = [one.probe.conversation for one in outcomes]
    return panel_statistics([one.runs for one in outcomes], clusters, seed)


@dataclass(frozen=True, slots=True)
class CorrectedType:
    """The apparent and corrected shares of right answers of one question type of a run.

    `corrected`: by kind of wrong answer, the share if all of the run's wrong answers were of that
    kind; None if no correction is possible. `own_rates`: whether the rates are from probes of this
    type only.
    """

    type: str
    apparent: Interval
    corrected: dict[str, CorrectedShare | None]
    own_rates: bool


def judged_records(run: Run, score_key: str) -> list[Record]:
    """Return the answered records of types 1-4 with a score `score_key`.

    Raises InputError if there are none.
    """
    answered = [one for one in run.records.values() if one["status"] == "ok"]
    judged = [
        record
        for record in answered
        if record["category"] != ADVERSARIAL and record["scores"].get(score_key) is not None
    ]
    if not judged:
        raise InputError(
            f"run={run.folder}: no record has a score {score_key}; name a run that this judge "
            "judged"
        )
    return judged


def correct(
    records: Sequence[Record], score_key: str, outcomes: Sequence[ProbeOutcome], seed: int = 0
) -> list[CorrectedType]:
    """Return apparent and corrected shares by type, overall (types 1-4) last.

    The rates are those of the probes of the same type if it has at least ENOUGH probes of each kind
    and of right ones, else of all probes. The rate of false rejects is taken as 0 if they were not
    probed.
    """
    judged = [one for one in outcomes if one.error is None]
    corrections = []
    for name in (*TYPES.values(), OVERALL):
        rows = [row for row in records if name in (OVERALL, row["type"])]
        if not rows:
            continue
        bootstrap = ClusterBootstrap([row["conversation"] for row in rows], seed)
        apparent = bootstrap.mean([row["scores"][score_key] for row in rows])
        if apparent is None:
            continue
        of_type = [one for one in judged if one.probe.type == name]
        enough = name != OVERALL and _enough(of_type, judged)
        shares = _by_kind(apparent, of_type if enough else judged, seed)
        corrections.append(CorrectedType(name, apparent.within(), shares, enough))
    return corrections


def _enough(of_type: Sequence[ProbeOutcome], outcomes: Sequence[ProbeOutcome]) -> bool:
    """Whether `of_type` has ENOUGH probes of every kind that `outcomes` has any of."""
    groups: tuple[tuple[str, ...], ...] = (RIGHT, *((kind,) for kind in WRONG))
    return all(
        sum(one.probe.kind in kinds for one in of_type) >= ENOUGH
        for kinds in groups
        if any(one.probe.kind in kinds for one in outcomes)
    )


def _by_kind(
    apparent: Interval, outcomes: Sequence[ProbeOutcome], seed: int
) -> dict[str, CorrectedShare | None]:
    rejects = mistaken([one for one in outcomes if one.probe.kind in RIGHT], seed) or UNPROBED
    shares: dict[str, CorrectedShare | None] = {}
    for kind in WRONG:
        accepts = mistaken([one for one in outcomes if one.probe.kind == kind], seed)
        if accepts is not None:
            shares[kind] = corrected_share(
                apparent.value, apparent.error, accepts, rejects, apparent.degrees
            )
    return shares


def as_json(audit: Audit, corrected: Sequence[CorrectedType]) -> dict[str, Any]:
    """Return all statistics as plain JSON; nan and infinity become null."""
    plain = asdict(audit) | {"corrected": [asdict(one) for one in corrected]}
    if (panel := audit.panel) is not None:
        plain["panel"]["pairs"] = [
            {"members": pair, **asdict(one)} for pair, one in panel.pairs.items()
        ]
        plain["panel"]["all"] = plain["panel"].pop("all_members")
    return _finite(plain)  # type: ignore[no-any-return]


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
