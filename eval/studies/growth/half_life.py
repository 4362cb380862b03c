"""The half-life of recall: by how many doublings of the store it halves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from eval.metrics.stats.interval import ClusterBootstrap, Interval
from eval.metrics.stats.resamples import Floats

_GRID = np.linspace(-2.0, 6.0, 41)  # halvings per doubling that are tried first
_ZOOMS = 4  # steps that divide the distance of the grid's points by 20


@dataclass(frozen=True, slots=True)
class Decay:
    """The curve recall(n) = start * 2 ** (-rate * log2(n / n0)), n0 the smallest store.

    `rate`: halvings of recall per doubling of the store, with its 95% interval. `residual`: the
    largest distance of a mean recall from the curve. `doublings`: from the smallest to the largest
    store; a longer half-life is an extrapolation.
    """

    start: float
    rate: Interval
    residual: float
    doublings: float

    @property
    def half_life(self) -> Interval | None:
        """Doublings of the store until recall halves, 1 / rate, and the interval whose ends are
        those of the rate, inverted; None where the interval of the rate contains 0 or is unknown.
        """
        if not self.rate.low > 0:
            return None
        low, high = 1 / self.rate.high, 1 / self.rate.low
        return replace(self.rate, value=1 / self.rate.value, low=low, high=high, error=math.nan)

    @property
    def loss(self) -> Interval:
        """The share of recall that a doubling of the store costs, 1 - 2 ** -rate."""
        value, low, high = (
            1 - 2.0**-rate for rate in (self.rate.value, self.rate.low, self.rate.high)
        )
        return replace(self.rate, value=value, low=low, high=high, error=math.nan)


def fit(
    memories: Floats, recall: Floats, conversations: Sequence[str], seed: int, resamples: int
) -> Decay:
    """Fit the curve to the mean recall at each size by least squares.

    memories, recall: (questions, sizes), sizes ascending, at least two: memories in the store of
    the question, and its recall. `conversations` (questions): those that the interval of
    ClusterBootstrap resamples; `seed`, `resamples`: of it. A curve through recall of 0 alone has no
    rate: nan.
    """
    sizes = recall.shape[1]
    doublings = np.log2(memories / memories[:, :1])
    features = np.hstack([doublings, recall, np.ones((len(recall), 1))])

    def rates(sums: Floats) -> Floats:
        means = sums[:, :-1] / sums[:, -1:]
        return _rates(means[:, :sizes], means[:, sizes:])

    rate = ClusterBootstrap(conversations, seed, resamples).of_sums(features, rates)
    across, means = doublings.mean(axis=0), recall.mean(axis=0)
    curve = 2.0 ** (-rate.value * across)
    start = float(curve @ means / (curve @ curve))
    return Decay(start, rate, float(np.abs(means - start * curve).max()), float(across[-1]))


def _rates(across: Floats, means: Floats) -> Floats:
    """Return the least-squares rate (r,) of each of r curves through means (r, sizes) at doublings
    `across` (r, sizes); nan where all means are 0.
    """
    steps, best = _GRID, np.zeros(len(means))
    for _ in range(_ZOOMS):
        tried = best[:, None] + steps
        curves = 2.0 ** (-tried[:, :, None] * across[:, None, :])
        # The best start of a curve is a projection, so its squares are |y|^2 - (c.y)^2 / |c|^2.
        explained = np.einsum("rgs,rs->rg", curves, means) ** 2 / (curves**2).sum(axis=2)
        best = np.take_along_axis(tried, explained.argmax(axis=1)[:, None], axis=1)[:, 0]
        steps = steps / 20
    return np.where((means > 0).any(axis=1), best, np.nan)
