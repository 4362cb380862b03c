"""Confidence intervals over questions that are grouped in conversations, and of proportions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
RESAMPLES = 1000  # of a bootstrap, by default
_ROWS, _CELLS = 64, 2**20  # of resamples in one product; full multiples of 64 rows, which BLAS adds
# up in the same order as all rows at once


@dataclass(frozen=True, slots=True)
class Interval:
    """A value over `n` items in `clusters` conversations, with its interval and standard error.

    `value` is nan where the statistic is undefined; `low`, `high` and `error` are nan where the
    resamples do not determine them. `n` and `clusters` are 0 where they do not apply.
    """

    value: float
    low: float
    high: float
    error: float = math.nan
    n: int = 0
    clusters: int = 0

    def within(self, least: float = 0.0, most: float = 1.0) -> Self:
        """Clip the ends (not the value) to the possible range of the statistic; nan stays nan."""
        low, high = (min(max(end, least), most) for end in (self.low, self.high))
        return replace(self, low=low, high=high)


class ClusterBootstrap:
    """Bootstrap that resamples whole conversations, as the questions of one are not independent.

    Interval: value +- t * SE * sqrt(C / (C - 1)), SE the standard deviation of the statistic over
    resamples of the C conversations with all their questions, t of C - 1 degrees of freedom
    (cluster bootstrap: Davison and Hinkley, 1997, section 3.8; the two corrections for few
    clusters: Cameron, Gelbach and Miller, 2008). Resampling questions within the drawn
    conversations as well would count their noise twice: `python -m eval.studies.coverage` shows the
    coverage of both. With a single conversation the questions are resampled and the normal
    quantile is used; such an interval does not generalise to other conversations.
    """

    def __init__(self, clusters: Sequence[str], seed: int, resamples: int = RESAMPLES) -> None:
        """`clusters`: the conversation of each of n questions, n at least 1."""
        names, self._member = np.unique(np.asarray(clusters), return_inverse=True)
        self._count = len(names)
        self._seed = seed
        self._resamples = resamples

    def mean(
        self, values: Sequence[float | None], level: float = 0.95, two_stage: bool = False
    ) -> Interval | None:
        """Return the mean of the n `values` that are not None, with its interval; None if all are.

        `two_stage` resamples questions within conversations too and takes percentiles.
        """
        data: Floats = np.array(values, dtype=np.float64)  # None becomes nan
        known = ~np.isnan(data)
        if not known.any():
            return None
        data = data[known]
        member, count = self._members(known)
        value = float(data.mean())
        if two_stage or count == 1:
            means = self._means_by_question(data, member, count)
        else:
            means = self._means_by_cluster(data, member, count)
        if two_stage:
            upper = 1 - (1 - level) / 2
            low, high = (float(q) for q in np.quantile(means, [1 - upper, upper]))
            return Interval(value, low, high, float(means.std(ddof=1)), len(data), count)
        return _interval(value, means, level, len(data), count)

    def of_sums(
        self, features: Floats, statistic: Callable[[Floats], Floats], level: float = 0.95
    ) -> Interval:
        """Return a statistic that is a function of sums over items, such as kappa.

        features: (n, m), one row per item. `statistic` maps sums of shape (any, m) to values of
        shape (any,), nan where it is undefined; such resamples are left out.
        """
        count = self._count
        drawn: NDArray[Any]
        if count > 1:
            parts = np.zeros((count, features.shape[1]))
            np.add.at(parts, self._member, features)
            drawn = _drawn(self._seed, self._resamples, count)
        else:
            parts, times = np.unique(features, axis=0, return_counts=True)  # few kinds of items
            rng = np.random.default_rng(self._seed)
            chances = times / len(features)
            drawn = rng.multinomial(len(features), chances, size=self._resamples)
        value = float(statistic(features.sum(axis=0, keepdims=True))[0])
        resampled = statistic(_product(drawn, parts))
        resampled = resampled[~np.isnan(resampled)]
        if len(resampled) < 2 or np.isnan(value):
            return Interval(value, math.nan, math.nan, math.nan, len(features), count)
        return _interval(value, resampled, level, len(features), count)

    def _members(self, known: NDArray[np.bool_]) -> tuple[NDArray[np.intp], int]:
        """Return the conversation of each `known` question, numbered in order of the names, and the
        number of these conversations.
        """
        if known.all():
            return self._member, self._count
        member = self._member[known]
        present = np.bincount(member, minlength=self._count) > 0
        return (np.cumsum(present) - 1)[member], int(present.sum())

    def _means_by_cluster(self, data: Floats, member: NDArray[np.intp], count: int) -> Floats:
        """Return means of resamples of whole conversations, shape (resamples,)."""
        drawn = _drawn(self._seed, self._resamples, count)
        sums = np.bincount(member, weights=data, minlength=count)
        sizes = np.bincount(member, minlength=count)
        return np.asarray(_product(drawn, sums) / _product(drawn, sizes))

    def _means_by_question(self, data: Floats, member: NDArray[np.intp], count: int) -> Floats:
        """Return means of resamples of conversations and of their questions, (resamples,)."""
        rng = np.random.default_rng(self._seed)
        drawn = rng.multinomial(count, np.full(count, 1 / count), size=self._resamples)
        sums = np.zeros(self._resamples)
        sizes = np.zeros(self._resamples)
        for cluster in range(count):
            values = data[member == cluster]
            draws = drawn[:, cluster] * len(values)
            sums += rng.multinomial(draws, np.full(len(values), 1 / len(values))) @ values
            sizes += draws
        return np.asarray(sums / sizes)


@lru_cache(maxsize=4)  # the columns of a cell mostly share one
def _drawn(seed: int, resamples: int, count: int) -> NDArray[np.uint16]:
    """Return how often each of `count` conversations is in each resample: (resamples, count)."""
    rng, chances = np.random.default_rng(seed), np.full(count, 1 / count)
    drawn = np.empty((resamples, count), dtype=np.uint16)
    for rows in _blocks(resamples, count):
        drawn[rows] = rng.multinomial(count, chances, size=len(drawn[rows]))
    drawn.flags.writeable = False
    return drawn


def _product(drawn: NDArray[Any], parts: NDArray[Any]) -> Floats:
    """Return drawn @ parts, of which only some rows become floats at a time."""
    blocks = _blocks(*drawn.shape)
    return np.concatenate([drawn[rows].astype(np.float64) @ parts for rows in blocks])


def _blocks(rows: int, columns: int) -> Iterator[slice]:
    """Yield slices of at most about _CELLS cells that cover all rows in order."""
    step = max(_CELLS // columns // _ROWS, 1) * _ROWS
    for start in range(0, rows, step):
        yield slice(start, start + step)


def _interval(value: float, resampled: Floats, level: float, n: int, count: int) -> Interval:
    """Return the interval of ClusterBootstrap from 2 or more `resampled` values."""
    error = float(resampled.std(ddof=1))
    if count > 1:
        error *= float(np.sqrt(count / (count - 1)))
    reach = error * critical_value(level, count)
    return Interval(value, value - reach, value + reach, error, n, count)


def critical_value(level: float, clusters: int) -> float:
    """Return the half width of a two-sided interval in standard errors.

    It is the quantile of Student's t with `clusters` - 1 degrees of freedom; for one cluster, that
    of the normal distribution.
    """
    upper = 1 - (1 - level) / 2
    if clusters < 2:
        return normal_quantile(upper)
    from scipy.special import stdtrit  # noqa: PLC0415 - takes a third of a second

    return float(stdtrit(clusters - 1, upper))


def normal_quantile(probability: float) -> float:
    """Return the quantile of the standard normal; `probability` strictly between 0 and 1."""
    return NormalDist().inv_cdf(probability)


def wilson(successes: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Return Wilson's score interval (1927) of `successes` in `n` independent trials, in 0 to 1.

    Raises ValueError unless 0 <= successes <= n and n >= 1.
    """
    if n < 1 or not 0 <= successes <= n:
        raise ValueError(f"wilson: {successes} of {n}")
    z = normal_quantile(1 - (1 - level) / 2)
    share = successes / n
    scale = 1 + z * z / n
    middle = (share + z * z / (2 * n)) / scale
    reach = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / scale
    return max(middle - reach, 0.0), min(middle + reach, 1.0)
