"""Confidence intervals over questions that are grouped in conversations."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from eval.metrics.lean_import import import_alone

Floats = NDArray[np.float64]
_ROWS, _CELLS = 64, 2**20  # of resamples in one product; full multiples of 64 rows, which BLAS adds
# up in the same order as all rows at once


@lru_cache(maxsize=4)  # the columns of a cell mostly share one
def drawn(seed: int, resamples: int, count: int) -> NDArray[np.uint16]:
    """Return how often each of `count` conversations is in each resample: (resamples, count)."""
    rng, chances = np.random.default_rng(seed), np.full(count, 1 / count)
    times = np.empty((resamples, count), dtype=np.uint16)
    for rows in _blocks(resamples, count):
        times[rows] = rng.multinomial(count, chances, size=len(times[rows]))
    times.flags.writeable = False
    return times


def product(times: NDArray[Any], parts: NDArray[Any]) -> Floats:
    """Return times @ parts, of which only some rows become floats at a time."""
    blocks = _blocks(*times.shape)
    return np.concatenate([times[rows].astype(np.float64) @ parts for rows in blocks])


def sums_within(features: Floats, strata: NDArray[np.intp], seed: int, resamples: int) -> Floats:
    """Return sums of resamples of the items within each stratum, shape (resamples, m).

    features: (n, m), one row per item; strata: (n,), numbered from 0.
    """
    rng = np.random.default_rng(seed)
    sums = np.zeros((resamples, features.shape[1]))
    for stratum in range(int(strata.max()) + 1):
        items = features[strata == stratum]
        kinds, times = np.unique(items, axis=0, return_counts=True)  # few kinds of items
        sums += rng.multinomial(len(items), times / len(items), size=resamples) @ kinds
    return sums


def _blocks(rows: int, columns: int) -> Iterator[slice]:
    """Yield slices of at most about _CELLS cells that cover all rows in order."""
    step = max(_CELLS // columns // _ROWS, 1) * _ROWS
    for start in range(0, rows, step):
        yield slice(start, start + step)


RESAMPLES = 1000  # of a bootstrap, by default
FEWEST = 5  # conversations that show how conversations differ
_ONLY = "too few to generalise to others"


@dataclass(frozen=True, slots=True)
class Interval:
    """A value over `n` items in `clusters` conversations, with its interval and standard error.

    `value` is nan where the statistic is undefined; `low`, `high` and `error` are nan where the
    resamples do not determine them. `n` and `clusters` are 0 where they do not apply. `degrees` of
    freedom: of the t quantile, 0 for the normal one. Of fewer than FEWEST `clusters` the interval
    is over questions: see `scope`.
    """

    value: float
    low: float
    high: float
    error: float = math.nan
    n: int = 0
    clusters: int = 0
    degrees: int = 0

    def within(self, least: float = 0.0, most: float = 1.0) -> Self:
        """Clip the ends (not the value) to the possible range of the statistic; nan stays nan."""
        low, high = (min(max(end, least), most) for end in (self.low, self.high))
        return replace(self, low=low, high=high)

    def shifted(self, by: float) -> Self:
        """Add a constant to the value and the ends."""
        return replace(self, value=self.value + by, low=self.low + by, high=self.high + by)


class ClusterBootstrap:
    """Bootstrap that resamples whole conversations, as the questions of one are not independent.

    Interval: value +- t * SE * sqrt(C / (C - 1)), SE the standard deviation of the statistic over
    resamples of the C conversations with all their questions, t of C - 1 degrees of freedom
    (cluster bootstrap: Davison and Hinkley, 1997, section 3.8; the two corrections for few
    clusters: Cameron, Gelbach and Miller, 2008). Resampling questions within the drawn
    conversations as well would count their noise twice.

    Fewer than FEWEST conversations do not show how conversations differ. They are then fixed
    strata: questions are resampled within each, which keeps its number of questions (Davison and
    Hinkley, section 3.2). Interval: value +- t * SE * sqrt(N / (N - S)), t of N - S degrees of
    freedom, N questions in S strata. For a mean, the limit of SE * sqrt(N / (N - S)) for many
    resamples is s / sqrt(N), s^2 the pooled variance within strata, and is taken instead of
    resamples (Cochran, 1977, section 5.4). Conversations with one question show no
    variance: they form one stratum (collapsed strata: Cochran, section 5A.12), a single one with
    the smallest other conversation. Such an interval is for other questions on the same
    conversations and does not generalise to other conversations.
    """

    def __init__(self, clusters: Sequence[str], seed: int, resamples: int = RESAMPLES) -> None:
        """`clusters`: the conversation of each of n questions, n at least 1."""
        names, self._member = np.unique(np.asarray(clusters), return_inverse=True)
        self._count = len(names)
        self._seed = seed
        self._resamples = resamples

    def mean(self, values: Sequence[float | None], level: float = 0.95) -> Interval | None:
        """Return the mean of the n `values` that are not None and its interval; None if all are."""
        data: Floats = np.array(values, dtype=np.float64)  # None becomes nan
        mask = ~np.isnan(data)
        if not mask.any():
            return None
        data = data[mask]
        member, count = self._members(mask)
        value = float(data.mean())
        if count < FEWEST:
            error, degrees = _within_strata(data, _strata(member))
        else:
            means = self._means_by_cluster(data, member, count)
            error, degrees = _over_clusters(means, count)
        return _interval(value, error, level, degrees, len(data), count)

    def of_sums(
        self, features: Floats, statistic: Callable[[Floats], Floats], level: float = 0.95
    ) -> Interval:
        """Return a statistic that is a function of sums over items, such as kappa.

        features: (n, m), one row per item. `statistic` maps sums of shape (any, m) to values of
        shape (any,), nan where it is undefined; such resamples are left out.
        """
        value = float(statistic(features.sum(axis=0, keepdims=True))[0])
        return self._of_resamples(value, statistic(self.sums(features)), level)

    def of_items(
        self, statistic: Callable[[NDArray[np.intp]], float], level: float = 0.95
    ) -> Interval:
        """Return a statistic of whole samples, such as a percentile.

        `statistic` maps the rows of a sample, of which one may occur several times, to its value,
        nan where it is undefined; such resamples are left out.
        """
        value = float(statistic(np.arange(len(self._member))))
        return self._of_resamples(value, np.array([*map(statistic, self._samples())]), level)

    def _samples(self) -> Iterator[NDArray[np.intp]]:
        """Yield the rows of each resample."""
        if self._count < FEWEST:
            strata = _strata(self._member)
            rng = np.random.default_rng(self._seed)
            rows = [np.flatnonzero(strata == stratum) for stratum in range(int(strata.max()) + 1)]
            for _ in range(self._resamples):
                yield np.concatenate([rng.choice(of, len(of)) for of in rows])
            return
        for times in drawn(self._seed, self._resamples, self._count):
            yield np.repeat(np.arange(len(self._member)), times[self._member])

    def _of_resamples(self, value: float, resampled: Floats, level: float) -> Interval:
        """Return a statistic of all n items with its values in the resamples, shape (resamples,),
        of which those that are nan are left out.
        """
        count, n = self._count, len(self._member)
        resampled = resampled[~np.isnan(resampled)]
        if len(resampled) < 2 or np.isnan(value) or n == 1:
            return Interval(value, math.nan, math.nan, math.nan, n, count)
        if count < FEWEST:
            degrees = n - int(_strata(self._member).max()) - 1
            error = float(resampled.std(ddof=1)) * math.sqrt(n / degrees)
        else:
            error, degrees = _over_clusters(resampled, count)
        return _interval(value, error, level, degrees, n, count)

    def sums(self, features: Floats) -> Floats:
        """Return the sums of `features` (n, m), one row per item, in each resample: (resamples, m).

        All columns, and all calls with the same seed, have the same draws.
        """
        if self._count < FEWEST:
            return sums_within(features, _strata(self._member), self._seed, self._resamples)
        parts = np.zeros((self._count, features.shape[1]))
        np.add.at(parts, self._member, features)
        return product(drawn(self._seed, self._resamples, self._count), parts)

    def _members(self, mask: NDArray[np.bool_]) -> tuple[NDArray[np.intp], int]:
        """Return the conversation of each question in `mask`, numbered in order of the names, and
        the number of these conversations.
        """
        if mask.all():
            return self._member, self._count
        member = self._member[mask]
        present = np.bincount(member, minlength=self._count) > 0
        return (np.cumsum(present) - 1)[member], int(present.sum())

    def _means_by_cluster(self, data: Floats, member: NDArray[np.intp], count: int) -> Floats:
        """Return means of resamples of whole conversations, shape (resamples,)."""
        times = drawn(self._seed, self._resamples, count)
        sums = np.bincount(member, weights=data, minlength=count)
        sizes = np.bincount(member, minlength=count)
        return np.asarray(product(times, sums) / product(times, sizes))


def _strata(member: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the stratum of each question, numbered from 0, of the conversation `member` (n,) of
    each: the conversation, where it has two or more questions; see ClusterBootstrap.
    """
    sizes = np.bincount(member)
    stratum = np.arange(len(sizes))
    alone = np.flatnonzero(sizes == 1)
    stratum[alone] = len(sizes)
    if len(alone) == 1 and len(sizes) > 1:
        sizes[alone] = len(member)
        stratum[sizes.argmin()] = len(sizes)
    return np.asarray(np.unique(stratum[member], return_inverse=True)[1])


def _within_strata(data: Floats, strata: NDArray[np.intp]) -> tuple[float, int]:
    """Return the standard error of the mean of `data` (n,) from its pooled variance within `strata`
    (n,), and the degrees of freedom; both 0 for a single question.
    """
    sizes = np.bincount(strata)
    means = np.bincount(strata, weights=data) / sizes
    degrees = len(data) - len(sizes)
    if degrees == 0:
        return 0.0, 0
    squares = float(((data - means[strata]) ** 2).sum())
    return math.sqrt(squares / degrees / len(data)), degrees


def _over_clusters(resampled: Floats, count: int) -> tuple[float, int]:
    """Return the standard error, corrected for few clusters, and the degrees of freedom."""
    return float(resampled.std(ddof=1)) * math.sqrt(count / (count - 1)), count - 1


def _interval(
    value: float, error: float, level: float, degrees: int, n: int, count: int
) -> Interval:
    reach = error * critical_value(level, degrees)
    return Interval(value, value - reach, value + reach, error, n, count, degrees)


def scope(clusters: Iterable[int]) -> str:
    """Return what 95% intervals of values over these numbers of conversations are over, in words
    that follow "interval" or "intervals"; a number of 0 is left out.
    """
    counts = sorted({count for count in clusters if count > 0})
    few = [count for count in counts if count < FEWEST]
    if not few:
        return "over conversations"
    if few != counts:
        return f"over conversations; of fewer than {FEWEST}, {_ONLY}, over their questions"
    numbers = f"{few[0]}" if len(few) == 1 else f"{few[0]} to {few[-1]}"
    where = ", depending on the row" if len(few) > 1 else ""
    plural = "" if few == [1] else "s"
    return f"over the questions of {numbers} conversation{plural}{where}, {_ONLY}"


@lru_cache(maxsize=256)
def critical_value(level: float, degrees: int) -> float:
    """Return the half width of a two-sided interval in standard errors.

    It is the quantile of Student's t with `degrees` of freedom; for 0, that of the normal
    distribution.
    """
    upper = 1 - (1 - level) / 2
    if degrees < 1:
        return normal_quantile(upper)
    stdtrit = import_alone("scipy.special._ufuncs", "stdtrit", "scipy.special")
    return float(stdtrit(degrees, upper))


def normal_quantile(probability: float) -> float:
    """Return the quantile of the standard normal; `probability` strictly between 0 and 1."""
    return NormalDist().inv_cdf(probability)
