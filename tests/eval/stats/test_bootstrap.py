"""Standard errors and intervals over conversations against closed forms, and their coverage."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest

from eval.stats.interval import ClusterBootstrap, Interval, critical_value, normal_quantile

CONVERSATIONS = [str(i) for i in range(10)]


def estimate(
    clusters: list[str], values: list[float | None], seed: int = 0, resamples: int = 1000
) -> Interval:
    found = ClusterBootstrap(clusters, seed, resamples).mean(values)
    assert found is not None
    return found


def equal_sizes() -> tuple[list[str], list[float | None]]:
    """10 conversations of 20 questions whose means differ."""
    rng = np.random.default_rng(0)
    values = rng.normal(rng.normal(0.4, 0.2, 10), 0.3, (20, 10)).T
    return [name for name in CONVERSATIONS for _ in range(20)], values.ravel().tolist()


def test_equal_sizes_give_the_standard_error_of_the_conversations_means() -> None:
    clusters, values = equal_sizes()
    means = np.reshape(np.array(values, dtype=float), (10, 20)).mean(axis=1)
    error = means.std(ddof=1) / np.sqrt(10)
    found = estimate(clusters, values, resamples=20_000)
    assert found.value == pytest.approx(means.mean())
    assert found.error == pytest.approx(error, rel=0.02)
    reach = critical_value(0.95, 9) * found.error
    assert (found.low, found.high) == pytest.approx((found.value - reach, found.value + reach))
    assert (found.n, found.clusters) == (200, 10)


def test_unequal_sizes_weigh_conversations_by_their_questions() -> None:
    found = estimate(["a"] * 3 + ["b"], [1.0, 1.0, 1.0, 0.0])
    assert found.value == pytest.approx(0.75)


def test_unequal_sizes_give_the_linearised_error_of_a_ratio() -> None:
    # Sizes vary as in LoCoMo; sqrt(C / (C - 1) * sum (sum_c - mean * n_c)^2) / n (Cochran, 1977).
    rng = np.random.default_rng(2)
    sizes = rng.integers(80, 200, 10)
    values = [rng.random(size) * level for size, level in zip(sizes, rng.random(10), strict=True)]
    mean = np.concatenate(values).mean()
    spread = sum((own.sum() - mean * len(own)) ** 2 for own in values)
    error = np.sqrt(10 / 9 * spread) / sizes.sum()
    flat = np.concatenate(values).tolist()
    found = estimate(np.repeat(CONVERSATIONS, sizes).tolist(), flat, resamples=20_000)
    assert found.error == pytest.approx(error, rel=0.05)


def test_one_conversation_has_the_standard_error_of_its_questions() -> None:
    values = np.random.default_rng(3).random(400).tolist()
    found = estimate(["a"] * 400, values)
    assert found.error == pytest.approx(float(np.std(values, ddof=1) / 20))
    assert found.high - found.value == pytest.approx(critical_value(0.95, 399) * found.error)
    assert found.clusters == 1


def test_is_the_same_by_seed_and_another_by_another() -> None:
    clusters, values = equal_sizes()
    assert estimate(clusters, values, seed=7) == estimate(clusters, values, seed=7)
    assert estimate(clusters, values, seed=7) != estimate(clusters, values, seed=8)


def test_none_is_as_if_it_were_not_there() -> None:
    clusters, values = equal_sizes()
    more = estimate([*clusters, "0", "unanswered"], [*values, None, None])
    assert more == estimate(clusters, values)
    assert ClusterBootstrap(["a"], 0).mean([None]) is None


@pytest.mark.parametrize("clusters", [["a"] * 20, ["a"] * 5 + ["b"] * 15])
def test_constant_data_has_no_width(clusters: list[str]) -> None:
    found = estimate(clusters, [0.3] * 20)
    assert found.error == pytest.approx(0, abs=1e-12)
    assert (found.low, found.high) == pytest.approx((0.3, 0.3))


def test_two_stage_counts_the_noise_of_questions_twice() -> None:
    # Like conversations: the variance between their means is noise of questions alone.
    rng = np.random.default_rng(5)
    values: list[float | None] = rng.random(1000).tolist()
    clusters = [CONVERSATIONS[i % 10] for i in range(1000)]
    found = ClusterBootstrap(clusters, 0, 4000).mean(values, two_stage=True)
    assert found is not None
    once = estimate(clusters, values, resamples=4000).error * np.sqrt(9 / 10)
    independent = float(np.std(np.array(values, dtype=float))) / np.sqrt(1000)
    assert found.error**2 == pytest.approx(once**2 + independent**2, rel=0.08)


class Shares(NamedTuple):
    """Share of intervals that held the truth."""

    memsys: float
    independent: float


def coverage(spread: float, trials: int) -> Shares:
    """10 conversations of 24 to 56 questions; the chance of a right answer is .3 +- `spread`."""
    rng = np.random.default_rng(1)
    held = np.zeros(2)
    for trial in range(trials):
        sizes = rng.integers(24, 57, 10)
        chances = 0.3 + rng.normal(0, spread, 10)
        right = [rng.random(n) < chance for n, chance in zip(sizes, chances, strict=True)]
        values = np.concatenate(right).astype(float)
        clusters = np.repeat(CONVERSATIONS, sizes).tolist()
        found = estimate(clusters, values.tolist(), seed=trial, resamples=500)
        reach = normal_quantile(0.975) * np.sqrt(found.value * (1 - found.value) / len(values))
        held += [found.low <= 0.3 <= found.high, abs(found.value - 0.3) <= reach]
    return Shares(*(held / trials))


def test_like_conversations_both_intervals_hold_the_truth() -> None:
    found = coverage(spread=0.0, trials=1500)
    assert 0.93 <= found.memsys <= 0.97
    assert 0.93 <= found.independent <= 0.97


def test_unlike_conversations_independent_questions_miss_it() -> None:
    found = coverage(spread=0.1, trials=1500)
    assert 0.93 <= found.memsys <= 0.97
    assert found.independent < 0.85


# Student's t as tables of the distribution print it: level, degrees of freedom, quantile.
TABLE = [
    *((0.95, 1, 12.706), (0.99, 1, 63.657), (0.95, 2, 4.303), (0.90, 3, 2.353)),
    *((0.95, 3, 3.182), (0.95, 4, 2.776), (0.99, 5, 4.032), (0.999, 5, 6.869)),
    *((0.80, 9, 1.383), (0.95, 9, 2.262), (0.99, 9, 3.250), (0.999, 9, 4.781)),
    *((0.50, 10, 0.700), (0.95, 20, 2.086), (0.95, 30, 2.042), (0.95, 120, 1.980)),
]


@pytest.mark.parametrize(("level", "degrees", "printed"), TABLE)
def test_critical_values_are_those_of_the_tables(
    level: float, degrees: int, printed: float
) -> None:
    assert critical_value(level, degrees) == pytest.approx(printed, abs=6e-4)


def test_without_degrees_of_freedom_the_quantile_is_the_normal_one() -> None:
    assert critical_value(0.95, 0) == pytest.approx(1.959964, abs=1e-6)
    assert critical_value(0.95, 10**6) == pytest.approx(1.959964, abs=1e-5)


def test_ends_are_clipped_to_the_possible_range_and_nan_stays() -> None:
    clipped = Interval(0.9, 0.7, 1.1, 0.1, 12, 3).within()
    assert clipped == Interval(0.9, 0.7, 1.0, 0.1, 12, 3)
    assert Interval(5.0, -1.0, 11.0).within(0.0, math.inf) == Interval(5.0, 0.0, 11.0)
    assert math.isnan(Interval(math.nan, math.nan, math.nan).within().low)
