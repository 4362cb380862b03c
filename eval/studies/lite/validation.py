"""Validation of subset estimates on systems that were left out of the model's fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from tqdm import tqdm

from eval.datasets.subset import Floats
from eval.studies.lite.answers import Answered
from eval.studies.lite.item_response import ItemModel, fit
from eval.studies.lite.sampling import Indices, Strata
from eval.summary.subset_score import p_irt, weighted_mean

CHOICES = ("simple random", "stratified random", "difficulty steps", "balanced")
ESTIMATORS = ("mean", "weighted mean", "p-IRT", "gp-IRT")
_ABILITIES = slice(15, 56, 5)  # of GRID, -2 to 6: the abilities at which subsets are balanced

Errors = Mapping[tuple[str, str], Floats]  # (choice, estimator) -> (S, draws): estimate - truth


class Estimators:
    """The ESTIMATORS of the mean score on Q questions under one fitted model."""

    def __init__(self, weights: Floats, curves: Floats) -> None:
        """`weights` (Q,): share of all questions a chosen one represents; `curves` (Q, T)."""
        self._weights, self._curves, self._total = weights, curves, curves.sum(0)

    def estimate(self, chosen: Indices, answers: Floats) -> list[float]:
        """Estimate by each of ESTIMATORS from `answers` (n,) to the questions `chosen` (n,).

        gp-IRT (generalised p-IRT: Maia Polo et al., 2024) is halfway between weighted mean and
        p-IRT: with so few systems an estimate of the two shares would be noise.
        """
        curves = self._curves[chosen]
        unseen = len(self._curves) - len(chosen)
        model = p_irt(curves, self._total - curves.sum(0), unseen, answers)
        weighted = weighted_mean(self._weights[chosen], answers)
        return [float(np.mean(answers)), weighted, model, (weighted + model) / 2]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Errors of estimates of S systems, each left out of the model together with its group.

    `judge`: of the share of right answers, by each of CHOICES and ESTIMATORS, NaN for systems
    without verdicts. `f1`: of LoCoMo's F1, by mean and weighted mean. `groups` (S).
    """

    judge: Errors
    f1: Errors
    groups: tuple[str, ...]


def leave_out(
    answered: Answered,
    groups: Sequence[str],
    strata: Strata,
    subsets: Sequence[Indices],
    label: str,
) -> LeftOut:
    """Estimate each system's scores with a model fitted without its group of `groups` (S).

    Questions are chosen by each of CHOICES from each of `subsets` (see `candidates`); the random
    draws are the same for every group. `label` names the progress bar.
    """
    judged = set(answered.judged)
    size = (len(answered.systems), len(subsets))
    judge = {(c, e): np.full(size, np.nan) for c in CHOICES for e in ESTIMATORS}
    f1 = {(c, e): np.full(size, np.nan) for c in CHOICES for e in ESTIMATORS[:2]}
    for name in tqdm(list(dict.fromkeys(groups)), desc=label, unit="fit", disable=None):
        out = [i for i, group in enumerate(groups) if group == name]
        model = fit(answered.verdicts[[i for i in sorted(judged) if i not in out]])
        estimators = Estimators(strata.weights, model.curves)
        for draw, stratified in enumerate(subsets):
            for choice, chosen in _choices(strata, model, stratified, draw):
                for i in out:
                    scores = answered.f1[i]
                    means = _means(strata, chosen, scores)
                    for estimator, value in zip(ESTIMATORS[:2], means, strict=True):
                        f1[choice, estimator][i, draw] = value - scores.mean()
                    if i in judged:
                        right = answered.verdicts[i]
                        estimates = estimators.estimate(chosen, right[chosen])
                        for estimator, value in zip(ESTIMATORS, estimates, strict=True):
                            judge[choice, estimator][i, draw] = value - right.mean()
    return LeftOut(judge, f1, tuple(groups))


def _means(strata: Strata, chosen: Indices, scores: Floats) -> list[float]:
    return [float(scores[chosen].mean()), weighted_mean(strata.weights[chosen], scores[chosen])]


def _choices(
    strata: Strata, model: ItemModel, stratified: Indices, draw: int
) -> Iterator[tuple[str, Indices]]:
    """Yield a subset by each of CHOICES; `stratified` (C, n) are the candidates of this draw."""
    rng = np.random.default_rng(draw)
    yield CHOICES[0], strata.simple(rng)
    yield CHOICES[1], stratified[0].astype(np.intp)
    yield CHOICES[2], strata.by_difficulty(rng, model.difficulties)
    yield CHOICES[3], strata.balanced(stratified, model.curves[:, _ABILITIES])
