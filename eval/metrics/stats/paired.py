"""Paired tests of two runs on the same questions."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eval.metrics.lean_import import import_alone
from eval.metrics.stats.interval import (
    ClusterBootstrap,
    Floats,
    Interval,
    critical_value,
    normal_quantile,
)

_POWER = 0.8


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean of paired differences with its interval, p value, effect size and power.

    `p` is from the permutation test, unadjusted. `effect` is Cohen's d_z (0 if differences do not
    vary). `detectable` is the least true difference that this comparison finds with 80% power.
    """

    estimate: Interval
    p: float
    effect: float
    detectable: float


def compare(
    differences: Sequence[float],
    clusters: Sequence[str],
    seed: int,
    resamples: int = 10_000,
    most: float = 1.0,
) -> Difference:
    """Test paired differences, second run minus first, one per question, shape (n,), n >= 1.

    The interval is that of ClusterBootstrap, clipped to the possible differences -`most` to `most`.
    """
    estimate = ClusterBootstrap(clusters, seed).mean(differences)
    if estimate is None:
        raise ValueError("compare: no difference to test")
    return Difference(
        estimate.within(-most, most),
        permutation_test(differences, seed, resamples),
        effect_size(differences),
        detectable(estimate),
    )


def effect_size(differences: Sequence[float]) -> float:
    """Return Cohen's (1988) d_z: mean / standard deviation (n - 1); 0 if nothing varies."""
    data = np.asarray(differences, dtype=np.float64)
    if len(data) < 2 or np.ptp(data) <= 1e-12 * np.abs(data).max():
        return 0.0  # rounding gives equal values a standard deviation of about 1e-17
    return float(data.mean() / data.std(ddof=1))


def permutation_test(differences: Sequence[float], seed: int, resamples: int = 10_000) -> float:
    """Return the two-sided p of mean difference 0 by random sign flips (Smucker et al., 2007).

    (1 + flips at least as far from 0 as the data) / (1 + resamples): never 0. It tests that the two
    runs are exchangeable on these questions; unlike the interval, it does not generalise to other
    conversations.
    """
    data = np.asarray([d for d in differences if d != 0], dtype=np.float64)  # zeros change no sum
    return permutation_tests(data[np.newaxis], seed, resamples)[0]


def permutation_tests(differences: Floats, seed: int, resamples: int = 10_000) -> list[float]:
    """Return the p of permutation_test for each row of `differences`, shape (tests, n), by the same
    flips for all rows. A 0 changes no sum: it fills the place of a question that is not in a pair.
    """
    tests, n = differences.shape
    rng = np.random.default_rng(seed)
    observed = np.abs(differences.sum(axis=1))
    as_far = np.zeros(tests, dtype=np.int64)
    for start in range(0, resamples, 500):  # 500 at a time bounds the memory
        rows = min(500, resamples - start)
        signs = rng.integers(0, 2, size=(rows, n), dtype=np.int8) * 2 - 1
        # The order of summation changes the last digits.
        as_far += (np.abs(signs @ differences.T) >= observed - 1e-9).sum(axis=0)
    return [float(p) for p in (1 + as_far) / (1 + resamples)]


def mcnemar(only_first: int, only_second: int) -> float:
    """Return the exact two-sided p of McNemar's test (1947): a binomial over discordant questions.

    `only_first` and `only_second` count the questions that only that run answered right.
    """
    n = only_first + only_second
    if n == 0:
        return 1.0
    bdtr = import_alone("scipy.special._ufuncs", "bdtr", "scipy.special")
    return float(min(1.0, 2 * bdtr(min(only_first, only_second), n, 0.5)))


def detectable(estimate: Interval) -> float:
    """Return the least true mean that a two-sided 5% test finds with 80% power.

    (t + z_.80) * SE, `t` the half width of the 95% interval in standard errors before it is clipped
    to its possible range: the usual 2.8 * SE with Student's t, which accounts for the number of
    conversations.
    """
    reach = critical_value(0.95, estimate.degrees) + normal_quantile(_POWER)
    return reach * estimate.error


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p values after Holm's (1979) step-down adjustment, in the same order, at most 1."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, i in enumerate(order):
        adjusted[i] = highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[i]))
    return adjusted
