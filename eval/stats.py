"""Intervals of mean scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class ClusterBootstrap:
    """Resamples conversations, then questions within each: questions of one are not independent.

    Two-stage cluster bootstrap with percentile intervals (Davison and Hinkley, 1997, section 3.8).
    One set of resamples serves every metric of the same questions. With a single conversation only
    the questions vary, and the interval says nothing of other conversations.
    """

    def __init__(self, clusters: Sequence[str], seed: int, resamples: int = 1000) -> None:
        """`clusters`: the conversation of each of n questions, n at least 1."""
        rng = np.random.default_rng(seed)
        names, member = np.unique(np.asarray(clusters), return_inverse=True)
        share = np.full(len(names), 1 / len(names))
        drawn = rng.multinomial(len(names), share, size=resamples)
        # How often each question stands in each resample, shape (resamples, n).
        self._counts = np.zeros((resamples, len(clusters)), dtype=np.float64)
        for cluster in range(len(names)):
            rows = np.flatnonzero(member == cluster)
            draws = drawn[:, cluster] * len(rows)
            self._counts[:, rows] = rng.multinomial(draws, np.full(len(rows), 1 / len(rows)))

    def interval(
        self, values: Sequence[float | None], level: float = 0.95
    ) -> tuple[float, float] | None:
        """Interval of the mean of the n `values` that are not None; None if all are."""
        data: NDArray[np.float64] = np.array(
            [np.nan if value is None else value for value in values], dtype=np.float64
        )
        known = ~np.isnan(data)
        if not known.any():
            return None
        weights = self._counts[:, known].sum(axis=1)
        drawn = weights > 0  # a resample may hold no question with a value
        means = (self._counts[:, known] @ data[known])[drawn] / weights[drawn]
        low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
        return float(low), float(high)
