"""Wilson's interval against values worked out elsewhere."""

from __future__ import annotations

import pytest
from scipy.stats import binomtest

from eval.stats.interval import wilson
from eval.studies.coverage import wilson_coverage


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),  # Newcombe (1998), table I, method 3
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_is_that_of_newcombes_table(successes: int, n: int, low: float, high: float) -> None:
    assert wilson(successes, n) == pytest.approx((low, high), abs=5e-5)


def test_of_all_right_mirrors_that_of_none() -> None:
    low, high = wilson(20, 20)
    assert (1 - high, 1 - low) == pytest.approx(wilson(0, 20))


def test_solves_its_own_equation() -> None:
    # Both ends are where the score test is just at its bound: (x/n - p)^2 = z^2 p (1 - p) / n.
    for bound in wilson(7, 40):
        assert (7 / 40 - bound) ** 2 == pytest.approx(1.959964**2 * bound * (1 - bound) / 40)


def test_is_wider_at_a_higher_level() -> None:
    (low, high), (lower, higher) = wilson(30, 100, 0.8), wilson(30, 100, 0.99)
    assert lower < low < 0.3 < high < higher


@pytest.mark.parametrize(("successes", "n"), [(0, 0), (-1, 5), (6, 5)])
def test_of_no_share_is_refused(successes: int, n: int) -> None:
    with pytest.raises(ValueError, match="wilson"):
        wilson(successes, n)


def test_holds_the_truth_as_often_as_it_says() -> None:
    assert 0.93 < wilson_coverage(446, 0.5, trials=2000, seed=0) < 0.97


@pytest.mark.parametrize(("successes", "n"), [(0, 1), (3, 7), (446, 446), (812, 1540)])
def test_is_that_of_scipy(successes: int, n: int) -> None:
    found = binomtest(successes, n).proportion_ci(0.95, "wilson")
    assert wilson(successes, n) == pytest.approx((found.low, found.high), abs=1e-9)
