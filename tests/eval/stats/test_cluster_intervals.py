"""Intervals of means over conversations: what a table's brackets may be taken for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from eval.stats.interval import ClusterBootstrap

# Five conversations of 20 questions that differ from each other far more than within.
LEVELS = (0.1, 0.3, 0.6, 0.7, 0.9)
CLUSTERS = [name for name in "abcde" for _ in range(20)]
APART = [level + i % 5 / 100 for level in LEVELS for i in range(20)]


def interval(
    clusters: Sequence[str], values: Sequence[float | None], seed: int = 0, level: float = 0.95
) -> tuple[float, float]:
    found = ClusterBootstrap(clusters, seed).mean(values, level)
    assert found is not None
    return found.low, found.high


def width(bounds: tuple[float, float]) -> float:
    return bounds[1] - bounds[0]


def plain_width(values: list[float]) -> float:
    """Width of the interval that would hold if questions were independent."""
    return float(2 * 1.96 * np.std(values) / np.sqrt(len(values)))


def test_holds_the_mean() -> None:
    low, high = interval(CLUSTERS, APART)
    assert low < np.mean(APART) < high


def test_is_wider_than_questions_alone_would_say() -> None:
    assert width(interval(CLUSTERS, APART)) > 3 * plain_width(APART)


def test_many_like_conversations_are_as_good_as_independent_questions() -> None:
    values = np.random.default_rng(1).random(2000).tolist()
    clusters = [str(i % 100) for i in range(2000)]
    assert width(interval(clusters, values)) == pytest.approx(plain_width(values), rel=0.3)


def test_is_a_point_where_all_values_are_one() -> None:
    assert interval(CLUSTERS, [0.25] * 100) == pytest.approx((0.25, 0.25))


def test_follows_from_its_seed() -> None:
    first, again, other = (interval(CLUSTERS, APART, seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_leaves_none_out() -> None:
    some = [value if i % 2 else None for i, value in enumerate(APART)]
    known = [(c, value) for c, value in zip(CLUSTERS, some, strict=True) if value is not None]
    assert interval(CLUSTERS, some) == pytest.approx(interval(*zip(*known, strict=True)), rel=0.1)
    assert interval(["a", "a", "b"], [0.5, None, 0.5]) == pytest.approx((0.5, 0.5))


def test_all_none_has_no_interval() -> None:
    assert ClusterBootstrap(["a", "b"], seed=0).mean([None, None]) is None


def test_one_conversation_varies_by_its_questions_alone() -> None:
    values = [0.0, 1.0] * 50
    assert width(interval(["a"] * 100, values)) == pytest.approx(plain_width(values), rel=0.15)


def test_one_question_is_a_point() -> None:
    assert interval(["a"], [0.7]) == pytest.approx((0.7, 0.7))


def test_a_higher_level_is_wider() -> None:
    narrow, wide = (width(interval(CLUSTERS, APART, level=level)) for level in (0.8, 0.99))
    assert wide > narrow


def test_it_does_not_matter_where_a_conversations_questions_stand() -> None:
    mixed = [i for j in range(20) for i in range(j, 100, 20)]
    found = interval([CLUSTERS[i] for i in mixed], [APART[i] for i in mixed])
    assert found == pytest.approx(interval(CLUSTERS, APART), rel=0.1)


def test_many_conversations_are_resampled_as_a_few_are() -> None:
    # More cells than one product takes: the blocks give the digits of one product.
    count = 2500
    clusters = [str(i % count) for i in range(2 * count)]
    values = [None if i == 7 else i % 11 / 10 for i in range(2 * count)]
    found = ClusterBootstrap(clusters, 3).mean(values)
    assert found is not None
    rng = np.random.default_rng(3)
    drawn = rng.multinomial(count, np.full(count, 1 / count), size=1000)
    names = np.unique(clusters)
    sums, sizes = np.zeros(count), np.zeros(count)
    for name, value in zip(clusters, values, strict=True):
        if value is not None:
            place = np.searchsorted(names, name)
            sums[place] += value
            sizes[place] += 1
    means = (drawn @ sums) / (drawn @ sizes)
    assert found.error == means.std(ddof=1) * np.sqrt(count / (count - 1))
