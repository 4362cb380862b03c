"""Estimates of the score on a whole data set from a run on a fixed subset of its questions."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from eval.datasets.subset import GRID, Floats, Subset, chances, read_subset
from eval.records.answer_key_views import ORIGINAL, key_name
from eval.records.schema import Manifest, Record, Summary
from memsys.core.errors import InputError

ABILITY_SD = 3.0  # of the prior that keeps the ability of a system without wrong answers finite
_LABELS = {"judge": "judge", "locomo_f1": "LoCoMo's F1"}


def full_score(records: Sequence[Record], manifest: Manifest) -> dict[str, Any] | None:
    """Estimate the scores on all questions from `records`; None if the run was not on a subset.

    `scores`: for each validated score that the records have, `n` answered questions, the plain
    `mean`, the `weighted` mean, and the `estimate` with its interval `ci`, 0 to 1. `reason`: why
    there is no estimate, else None.
    """
    used = manifest["subset"]
    if used is None:
        return None
    result = {"name": used["name"], "questions": used["questions"], "of": used["of"]}
    try:
        subset, file = read_subset(str(manifest["config"]["dataset"]["subset"]))
    except InputError as error:
        return {**result, "reason": str(error), "scores": {}}
    asked = {record["id"] for record in records}
    missing = sum(question.id not in asked for question in subset.questions)
    reason = f"{missing} of the subset's questions were not asked" if missing else None
    if key_name(manifest) != ORIGINAL:
        reason = "the estimate was validated under the original answer key only"
    if file.sha256 != used["file"]["sha256"]:
        reason = "the subset's file has changed since the run"
    if reason is not None:
        return {**result, "reason": reason, "scores": {}}
    scores = {name: _score(subset, records, name) for name in subset.validated}
    return {**result, "reason": None, "scores": {k: v for k, v in scores.items() if v is not None}}


def _score(subset: Subset, records: Sequence[Record], name: str) -> dict[str, Any] | None:
    scored = {
        record["id"]: score
        for record in records
        if record["status"] == "ok" and (score := record["scores"].get(name)) is not None
    }
    questions = [question for question in subset.questions if question.id in scored]
    if not questions:
        return None
    values = np.array([scored[question.id] for question in questions])
    weights = np.array([question.weight for question in questions])
    weighted = float(weights @ values / weights.sum())  # stratified: Hansen and Hurwitz
    validated = subset.validated[name]
    estimate = weighted
    if validated.estimator == "p-IRT":  # questions without a score are left out of both parts
        curves = chances(np.array([question.curve for question in questions]))
        unseen = subset.of - len(subset.questions)
        estimate = p_irt(curves, chances(np.array(subset.rest)) * unseen, unseen, values)
    low, high = max(0.0, estimate - validated.reach), min(1.0, estimate + validated.reach)
    return {
        "n": len(questions),
        "mean": float(values.mean()),
        "weighted": weighted,
        "estimate": estimate,
        "ci": [low, high],
        "estimator": validated.estimator,
        "least_difference": validated.least_difference,
    }


def p_irt(curves: Floats, rest: Floats, unseen: int, answers: Floats) -> float:
    """Return the estimate of performance-IRT (Maia Polo et al., 2024, tinyBenchmarks).

    Source: arXiv 2402.14992. The mean of the n scores seen and of the model's expectation for the
    `unseen` questions: `curves` (n, T) of the questions seen, `rest` (T,) the sum of the curves of
    the others, `answers` (n,) scores from 0 to 1.
    """
    posterior = ability(np.log(curves), np.log(1 - curves), answers)
    return float((answers.sum() + rest @ posterior) / (len(answers) + unseen))


def ability(right: Floats, wrong: Floats, answers: Floats) -> Floats:
    """Return the posterior (len(GRID),), summing to 1, of a system's ability from `answers` (n,).

    `right`, `wrong` (n, len(GRID)): logarithms of the chances of a right and of a wrong answer;
    `answers` 0 to 1, a share where several verdicts were averaged. The prior is wide: Normal(1, 3).
    """
    log = answers @ right + (1 - answers) @ wrong - 0.5 * ((GRID - 1.0) / ABILITY_SD) ** 2
    weights: Floats = np.exp(log - log.max())
    weights /= weights.sum()
    return weights


def estimate_sentences(summary: Summary) -> list[str]:
    """Return the estimates as sentences; none if the run was not on a subset."""
    subset = summary["subset"]
    if subset is None:
        return []
    where = f"{subset['name']}: {subset['questions']} of {subset['of']:,} questions"
    if subset["reason"] is not None:
        return [f"{where}. No estimate for all of them: {subset['reason']}."]
    return [
        f"{where}. {_LABELS.get(name, name)} on all {subset['of']:,}, estimated: "
        f"{row['estimate']:.3f} [{row['ci'][0]:.3f}, {row['ci'][1]:.3f}] ({row['estimator']}; "
        f"plain mean of the {row['n']} answers {row['mean']:.3f}, weighted {row['weighted']:.3f}). "
        f"Two systems less than {row['least_difference']:.3f} apart here cannot be ordered."
        for name, row in subset["scores"].items()
    ]
