"""Correct the J of a run for the false accepts and false rejects of its judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eval.audit_judge.probes import RIGHT, ProbeOutcome
from eval.audit_judge.statistics import mistaken
from eval.datasets.types import ADVERSARIAL, TYPES
from eval.records.run import Run
from eval.records.schema import Record
from eval.stats.interval import ClusterBootstrap, Interval
from eval.stats.rates import CorrectedShare, Rate, corrected_share
from memsys.errors import InputError

WRONG = ("wrong_specific", "wrong_vague")
OVERALL = "overall"
ENOUGH = 30  # probes of a question type from which its own rates are used
UNPROBED = Rate(0, 0, 0.0, (0.0, 1.0), None, 0.0)


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
    judged = [
        record
        for record in run.records.values()
        if record["category"] != ADVERSARIAL
        and record["status"] == "ok"
        and record["scores"].get(score_key) is not None
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
    and of right ones, else of all probes. False rejects count as none if they were not probed.
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
        corrections.append(CorrectedType(name, apparent, shares, enough))
    return corrections


def _enough(of_type: Sequence[ProbeOutcome], outcomes: Sequence[ProbeOutcome]) -> bool:
    """Whether `of_type` has ENOUGH probes of every kind that `outcomes` has any of."""
    for kinds in (RIGHT, *((kind,) for kind in WRONG)):
        probed = any(one.probe.kind in kinds for one in outcomes)
        if probed and sum(one.probe.kind in kinds for one in of_type) < ENOUGH:
            return False
    return True


def _by_kind(
    apparent: Interval, outcomes: Sequence[ProbeOutcome], seed: int
) -> dict[str, CorrectedShare | None]:
    rejects = mistaken([one for one in outcomes if one.probe.kind in RIGHT], seed) or UNPROBED
    shares: dict[str, CorrectedShare | None] = {}
    for kind in WRONG:
        accepts = mistaken([one for one in outcomes if one.probe.kind == kind], seed)
        if accepts is not None:
            shares[kind] = corrected_share(
                apparent.value, apparent.error, accepts, rejects, apparent.clusters
            )
    return shares
