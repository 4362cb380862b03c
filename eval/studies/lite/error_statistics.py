"""Error statistics of subset estimates: interval, coverage, smallest detectable difference."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eval.datasets.subset import Floats
from eval.stats.interval import Interval

_RESAMPLES = 2000


def paired(errors: Floats, baseline: Floats, groups: Sequence[str] | None, seed: int) -> Interval:
    """Return the mean of |errors| - |baseline|, both (S, draws), with its 95% interval.

    Both are of the same systems and draws; below 0 the first is better.
    The percentile interval resamples systems (whole `groups` (S) if given) and draws together, as
    both are samples (crossed bootstrap: Owen, 2007, "The pigeonhole bootstrap").
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
    member = np.asarray(groups)
    covered = 0
    for name in dict.fromkeys(groups):
        others = member != name
        width = reach(errors[others])
        covered += int((np.abs(errors[~others]) <= width).sum())
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
    expected = _ranks(truth)
    return float(np.mean([np.corrcoef(_ranks(truth + one), expected)[0, 1] for one in errors.T]))


def _ranks(values: Floats) -> Floats:
    """Ranks from 0; ties share their mean rank."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    ranks: Floats = (last - (count + 1) / 2)[place]
    return ranks
