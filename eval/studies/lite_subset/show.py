"""The validation as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from eval.rendering.numbers import interval, signed
from eval.studies.lite_subset.answers import Answered
from eval.studies.lite_subset.choose import ESTIMATORS_SHIPPED, SHIPPED
from eval.studies.lite_subset.draw import Indices, Strata
from eval.studies.lite_subset.validate import Errors, LeftOut
from eval.summary.subset.estimators import Estimators, weighted_mean
from eval.summary.subset.irt import Floats, fit
from eval.summary.subset.statistics import (
    least_difference,
    paired,
    rank_correlation,
    reach,
)

Table = tuple[list[str], list[list[str]]]
BASELINE = (SHIPPED, "weighted mean")
_HEAD = ["questions", "estimator", "MAE", "bias", "less than stratified random", "95% of errors"]


def errors_table(errors: Errors, found: LeftOut, truth: Floats, seed: int) -> Table:
    """A row for each choice and estimator: mean absolute error over systems and draws, mean error,
    the paired difference to the weighted mean of a stratified random subset with its interval, the
    reach of a 95% interval, the least difference of two systems, and the rank correlation.

    `truth` (S): of the systems that `errors` are of, NaN for those that are passed over.
    """
    rows = []
    systems = np.flatnonzero(~np.isnan(truth))
    groups = [found.groups[i] for i in systems]
    for (choice, estimator), all_ in errors.items():
        own = all_[systems]
        against = paired(own, errors[BASELINE][systems], groups, seed)
        rows.append(
            [
                choice,
                estimator,
                f"{np.abs(own).mean():.4f}",
                f"{own.mean():+.4f}",
                "-" if (choice, estimator) == BASELINE else interval(against, 4, signed),
                f"{reach(own):.3f}",
                f"{least_difference(own, groups):.3f}",
                f"{rank_correlation(own, truth[systems]):.3f}",
            ]
        )
    return [*_HEAD, "least difference", "rank correlation"], rows


def by_leaving(found: Mapping[str, LeftOut], judged: Sequence[int], seed: int) -> Table:
    """By what was left out: what the model adds to a random subset, and what its choice of
    questions adds to its estimate. Paired differences of mean absolute errors, judge's verdicts.
    """
    comparisons = {
        "p-IRT less weighted mean, both stratified random": ((SHIPPED, "p-IRT"), BASELINE),
        "gp-IRT less weighted mean, both stratified random": ((SHIPPED, "gp-IRT"), BASELINE),
        "difficulty steps less stratified random, both p-IRT": (
            ("difficulty steps", "p-IRT"),
            (SHIPPED, "p-IRT"),
        ),
        "balanced less stratified random, both p-IRT": (("balanced", "p-IRT"), (SHIPPED, "p-IRT")),
        "balanced less stratified random, both weighted means": (
            ("balanced", "weighted mean"),
            BASELINE,
        ),
    }
    rows = []
    for text, (one, other) in comparisons.items():
        row = [text]
        for left in found.values():
            groups = [left.groups[i] for i in judged]
            errors = left.judge[one][judged], left.judge[other][judged]
            row.append(interval(paired(*errors, groups, seed), 4, signed))
        rows.append(row)
    return ["difference", *(f"{name} left out" for name in found)], rows


def shipped_table(answered: Answered, strata: Strata, chosen: Indices) -> Table:
    """Truth and estimates of each system on the shipped questions, its family left out."""
    rows = []
    for i, (name, family) in enumerate(zip(answered.systems, answered.families, strict=True)):
        right, f1 = answered.verdicts[i], answered.f1[i]
        row = [name, family, *["-"] * 4]
        if i in answered.judged:
            others = [j for j in answered.judged if answered.families[j] != family]
            estimators = Estimators(strata.weights, fit(answered.verdicts[others]).curves)
            plain, weighted, model, _ = estimators.estimate(chosen, right[chosen])
            row[2:] = [f"{value:.3f}" for value in (right.mean(), plain, weighted, model)]
        weighted = weighted_mean(strata.weights[chosen], f1[chosen])
        rows.append([*row, f"{f1.mean():.3f}", f"{weighted:.3f}"])
    judge = [f"judge {name}" for name in ("all", "mean", "weighted", ESTIMATORS_SHIPPED["judge"])]
    return ["system", "family", *judge, "F1 all", "F1 weighted"], rows
