"""Intervals of figures that are no means, such as kappa: any function of sums over items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eval.stats.quantiles import normal_quantile, t_quantile

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Figure:
    """A value over `n` items in `clusters` conversations, its standard error and its interval.

    `error`, `low` and `high` are nan where resamples do not settle them.
    """

    value: float
    error: float
    low: float
    high: float
    n: int
    clusters: int


def figure(
    features: Floats,
    clusters: Sequence[str],
    of: Callable[[Floats], Floats],
    seed: int = 0,
    resamples: int = 2000,
    level: float = 0.95,
) -> Figure:
    """`of` the summed `features` with its interval, as `eval.stats.bootstrap.ClusterBootstrap` has.

    features: (n, m), a row an item, n at least 1. `of` maps sums of shape (any, m) to (any,), nan
    where it has no value; such resamples are left out. Conversations are resampled whole, the
    standard error is widened for few of them, and t has C - 1 degrees of freedom; a single
    conversation resamples its items.
    """
    names, member = np.unique(np.asarray(clusters), return_inverse=True)
    rng = np.random.default_rng(seed)
    count = len(names)
    if count > 1:
        parts = np.zeros((count, features.shape[1]))
        np.add.at(parts, member, features)
        drawn = rng.multinomial(count, np.full(count, 1 / count), size=resamples)
    else:
        parts, times = np.unique(features, axis=0, return_counts=True)  # few kinds of items
        drawn = rng.multinomial(len(features), times / len(features), size=resamples)
    value = float(of(features.sum(axis=0, keepdims=True))[0])
    found = of(drawn @ parts)
    found = found[~np.isnan(found)]
    if len(found) < 2 or np.isnan(value):
        return Figure(value, np.nan, np.nan, np.nan, len(features), count)
    error = float(found.std(ddof=1))
    upper = 1 - (1 - level) / 2
    if count > 1:
        error *= float(np.sqrt(count / (count - 1)))
    reach = error * (t_quantile(upper, count - 1) if count > 1 else normal_quantile(upper))
    return Figure(value, error, value - reach, value + reach, len(features), count)
