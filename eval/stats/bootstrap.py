"""Intervals of means over questions that come in conversations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eval.stats.quantiles import normal_quantile, t_quantile


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over `n` values in `clusters` conversations, its standard error and its interval."""

    mean: float
    error: float
    low: float
    high: float
    n: int
    clusters: int


class ClusterBootstrap:
    """Resamples conversations, for the questions of one are not independent.

    Interval: mean +- t * SE * sqrt(C / (C - 1)), SE the standard deviation of the mean over
    resamples of the C conversations with all their questions, t of C - 1 degrees of freedom
    (cluster bootstrap: Davison and Hinkley, 1997, section 3.8; the two corrections for few
    clusters: Cameron, Gelbach and Miller, 2008). Resampling questions within the drawn
    conversations as well would count their noise twice: `python -m eval.studies.coverage` shows the
    coverage of both. A single conversation resamples its questions, uses the normal quantile, and
    says nothing of other conversations.
    """

    def __init__(self, clusters: Sequence[str], seed: int, resamples: int = 1000) -> None:
        """`clusters`: the conversation of each of n questions, n at least 1."""
        self._clusters = np.asarray(clusters)
        self._seed = seed
        self._resamples = resamples

    def estimate(
        self, values: Sequence[float | None], level: float = 0.95, two_stage: bool = False
    ) -> Estimate | None:
        """The mean of the n `values` that are not None with its interval; None if all are.

        `two_stage` resamples questions within conversations too and takes percentiles.
        """
        data: NDArray[np.float64] = np.array(
            [np.nan if value is None else value for value in values], dtype=np.float64
        )
        known = ~np.isnan(data)
        if not known.any():
            return None
        return self._of(data[known], self._clusters[known], level, two_stage)

    def _of(
        self, data: NDArray[np.float64], clusters: NDArray[np.str_], level: float, two_stage: bool
    ) -> Estimate:
        names, member = np.unique(clusters, return_inverse=True)
        count = len(names)
        mean = float(data.mean())
        upper = 1 - (1 - level) / 2
        if two_stage or count == 1:
            means = self._by_question(data, member, count)
        else:
            means = self._by_cluster(data, member, count)
        error = float(means.std(ddof=1))
        if two_stage:
            low, high = (float(q) for q in np.quantile(means, [1 - upper, upper]))
            return Estimate(mean, error, low, high, len(data), count)
        if count > 1:
            error *= float(np.sqrt(count / (count - 1)))
        reach = error * (t_quantile(upper, count - 1) if count > 1 else normal_quantile(upper))
        return Estimate(mean, error, mean - reach, mean + reach, len(data), count)

    def _by_cluster(
        self, data: NDArray[np.float64], member: NDArray[np.intp], count: int
    ) -> NDArray[np.float64]:
        """Means of resamples of whole conversations, shape (resamples,)."""
        rng = np.random.default_rng(self._seed)
        drawn = rng.multinomial(count, np.full(count, 1 / count), size=self._resamples)
        sums = np.bincount(member, weights=data, minlength=count)
        sizes = np.bincount(member, minlength=count)
        return np.asarray((drawn @ sums) / (drawn @ sizes))

    def _by_question(
        self, data: NDArray[np.float64], member: NDArray[np.intp], count: int
    ) -> NDArray[np.float64]:
        """Means of resamples of conversations and of the questions within, (resamples,)."""
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
