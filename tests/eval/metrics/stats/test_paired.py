import math
from itertools import product

import pytest

from eval.metrics.stats.interval import ClusterBootstrap, Interval, critical_value
from eval.metrics.stats.paired import (
    compare,
    detectable,
    effect_size,
    holm,
    mcnemar,
    permutation_test,
)

FEW = [0.4, 0.1, -0.2, 0.3, 0.5, 0.0, -0.1, 0.25, 0.15, 0.35]


@pytest.mark.parametrize(
    "differences",
    [FEW, FEW[:6], [0.2] * 7, [0.5, -0.5, 0.5, -0.5], [1.0] * 9 + [-1.0], [0.1, 0.2, -0.3, 0.7]],
)
def test_permutation_is_near_full_enumeration(differences):
    flips = [
        abs(sum(sign * d for sign, d in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    # of the sign-flip test over every assignment of signs
    p = sum(flip >= abs(sum(differences)) - 1e-9 for flip in flips) / len(flips)
    error = math.sqrt(p * (1 - p) / 40_000)
    assert permutation_test(differences, 1, 40_000) == pytest.approx(p, abs=4 * error + 1 / 20_000)


def test_permutation_has_two_sides_ignores_ties_and_scale_and_follows_from_its_seed():
    p = permutation_test(FEW, 3)
    for same in (FEW, [-d for d in FEW], [*FEW, 0.0, 0.0, 0.0], [100 * d for d in FEW]):
        assert permutation_test(same, 3) == p
    assert len({permutation_test(FEW, seed) for seed in range(5)}) > 1


@pytest.mark.parametrize("differences", [[], [0.0, 0.0]])
def test_permutation_without_a_difference_is_1(differences):
    assert permutation_test(differences, 0) == 1.0


@pytest.mark.parametrize("resamples", [1, 499, 500, 501, 999, 1250])
def test_permutation_draws_as_many_resamples_as_asked_and_counts_the_data_among_them(resamples):
    # One difference is as far from 0 whatever its sign: every resample counts.
    assert permutation_test([0.5], 0, resamples) == 1.0
    # All flips but the two of one sign are nearer to 0, and one in 2^39 is never drawn.
    assert permutation_test([1.0] * 40, 0, resamples) == pytest.approx(1 / (1 + resamples))


@pytest.mark.parametrize(
    ("only_first", "only_second", "p"),
    [
        (0, 0, 1.0),
        (1, 0, 1.0),
        (0, 5, 2 / 32),
        (2, 8, 2 * (1 + 10 + 45) / 1024),  # = .109375
        (3, 3, 1.0),  # twice the tail would be 1.3125
        (10, 4, 2 * (1 + 14 + 91 + 364 + 1001) / 2**14),
    ],
)
def test_mcnemar_is_the_binomial_by_hand(only_first, only_second, p):
    assert mcnemar(only_first, only_second) == pytest.approx(p, rel=1e-12)
    assert mcnemar(only_second, only_first) == mcnemar(only_first, only_second)


def test_mcnemar_of_many_questions_is_near_its_chi_square():
    # (|b - c| - 1)^2 / (b + c) = 99^2 / 1500 = 6.534, whose chance is erfc(sqrt(6.534 / 2))
    assert mcnemar(700, 800) == pytest.approx(math.erfc(math.sqrt(6.534 / 2)), rel=0.01)
    assert mcnemar(3000, 0) >= 0.0


@pytest.mark.parametrize(
    ("raw", "adjusted"),
    [
        # Sorted .01 .02 .03 .04: times 4, 3, 2, 1 is .04 .06 .06 .04, and none may fall: .06.
        ([0.03, 0.01, 0.04, 0.02], [0.06, 0.04, 0.06, 0.06]),
        ([0.02, 0.5, 0.02], [0.06, 0.5, 0.06]),  # ties are adjusted alike
        ([0.01, 0.01], [0.02, 0.02]),
        ([0.9, 0.2, 0.6], [1.0, 0.6, 1.0]),  # never above 1
        ([0.03], [0.03]),
        ([], []),
    ],
)
def test_holm_by_hand(raw, adjusted):
    assert holm(raw) == pytest.approx(adjusted)


def test_detectable_is_reach_and_power_in_standard_errors():
    reach = critical_value(0.95, 9) * 0.02
    estimate = Interval(0.1, 0.1 - reach, 0.1 + reach, 0.02, 1540, 10, 9)
    # (2.262157 + .841621) * .02
    assert detectable(estimate) == pytest.approx(0.0620756, abs=1e-6)


def test_effect_is_the_mean_in_standard_deviations():
    # 1 2 3: mean 2, standard deviation 1
    assert effect_size([1.0, 2.0, 3.0]) == pytest.approx(2.0)
    assert effect_size([-1.0, -2.0, -3.0]) == pytest.approx(-2.0)


@pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3, 0.7])
@pytest.mark.parametrize("n", [1, 3, 7, 50])
def test_effect_of_equal_differences_is_0(value, n):
    assert effect_size([value] * n) == 0.0


def test_compare_puts_all_of_it_together():
    clusters = ["a", "a", "b", "b", "c", "c", "d", "d", "e", "e"]
    found = compare(FEW, clusters, seed=4, resamples=2000)
    assert found.estimate == ClusterBootstrap(clusters, 4).mean(FEW)
    assert found.p == permutation_test(FEW, 4, 2000)
    assert found.effect == effect_size(FEW)
    assert found.detectable == detectable(found.estimate)

    with pytest.raises(ValueError, match="no difference"):
        compare([], [], seed=0)
