"""How far estimates from a subset are from the truth, for systems that had no part in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from tqdm import tqdm

from eval.studies.lite_subset.answers import Answered
from eval.studies.lite_subset.draw import Indices, Strata
from eval.summary.subset.estimators import ESTIMATORS, Estimators, weighted_mean
from eval.summary.subset.irt import Floats, ItemModel, fit

CHOICES = ("simple random", "stratified random", "difficulty steps", "balanced")
CANDIDATES = 200  # stratified draws of which `balanced` keeps one
_ABILITIES = slice(15, 56, 5)  # of GRID, -2 to 6: where subsets are balanced

Errors = Mapping[tuple[str, str], Floats]  # (choice, estimator) -> (S, draws): estimate - truth


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Errors of estimates of S systems, each left out of the model together with its group.

    `judge`: of the share of right answers, by each of CHOICES and ESTIMATORS, NaN for systems
    without verdicts. `f1`: of LoCoMo's F1, by mean and weighted mean. `groups` (S).
    """

    judge: Errors
    f1: Errors
    groups: tuple[str, ...]


def candidates(strata: Strata, draws: int, seed: int) -> list[Indices]:
    """For each draw the stratified subsets (CANDIDATES, n) of which `balanced` keeps one."""
    kept = np.uint16 if strata.total < 1 << 16 else np.intp
    return [
        strata.stratified(np.random.default_rng((seed, draw)), CANDIDATES).astype(kept)
        for draw in tqdm(range(draws), desc="draws", unit="draw", disable=None)
    ]


def balanced(strata: Strata, model: ItemModel, subsets: Indices) -> Indices:
    """The subset (n) of `subsets` (C, n) that is most like all questions to the model."""
    return strata.balanced(subsets, model.curves[:, _ABILITIES])


def leave_out(
    answered: Answered,
    groups: Sequence[str],
    strata: Strata,
    subsets: Sequence[Indices],
    label: str,
) -> LeftOut:
    """Fit and choose questions without a group of systems, then estimate their scores; for every
    group of `groups` (S), with a subset by each of CHOICES from each of `subsets` (see candidates).

    The random draws are the same for every group.
    """
    judged = set(answered.judged)
    size = (len(answered.systems), len(subsets))
    judge = {(c, e): np.full(size, np.nan) for c in CHOICES for e in ESTIMATORS}
    f1 = {(c, e): np.full(size, np.nan) for c in CHOICES for e in ESTIMATORS[:2]}
    for name in tqdm(list(dict.fromkeys(groups)), desc=label, unit="fit", disable=None):
        out = [i for i, group in enumerate(groups) if group == name]
        model = fit(answered.verdicts[[i for i in sorted(judged) if i not in out]])
        estimators = Estimators(strata.weights, model.curves)
        for draw, own in enumerate(subsets):
            for choice, chosen in _subsets(strata, model, own, draw):
                for i in out:
                    scores = answered.f1[i]
                    for estimator, value in zip(
                        ESTIMATORS[:2], _means(strata, chosen, scores), strict=True
                    ):
                        f1[choice, estimator][i, draw] = value - scores.mean()
                    if i in judged:
                        right = answered.verdicts[i]
                        found = estimators.estimate(chosen, right[chosen])
                        for estimator, value in zip(ESTIMATORS, found, strict=True):
                            judge[choice, estimator][i, draw] = value - right.mean()
    return LeftOut(judge, f1, tuple(groups))


def _means(strata: Strata, chosen: Indices, scores: Floats) -> list[float]:
    own = scores[chosen]
    return [float(own.mean()), weighted_mean(strata.weights[chosen], own)]


def _subsets(
    strata: Strata, model: ItemModel, own: Indices, draw: int
) -> Iterator[tuple[str, Indices]]:
    rng = np.random.default_rng(draw)
    yield CHOICES[0], strata.simple(rng)
    yield CHOICES[1], own[0].astype(np.intp)
    yield CHOICES[2], strata.by_difficulty(rng, model.difficulties)
    yield CHOICES[3], balanced(strata, model, own)
