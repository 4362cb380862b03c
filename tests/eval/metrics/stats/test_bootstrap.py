"""Standard errors and intervals over conversations against closed forms, and their coverage."""

import math

import numpy as np
import pytest

from eval.metrics.stats.interval import ClusterBootstrap, Interval, critical_value

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


def test_equal_sizes_give_the_standard_error_of_the_conversations_means():
    clusters, values = equal_sizes()
    means = np.reshape(np.array(values, dtype=float), (10, 20)).mean(axis=1)
    error = means.std(ddof=1) / np.sqrt(10)
    found = estimate(clusters, values, resamples=20_000)
    assert found.value == pytest.approx(means.mean())
    assert found.error == pytest.approx(error, rel=0.02)
    assert (found.n, found.clusters) == (200, 10)
    for level in (0.8, 0.95, 0.99):
        at_level = ClusterBootstrap(clusters, 0, 20_000).mean(values, level)
        assert at_level is not None
        reach = critical_value(level, 9) * found.error
        ends = (found.value - reach, found.value + reach)
        assert (at_level.low, at_level.high) == pytest.approx(ends)
    # It does not matter where a conversation's questions are in the list.
    mixed = [i for first in range(20) for i in range(first, 200, 20)]
    moved = estimate([clusters[i] for i in mixed], [values[i] for i in mixed], resamples=20_000)
    assert (moved.value, moved.error) == pytest.approx((found.value, found.error))


def test_unequal_sizes_weigh_conversations_and_give_the_linearised_error_of_a_ratio():
    assert estimate(["a"] * 3 + ["b"], [1.0, 1.0, 1.0, 0.0]).value == pytest.approx(0.75)
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


def test_one_conversation_has_the_standard_error_of_its_questions():
    values = np.random.default_rng(3).random(400).tolist()
    found = estimate(["a"] * 400, values)
    assert found.error == pytest.approx(float(np.std(values, ddof=1) / 20))
    assert found.high - found.value == pytest.approx(critical_value(0.95, 399) * found.error)
    assert found.clusters == 1
    point = estimate(["a"], [0.7])
    assert (point.low, point.high) == pytest.approx((0.7, 0.7))


def test_is_the_same_by_seed_and_none_is_as_if_it_were_not_there():
    clusters, values = equal_sizes()
    assert estimate(clusters, values, seed=7) == estimate(clusters, values, seed=7)
    assert estimate(clusters, values, seed=7) != estimate(clusters, values, seed=8)
    more = estimate([*clusters, "0", "unanswered"], [*values, None, None])
    assert more == estimate(clusters, values)
    assert ClusterBootstrap(["a", "b"], 0).mean([None, None]) is None


@pytest.mark.parametrize("clusters", [["a"] * 20, ["a"] * 5 + ["b"] * 15, [*"abcde"] * 4])
def test_constant_data_has_no_width(clusters):
    found = estimate(clusters, [0.3] * 20)
    assert found.error == pytest.approx(0, abs=1e-12)
    assert (found.low, found.high) == pytest.approx((0.3, 0.3))


def test_many_conversations_are_resampled_as_a_few_are():
    # More cells than one product takes: the blocks give the digits of one product.
    count = 1100
    member = np.arange(2 * count) % count
    clusters = [f"{i:04}" for i in member]
    values = [None if i == 7 else i % 11 / 10 for i in range(2 * count)]
    found = ClusterBootstrap(clusters, 3).mean(values)
    assert found is not None
    drawn = np.random.default_rng(3).multinomial(count, np.full(count, 1 / count), size=1000)
    known = np.arange(2 * count) != 7
    scores = np.array([value or 0.0 for value in values])
    sums = np.bincount(member, weights=scores, minlength=count)
    sizes = np.bincount(member, weights=known, minlength=count)
    means = (drawn @ sums) / (drawn @ sizes)
    assert found.error == means.std(ddof=1) * np.sqrt(count / (count - 1))


@pytest.mark.parametrize("spread", [0.0, 0.1])
def test_intervals_hold_the_truth(spread):
    """10 conversations of 24 to 56 questions; the chance of a right answer is .3 +- `spread`."""
    rng = np.random.default_rng(1)
    held = 0
    for trial in range(700):
        sizes = rng.integers(24, 57, 10)
        chances = 0.3 + rng.normal(0, spread, 10)
        right = [rng.random(n) < chance for n, chance in zip(sizes, chances, strict=True)]
        values = np.concatenate(right).astype(float)
        clusters = np.repeat(CONVERSATIONS, sizes).tolist()
        found = estimate(clusters, values.tolist(), seed=trial, resamples=500)
        held += found.low <= 0.3 <= found.high
    assert 0.92 <= held / 700 <= 0.98


# Student's t as tables of the distribution print it: level, degrees of freedom, quantile.
TABLE = [
    *((0.95, 1, 12.706), (0.99, 1, 63.657), (0.95, 2, 4.303), (0.90, 3, 2.353)),
    *((0.95, 3, 3.182), (0.95, 4, 2.776), (0.99, 5, 4.032), (0.999, 5, 6.869)),
    *((0.80, 9, 1.383), (0.95, 9, 2.262), (0.99, 9, 3.250), (0.999, 9, 4.781)),
    *((0.50, 10, 0.700), (0.95, 20, 2.086), (0.95, 30, 2.042), (0.95, 120, 1.980)),
]


@pytest.mark.parametrize(("level", "degrees", "printed"), TABLE)
def test_critical_values_are_those_of_the_tables(level, degrees, printed):
    assert critical_value(level, degrees) == pytest.approx(printed, abs=6e-4)


def test_without_degrees_of_freedom_the_quantile_is_the_normal_one():
    assert critical_value(0.95, 0) == pytest.approx(1.959964, abs=1e-6)
    assert critical_value(0.95, 10**6) == pytest.approx(1.959964, abs=1e-5)


def test_ends_are_clipped_to_the_possible_range_and_nan_stays():
    clipped = Interval(0.9, 0.7, 1.1, 0.1, 12, 3).within()
    assert clipped == Interval(0.9, 0.7, 1.0, 0.1, 12, 3)
    assert repr(Interval(5.0, -1.0, 11.0).within(0.0, math.inf)) == repr(Interval(5.0, 0.0, 11.0))
    assert math.isnan(Interval(math.nan, math.nan, math.nan).within().low)
