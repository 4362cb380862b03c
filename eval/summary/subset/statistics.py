"""What the errors of estimates come to: how large, how sure, and what they allow to tell apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from eval.stats.interval import Interval
from eval.summary.subset.irt import Floats

_RESAMPLES = 2000


def paired(errors: Floats, baseline: Floats, groups: Sequence[str] | None, seed: int) -> Interval:
    """Return the mean of |errors| - |baseline|, both (S, draws), with its 95% interval.

    Both are of the same systems; below 0 the first is better.

    The interval resamples systems (whole `groups` (S) where they are given) and draws at once: both
    are samples (the crossed bootstrap: Owen, 2007, "The pigeonhole bootstrap"); percentiles.
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


def root_mean_square(errors: Floats) -> float:
    """Of all errors (S, draws)."""
    return float(np.sqrt((errors**2).mean()))


def reach(errors: Floats) -> float:
    """Half of a 95% interval of an estimate: the 95% quantile of the absolute `errors` (S, draws)
    of systems that were left out.
    """
    return float(np.quantile(np.abs(errors), 0.95))


def coverage(errors: Floats, groups: Sequence[str]) -> float:
    """Share of estimates whose interval holds the truth, the reach taken from the other groups."""
    member = np.asarray(groups)
    held = 0
    for name in dict.fromkeys(groups):
        others = member != name
        width = reach(errors[others])
        held += int((np.abs(errors[~others]) <= width).sum())
    return held / errors.size


def least_difference(errors: Floats, groups: Sequence[str]) -> float:
    """The 95% quantile of |error of i - error of j| over systems of different groups and draws.

    Two estimates on the same subset have to be further apart for their order to be sure.
    """
    member = np.asarray(groups)
    first, second = np.triu_indices(len(member), 1)
    other = member[first] != member[second]
    gaps = np.abs(errors[first[other]] - errors[second[other]])
    return float(np.quantile(gaps, 0.95))


def rank_correlation(errors: Floats, truth: Floats) -> float:
    """Spearman's rho of estimates and truth (S) over systems, the mean over draws."""
    own = _ranks(truth)
    found = [np.corrcoef(_ranks(truth + one), own)[0, 1] for one in errors.T]
    return float(np.mean(found))


def _ranks(values: Floats) -> Floats:
    """Ranks from 0; equals share their mean rank."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    ranks: NDArray[np.float64] = (last - (count + 1) / 2)[place]
    return ranks
