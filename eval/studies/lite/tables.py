"""Tables of the validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from eval.datasets.subset import Floats
from eval.rendering.numbers import interval, signed
from eval.studies.lite.answers import AnsweredSystem
from eval.studies.lite.item_response import fit
from eval.studies.lite.sampling import Indices, Strata
from eval.studies.lite.validation import (
    CHOICES,
    Errors,
    LeftOut,
    estimate,
    least_difference,
    paired,
    rank_correlation,
    reach,
)
from eval.summary.subset_score import weighted_mean

TableCells = tuple[list[str], list[list[str]]]
SHIPPED = CHOICES[1]
ESTIMATORS_SHIPPED: Mapping[str, str] = {"judge": "p-IRT", "locomo_f1": "weighted mean"}
BASELINE = (SHIPPED, "weighted mean")
# What is compared, choice and estimator of one and of the other.
_COMPARED = (
    ("p-IRT less weighted mean, both stratified random", (SHIPPED, "p-IRT"), BASELINE),
    ("gp-IRT less weighted mean, both stratified random", (SHIPPED, "gp-IRT"), BASELINE),
    (
        "difficulty steps less stratified random, both p-IRT",
        ("difficulty steps", "p-IRT"),
        (SHIPPED, "p-IRT"),
    ),
    ("balanced less stratified random, both p-IRT", ("balanced", "p-IRT"), (SHIPPED, "p-IRT")),
    (
        "balanced less stratified random, both weighted means",
        ("balanced", "weighted mean"),
        BASELINE,
    ),
)
_HEAD = ["questions", "estimator", "MAE", "bias", "less than stratified random", "95% of errors"]


def errors_table(
    errors: Errors, all_groups: tuple[str, ...], truth: Floats, seed: int
) -> TableCells:
    """Table of the errors with a row per choice and estimator.

    Columns: mean absolute error over systems and draws, mean error, paired difference to the
    weighted mean of a stratified random subset with its interval, reach of a 95% interval, least
    difference of two systems, rank correlation. `all_groups` (S); `truth` (S): score of each
    system on all questions, NaN to skip the system.
    """
    rows = []
    systems = np.flatnonzero(~np.isnan(truth))
    groups = [all_groups[int(i)] for i in systems]
    for (choice, estimator), table in errors.items():
        chosen = table[systems]
        against = paired(chosen, errors[BASELINE][systems], groups, seed)
        rows.append(
            [
                choice,
                estimator,
                f"{np.abs(chosen).mean():.4f}",
                f"{chosen.mean():+.4f}",
                "-" if (choice, estimator) == BASELINE else interval(against, 4, signed),
                f"{reach(chosen):.3f}",
                f"{least_difference(chosen, groups):.3f}",
                f"{rank_correlation(chosen, truth[systems]):.3f}",
            ]
        )
    return [*_HEAD, "least difference", "rank correlation"], rows


def comparisons_table(
    validated: Mapping[str, LeftOut], judged: Sequence[int], seed: int
) -> TableCells:
    """Table of the gains of the model over a random subset, and of its choice of questions.

    Paired differences of mean absolute errors on the judge's verdicts, a column per grouping of
    `validated` (family, system, publisher); `judged`: positions of the systems with verdicts.
    """
    rows = []
    for text, one, other in _COMPARED:
        row = [text]
        for left in validated.values():
            groups = [left.groups[i] for i in judged]
            errors = left.judge[one][judged], left.judge[other][judged]
            row.append(interval(paired(*errors, groups, seed), 4, signed))
        rows.append(row)
    return ["difference", *(f"{name} left out" for name in validated)], rows


def shipped_table(answered: AnsweredSystem, strata: Strata, chosen: Indices) -> TableCells:
    """Table of truth and estimates of each system on the shipped questions, its family left out."""
    rows = []
    for i, (name, family) in enumerate(zip(answered.systems, answered.families, strict=True)):
        right, f1 = answered.verdicts[i], answered.f1[i]
        row = [name, family, *["-"] * 4]
        if i in answered.judged:
            others = [j for j in answered.judged if answered.families[j] != family]
            curves = fit(answered.verdicts[others]).curves
            estimates = estimate(strata.weights, curves, chosen, right[chosen])[:3]
            row[2:] = [f"{value:.3f}" for value in (right.mean(), *estimates)]
        weighted = weighted_mean(strata.weights[chosen], f1[chosen])
        rows.append([*row, f"{f1.mean():.3f}", f"{weighted:.3f}"])
    judge = [f"judge {name}" for name in ("all", "mean", "weighted", ESTIMATORS_SHIPPED["judge"])]
    return ["system", "family", *judge, "F1 all", "F1 weighted"], rows
