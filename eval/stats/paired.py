"""Two runs on the same questions: whether one is better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eval.stats.interval import ClusterBootstrap, Interval, normal_quantile

_POWER = 0.8


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean of paired differences, with everything needed to judge it.

    `p` is of the permutation test, not yet adjusted. `effect` is the mean over the standard
    deviation of the differences (Cohen's d_z; 0 where they do not vary). `detectable` is the least
    true difference that this comparison would find with a power of 80%.
    """

    estimate: Interval
    p: float
    effect: float
    detectable: float


def compare(
    differences: Sequence[float], clusters: Sequence[str], seed: int, resamples: int = 10_000
) -> Difference:
    """Judge paired differences (second run minus first, one a question, n of them, n >= 1)."""
    estimate = ClusterBootstrap(clusters, seed).mean(differences)
    if estimate is None:
        raise ValueError("compare: no difference to judge")
    return Difference(
        estimate,
        permutation_test(differences, seed, resamples),
        effect_size(differences),
        detectable(estimate),
    )


def effect_size(differences: Sequence[float]) -> float:
    """Cohen's (1988) d_z: mean over standard deviation (n - 1); 0 where nothing varies."""
    data = np.asarray(differences, dtype=np.float64)
    if len(data) < 2 or np.ptp(data) <= 1e-12 * np.abs(data).max():
        return 0.0  # equal values have a standard deviation of some 1e-17 to a computer
    return float(data.mean() / data.std(ddof=1))


def permutation_test(differences: Sequence[float], seed: int, resamples: int = 10_000) -> float:
    """Two-sided p of mean difference 0 by flipping signs at random (Smucker et al., 2007).

    (1 + flips at least as far from 0 as the data) / (1 + resamples): never 0. Tests that the two
    runs are exchangeable on these questions; it does not speak for other conversations, which the
    interval does.
    """
    data = np.asarray([d for d in differences if d != 0], dtype=np.float64)  # ties never matter
    if len(data) == 0:
        return 1.0
    rng = np.random.default_rng(seed)
    observed = abs(float(data.sum()))
    as_far = 0
    for start in range(0, resamples, 500):  # 500 at a time bounds the memory
        rows = min(500, resamples - start)
        signs = rng.integers(0, 2, size=(rows, len(data)), dtype=np.int8) * 2 - 1
        # Sums of the same numbers in another order differ in the last digits.
        as_far += int((np.abs(signs @ data) >= observed - 1e-9).sum())
    return (1 + as_far) / (1 + resamples)


def mcnemar(only_first: int, only_second: int) -> float:
    """Exact two-sided p of McNemar's test (1947): a binomial over the discordant questions.

    `only_first` and `only_second` count the questions that one run alone got right.
    """
    n = only_first + only_second
    if n == 0:
        return 1.0
    from scipy.special import bdtr  # noqa: PLC0415 - takes a third of a second

    return float(min(1.0, 2 * bdtr(min(only_first, only_second), n, 0.5)))


def detectable(estimate: Interval) -> float:
    """Least true mean that a two-sided 5% test finds with 80% power: (reach + z_.80) * SE.

    `reach` is the half width of the 95% interval in standard errors, so that few conversations
    count as few (the usual 2.8 * SE, with Student's t for the normal).
    """
    reach = estimate.high - estimate.value
    return reach + normal_quantile(_POWER) * estimate.error


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's (1979) step-down adjustment; as many values in the order given, each at most 1."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, i in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = highest
    return adjusted
