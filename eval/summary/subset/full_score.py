"""The score on all questions as a run on a subset lets it be estimated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eval.datasets.subset import Chosen, Subset, chances, read_subset
from eval.records.answer_key_views import ORIGINAL, key_name
from eval.records.schema import Manifest, Record, Summary
from eval.summary.subset.estimators import p_irt, weighted_mean
from memsys.errors import InputError

_LABELS = {"judge": "judge", "locomo_f1": "LoCoMo's F1"}


def full_score(records: Sequence[Record], manifest: Manifest) -> dict[str, Any] | None:
    """What the subset's answers tell of all questions; None if the run was not on a subset.

    `scores`: for each score that was validated and is there, `n` answered, the plain `mean`, the
    `weighted` mean, and the `estimate` with its interval `ci`, 0 to 1. `reason`: why there is none,
    else None.
    """
    used = manifest["subset"]
    if used is None:
        return None
    found: dict[str, Any] = {"name": used["name"], "questions": used["questions"], "of": used["of"]}
    try:
        subset, file = read_subset(str(manifest["config"]["dataset"]["subset"]))
    except InputError as error:
        return {**found, "reason": str(error), "scores": {}}
    reason = _reason(subset, records, manifest, same=file.sha256 == used["file"]["sha256"])
    if reason is not None:
        return {**found, "reason": reason, "scores": {}}
    scores = {name: _score(subset, records, name) for name in subset.validated}
    return {**found, "reason": None, "scores": {k: v for k, v in scores.items() if v is not None}}


def _reason(
    subset: Subset, records: Sequence[Record], manifest: Manifest, *, same: bool
) -> str | None:
    if not same:
        return "the subset's file is another than the run was made with"
    if key_name(manifest) != ORIGINAL:
        return "it was validated under the original answer key alone"
    asked = {record["id"] for record in records}
    missing = sum(question.id not in asked for question in subset.questions)
    return f"{missing} of the subset's questions were not asked" if missing else None


def _score(subset: Subset, records: Sequence[Record], name: str) -> dict[str, Any] | None:
    known = {
        record["id"]: score
        for record in records
        if record["status"] == "ok" and (score := record["scores"].get(name)) is not None
    }
    own = [question for question in subset.questions if question.id in known]
    if not own:
        return None
    values = np.array([known[question.id] for question in own])
    weights = np.array([question.weight for question in own])
    weighted = weighted_mean(weights, values)
    validated = subset.validated[name]
    estimate = _by_model(subset, own, values) if validated.estimator == "p-IRT" else weighted
    low, high = max(0.0, estimate - validated.reach), min(1.0, estimate + validated.reach)
    return {
        "n": len(own),
        "mean": float(values.mean()),
        "weighted": weighted,
        "estimate": estimate,
        "ci": [low, high],
        "estimator": validated.estimator,
        "least_difference": validated.least_difference,
    }


def _by_model(subset: Subset, own: Sequence[Chosen], values: np.ndarray[Any, Any]) -> float:
    """p-IRT; a question of the subset that has no verdict is left out of both parts."""
    curves = chances(np.array([question.curve for question in own]))
    unseen = subset.of - len(subset.questions)
    return p_irt(curves, chances(np.array(subset.rest)) * unseen, unseen, values)


def sentences(summary: Summary) -> list[str]:
    """The estimates in words; none if the run was not on a subset."""
    found = summary["subset"]
    if found is None:
        return []
    where = f"{found['name']}: {found['questions']} of {found['of']:,} questions"
    if found["reason"] is not None:
        return [f"{where}. No estimate for all of them: {found['reason']}."]
    return [
        f"{where}. {_LABELS.get(name, name)} on all {found['of']:,}, estimated: "
        f"{one['estimate']:.3f} [{one['ci'][0]:.3f}, {one['ci'][1]:.3f}] ({one['estimator']}; "
        f"plain mean of the {one['n']} answers {one['mean']:.3f}, weighted {one['weighted']:.3f}). "
        f"Two systems less than {one['least_difference']:.3f} apart here cannot be ordered."
        for name, one in found["scores"].items()
    ]
