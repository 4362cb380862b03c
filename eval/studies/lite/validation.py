"""Errors of subset estimates on systems that were left out of the model's fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from tqdm import tqdm

from eval.datasets.subset import Floats
from eval.metrics.stats.interval import Interval
from eval.studies.lite.answers import AnsweredSystem
from eval.studies.lite.item_response import ItemModel, fit
from eval.studies.lite.sampling import Indices, Strata
from eval.summary.subset_score import p_irt, weighted_mean

CHOICES = ("simple random", "stratified random", "difficulty steps", "balanced")
ESTIMATORS = ("mean", "weighted mean", "p-IRT", "gp-IRT")
_ABILITIES = slice(15, 56, 5)  # of GRID, -2 to 6: the abilities at which subsets are balanced

_RESAMPLES = 2000
Errors = Mapping[tuple[str, str], Floats]  # (choice, estimator) -> (S, draws): estimate - truth


def estimate(weights: Floats, curves: Floats, chosen: Indices, answers: Floats) -> list[float]:
    """Estimate the mean score on Q questions by each of ESTIMATORS.

    `weights` (Q,): share of all questions a chosen one represents; `curves` (Q, T) of the fitted
    model; `answers` (n,) to the questions `chosen` (n,). gp-IRT (generalised p-IRT: Maia Polo et
    al., 2024) is halfway between weighted mean and p-IRT: with so few systems an estimate of the
    two shares would be noise.
    """
    seen = curves[chosen]
    rest = curves.sum(0) - seen.sum(0)
    model = p_irt(seen, rest, len(curves) - len(chosen), answers)
    weighted = weighted_mean(weights[chosen], answers)
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
    answered: AnsweredSystem,
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
        for draw, stratified in enumerate(subsets):
            for choice, chosen in _choices(strata, model, stratified, draw):
                for i in out:
                    scores = answered.f1[i]
                    weighted = weighted_mean(strata.weights[chosen], scores[chosen])
                    f1[choice, "mean"][i, draw] = scores[chosen].mean() - scores.mean()
                    f1[choice, "weighted mean"][i, draw] = weighted - scores.mean()
                    if i in judged:
                        right = answered.verdicts[i]
                        found = estimate(strata.weights, model.curves, chosen, right[chosen])
                        for estimator, value in zip(ESTIMATORS, found, strict=True):
                            judge[choice, estimator][i, draw] = value - right.mean()
    return LeftOut(judge, f1, tuple(groups))


def _choices(
    strata: Strata, model: ItemModel, stratified: Indices, draw: int
) -> Iterator[tuple[str, Indices]]:
    """Yield a subset by each of CHOICES; `stratified` (C, n) are the candidates of this draw."""
    rng = np.random.default_rng(draw)
    yield CHOICES[0], strata.simple(rng)
    yield CHOICES[1], stratified[0].astype(np.intp)
    yield CHOICES[2], strata.by_difficulty(rng, model.difficulties)
    yield CHOICES[3], strata.balanced(stratified, model.curves[:, _ABILITIES])


def paired(errors: Floats, baseline: Floats, groups: Sequence[str] | None, seed: int) -> Interval:
    """Return the mean of |errors| - |baseline|, both (S, draws) of the same systems and draws.

    The mean is returned with its 95% interval; below 0 the first is better. The percentile interval
    resamples systems (whole `groups` (S) if given) and draws together, as both are samples (crossed
    bootstrap: Owen, 2007, "The pigeonhole bootstrap").
    """
    difference = np.abs(errors) - np.abs(baseline)
    systems, draws = difference.shape
    rng = np.random.default_rng(seed)
    names, member = np.unique(groups or np.arange(systems).astype(str), return_inverse=True)
    means = np.empty(_RESAMPLES)
    for one in range(_RESAMPLES):
        times = np.bincount(rng.integers(0, len(names), len(names)), minlength=len(names))[member]
        share = np.bincount(rng.integers(0, draws, draws), minlength=draws) / draws
        means[one] = times @ (difference @ share) / times.sum()
    low, high = np.quantile(means, [0.025, 0.975])
    return Interval(float(difference.mean()), float(low), float(high))


def reach(errors: Floats) -> float:
    """Half width of an estimate's 95% interval: the 95% quantile of |`errors`| (S, draws) of
    systems that were left out.
    """
    return float(np.quantile(np.abs(errors), 0.95))


def coverage(errors: Floats, groups: Sequence[str]) -> float:
    """Share of estimates whose interval contains the truth, its reach from the other groups."""
    covered = 0
    for name in dict.fromkeys(groups):
        others = np.asarray(groups) != name
        covered += int((np.abs(errors[~others]) <= reach(errors[others])).sum())
    return covered / errors.size


def least_difference(errors: Floats, groups: Sequence[str]) -> float:
    """95% quantile of |error of i - error of j| over pairs of systems of different groups.

    Two estimates on the same subset have to differ by more for their order to be certain.
    """
    member = np.asarray(groups)
    first, second = np.triu_indices(len(member), 1)
    other = member[first] != member[second]
    gaps = np.abs(errors[first[other]] - errors[second[other]])
    return float(np.quantile(gaps, 0.95))


def rank_correlation(errors: Floats, truth: Floats) -> float:
    """Spearman's rho of estimates and `truth` (S,) over systems, averaged over draws."""
    from scipy.stats import rankdata  # noqa: PLC0415 - takes a second

    expected = rankdata(truth)
    return float(np.mean([np.corrcoef(rankdata(truth + one), expected)[0, 1] for one in errors.T]))
