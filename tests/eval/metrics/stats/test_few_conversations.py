"""Intervals of fewer than five conversations: over their questions, and in the possible range."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.metrics.stats.agreement import cohen_interval, corrected_share, fleiss_interval, rate
from eval.metrics.stats.interval import (
    FEWEST,
    ClusterBootstrap,
    Interval,
    critical_value,
    scope,
    sums_within,
)
from eval.metrics.stats.paired import compare, detectable
from eval.summary.protocols import mean_cell
from eval.summary.sample import Sample
from tests.eval.metrics.stats.test_bootstrap import estimate

UNIT = st.floats(0, 1) | st.sampled_from([0.0, 1.0])
NAMES = st.sampled_from("abcdefgh")


def rows(value: st.SearchStrategy[float]) -> st.SearchStrategy[list[tuple[float, str]]]:
    return st.lists(st.tuples(value, NAMES), min_size=1, max_size=40)


def split(chosen: list[tuple[float, str]]) -> tuple[list[float], list[str]]:
    return [value for value, _ in chosen], [name for _, name in chosen]


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_the_error_is_that_of_resampled_questions_of_each_conversation(count):
    rng = np.random.default_rng(count)
    sizes = [30, 12, 50, 8][:count]
    strata = np.repeat(np.arange(count), sizes)
    values = rng.random(len(strata)) * (1 + strata) / 5
    found = estimate([f"c{i}" for i in strata], values.tolist())
    drawn = sums_within(values[:, None], strata, 0, 20_000)[:, 0] / len(values)
    n = len(values)
    assert found.error == pytest.approx(drawn.std() * math.sqrt(n / (n - count)), rel=0.03)
    assert found.degrees == n - count
    assert (found.n, found.clusters) == (n, count)
    reach = critical_value(0.95, n - count) * found.error
    assert (found.low, found.high) == pytest.approx((found.value - reach, found.value + reach))


def test_of_four_conversations_how_they_differ_does_not_matter_of_five_it_does():
    def width(count: int, apart: float) -> float:
        clusters = [name for name in "abcde"[:count] for _ in range(20)]
        values = [i % 4 / 20 + apart * ord(name) for i, name in enumerate(clusters)]
        found = estimate(clusters, values)
        return found.high - found.low

    for few in (1, 2, 3, 4):
        assert width(few, 0.1) == pytest.approx(width(few, 0.0))
    assert width(FEWEST, 0.1) > 3 * width(FEWEST, 0.0)


def test_conversations_of_one_question_are_one_stratum_or_join_the_smallest_other():
    found = estimate(["a", "b", "c"], [0.2, 0.5, 0.9])
    assert found.degrees == 2
    assert found.error == pytest.approx(np.std([0.2, 0.5, 0.9], ddof=1) / math.sqrt(3))
    clusters = ["a"] * 6 + ["b"] * 3 + ["c"]
    values = [0.1, 0.2, 0.4, 0.1, 0.3, 0.5, 0.6, 0.8, 0.7, 0.1]
    joined = estimate(["a"] * 6 + ["b"] * 4, values)
    assert estimate(clusters, values) == replace(joined, clusters=3)


def test_kappa_of_few_conversations_resamples_their_answers():
    # The judges agree in "a" and disagree in "b": whole conversations would give 1, 0 or between.
    one = [True, False] * 20
    other = [True, False] * 10 + [False, True] * 10
    found = cohen_interval(one, other, ["a"] * 20 + ["b"] * 20)
    assert found.value == pytest.approx(0.0)
    assert found.high - found.low < 0.2  # within each conversation agreement is the same
    assert cohen_interval(one, other, ["a"] * 40).high > 0.2


TOO_FEW = "too few to generalise to others"


@pytest.mark.parametrize(
    ("clusters", "words"),
    [
        ([10, 0, 5], "over conversations"),
        ([], "over conversations"),
        ([1], f"over the questions of 1 conversation, {TOO_FEW}"),
        ([3, 3], f"over the questions of 3 conversations, {TOO_FEW}"),
        ([2, 0, 4], f"over the questions of 2 to 4 conversations, depending on the row, {TOO_FEW}"),
        ([10, 4], f"over conversations; of fewer than 5, {TOO_FEW}, over their questions"),
    ],
)
def test_words_for_what_an_interval_is_over(clusters, words):
    assert scope(clusters) == words


def within(found: Interval, least: float, most: float) -> bool:
    return least <= found.low <= found.high <= most


@settings(max_examples=80, deadline=None)
@given(rows(UNIT))
def test_means_stay_in_0_to_1(chosen):
    values, clusters = split(chosen)
    low, high = mean_cell("f1", values, ClusterBootstrap(clusters, 0))["f1_ci"]
    assert 0 <= low <= high <= 1
    score = Sample(values, clusters, 0).score()
    assert score is not None
    assert within(score, 0, 1)
    shares = Sample([float(value > 0.5) for value in values], clusters, 0).share()
    assert shares is not None
    assert within(shares, 0, 1)


@settings(max_examples=50, deadline=None)
@given(rows(st.integers(-100, 100).map(lambda hundredths: hundredths / 100)))
def test_differences_stay_in_minus_1_to_1(chosen):
    values, clusters = split(chosen)
    found = compare(values, clusters, seed=0, resamples=10)
    assert within(found.estimate, -1, 1)
    assert found.detectable == detectable(
        estimate(clusters, values)
    )  # clipping is no gain of power


@settings(max_examples=50, deadline=None)
@given(rows(st.floats(0, 1e6)))
def test_tokens_and_seconds_are_not_negative(chosen):
    values, clusters = split(chosen)
    found = Sample(values, clusters, 0).mean(0.0)
    assert found is not None
    assert within(found, 0, math.inf)
    cell = mean_cell("tokens", values, ClusterBootstrap(clusters, 0), math.inf)
    assert cell["tokens_ci"][0] >= 0


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans(), NAMES), min_size=1, max_size=30))
def test_kappa_stays_in_minus_1_to_1(chosen):
    one, other, clusters = ([row[i] for row in chosen] for i in range(3))
    pairs = [(first, second) for first, second, _ in chosen]
    for found in (cohen_interval(one, other, clusters), fleiss_interval(pairs, clusters)):
        assert math.isnan(found.low) or within(found, -1, 1)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.booleans(), NAMES), min_size=1, max_size=30),
    st.floats(0, 1),
    st.floats(0, 2),
)
def test_rates_and_corrected_shares_stay_in_0_to_1(chosen, apparent, error):
    events, clusters = [event for event, _ in chosen], [name for _, name in chosen]
    found = rate(events, clusters)
    assert found is not None
    for low, high in filter(None, (found.wilson, found.clustered)):
        assert 0 <= low <= high <= 1
    if (corrected := corrected_share(apparent, error, found, found, degrees=3)) is not None:
        assert 0 <= corrected.low <= corrected.high <= 1
