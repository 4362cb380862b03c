"""What errors come to, against values found by hand."""

from __future__ import annotations

import numpy as np
import pytest

from eval.studies.lite import validation


def test_paired_difference_of_a_constant_gain_is_sure_and_of_none_is_not():
    rng = np.random.default_rng(0)
    baseline = rng.normal(0, 0.03, (10, 200))
    gained = validation.paired(baseline * 0.8, baseline, None, 0)
    assert gained.value == pytest.approx(-0.2 * np.abs(baseline).mean())
    assert gained.low < gained.value < gained.high < 0
    other = validation.paired(rng.permuted(baseline, axis=1), baseline, None, 0)
    assert other.low < 0 < other.high


def test_systems_of_one_family_are_no_independent_evidence():
    """A gain of one family of four systems, none of the two others: sure only if they are six."""
    baseline = np.full((6, 50), 0.04)
    errors = baseline.copy()
    errors[:4] = 0.02
    alone = validation.paired(errors, baseline, None, 0)
    together = validation.paired(errors, baseline, ["x"] * 4 + ["y", "z"], 0)
    assert alone.high < 0
    assert together.high == 0
    assert together.low < alone.low + 0.001


def test_reach_and_least_difference_are_quantiles():
    errors = np.vstack([np.linspace(-1, 1, 2001), np.zeros(2001)])
    assert validation.reach(errors[:1]) == pytest.approx(0.95)
    assert validation.least_difference(errors, ["a", "b"]) == pytest.approx(0.95)
    assert validation.least_difference(
        np.vstack([errors, errors[:1]]), ["a", "b", "a"]
    ) == pytest.approx(0.95)


def test_coverage_takes_the_reach_from_the_other_groups():
    rng = np.random.default_rng(1)
    alike = rng.normal(0, 0.03, (6, 2000))
    assert abs(validation.coverage(alike, list("aabbcc")) - 0.95) < 0.01
    alike[:2] *= 3
    assert validation.coverage(alike, list("aabbcc")) < 0.9


def test_rank_correlation_counts_equals_by_their_mean_rank():
    truth = np.array([1.0, 2.0, 3.0, 4.0])
    same, turned = np.zeros((4, 1)), (truth[::-1] - truth)[:, None]
    assert validation.rank_correlation(same, truth) == pytest.approx(1)
    assert validation.rank_correlation(turned, truth) == pytest.approx(-1)
    tied = np.array([[0.0], [0.0], [-1.0], [0.0]])  # estimates 1 2 2 4
    assert validation.rank_correlation(tied, truth) == pytest.approx(0.9486833)
