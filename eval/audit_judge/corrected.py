"""J of a run, corrected for what its judge passes and rejects that it should not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.audit_judge.measure import Outcome
from eval.audit_judge.probes import RIGHT
from eval.audit_judge.statistics import mistaken
from eval.datasets.types import ADVERSARIAL, TYPES
from eval.records.run import load_run
from eval.records.schema import Record
from eval.stats.interval import ClusterBootstrap, Interval
from eval.stats.rates import Corrected, Rate, corrected
from memsys.errors import InputError

WRONG = ("wrong_specific", "wrong_vague")
OVERALL = "overall"
ENOUGH = 30  # probes of a question type, for rates of its own
UNPROBED = Rate(0, 0, 0.0, (0.0, 1.0), None, 0.0)


@dataclass(frozen=True, slots=True)
class CorrectedType:
    """One question type of a run: `apparent`, its share passed; `corrected`, for each kind of wrong
    answer, the share if all of the run's wrong answers were of that kind (None: no correction is
    possible). `own_rates`: whether the rates are those of this type's probes.
    """

    type: str
    apparent: Interval
    corrected: dict[str, Corrected | None]
    own_rates: bool


def read_run(folder: Path, score_key: str) -> list[Record]:
    """The answered records of types 1-4 with a verdict under `score_key`.

    Raises InputError if the folder holds none.
    """
    run = load_run(folder, complete=False, answered=False)
    judged = [
        record
        for record in run.records.values()
        if record["category"] != ADVERSARIAL
        and record["status"] == "ok"
        and record["scores"].get(score_key) is not None
    ]
    if not judged:
        raise InputError(
            f"run={folder}: no record has a score {score_key}; name a run that this judge judged"
        )
    return judged


def correct(
    records: Sequence[Record], score_key: str, outcomes: Sequence[Outcome], seed: int = 0
) -> list[CorrectedType]:
    """Apparent and corrected shares by type, overall (types 1-4) last.

    Rates are those of the probes of the same type where there are at least ENOUGH of the kind and
    of right ones, else of all probes. False rejects that were not probed count as none.
    """
    judged = [one for one in outcomes if one.error is None]
    found = []
    for name in (*TYPES.values(), OVERALL):
        rows = [row for row in records if name in (OVERALL, row["type"])]
        if not rows:
            continue
        bootstrap = ClusterBootstrap([row["conversation"] for row in rows], seed)
        apparent = bootstrap.mean([row["scores"][score_key] for row in rows])
        if apparent is None:
            continue
        own = [one for one in judged if one.probe.type == name]
        enough = name != OVERALL and _enough(own, judged)
        shares = _by_kind(apparent, own if enough else judged, seed)
        found.append(CorrectedType(name, apparent, shares, enough))
    return found


def _enough(own: Sequence[Outcome], all_of_them: Sequence[Outcome]) -> bool:
    """Every kind of probe that rates are taken of has ENOUGH in `own`, if it has any at all."""
    for kinds in (RIGHT, *((kind,) for kind in WRONG)):
        probed = any(one.probe.kind in kinds for one in all_of_them)
        if probed and sum(one.probe.kind in kinds for one in own) < ENOUGH:
            return False
    return True


def _by_kind(
    apparent: Interval, outcomes: Sequence[Outcome], seed: int
) -> dict[str, Corrected | None]:
    rejects = mistaken([one for one in outcomes if one.probe.kind in RIGHT], seed) or UNPROBED
    found: dict[str, Corrected | None] = {}
    for kind in WRONG:
        accepts = mistaken([one for one in outcomes if one.probe.kind == kind], seed)
        if accepts is not None:
            found[kind] = corrected(
                apparent.value, apparent.error, accepts, rejects, apparent.clusters
            )
    return found
