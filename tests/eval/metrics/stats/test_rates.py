"""Wilson's interval, rates of errors, shares corrected for them, and the Pareto front."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binomtest

from eval.metrics.stats.agreement import Rate, corrected_share, rate, rogan_gladen
from eval.metrics.stats.interval import wilson
from eval.metrics.stats.pareto import pareto


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize(
    ("successes", "n"), [(0, 1), (0, 20), (20, 20), (3, 7), (81, 263), (446, 446), (812, 1540)]
)
def test_wilson_is_that_of_scipy(successes, n, level):
    found = binomtest(successes, n).proportion_ci(level, "wilson")
    assert wilson(successes, n, level) == pytest.approx((found.low, found.high), abs=1e-9)


def test_wilson_is_that_of_newcombes_table_by_default():
    # Newcombe (1998), table I, method 3: level 95%
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)


@pytest.mark.parametrize(("successes", "n"), [(0, 0), (-1, 5), (6, 5)])
def test_of_no_share_is_refused(successes, n):
    with pytest.raises(ValueError, match="wilson"):
        wilson(successes, n)


def test_a_rate_has_both_intervals():
    found = rate([True] * 3 + [False] * 17, [name for name in "abcde" for _ in range(4)])
    assert found is not None
    assert (found.count, found.n, found.share) == (3, 20, 0.15)
    assert found.wilson == wilson(3, 20)
    assert found.clustered is not None
    assert found.clustered[0] == 0.0  # the three are of one conversation of five
    assert found.clustered[1] > found.wilson[1]


@pytest.mark.parametrize("names", ["a" * 20, "ab" * 10, "abcd" * 5])
def test_no_trial_no_rate_and_few_conversations_no_clusters(names):
    assert rate([], []) is None
    found = rate([False] * 20, list(names))
    assert found is not None
    assert found.clustered is None
    assert found.error > 0  # none in 20 is no proof of none


def test_rogan_gladen_by_hand():
    # A test with sensitivity .9 and specificity .8 on a population of which 30% have it:
    # .3 * .9 + .7 * .2 = .41 test positive.
    assert rogan_gladen(0.41, false_accepts=0.2, false_rejects=0.1) == pytest.approx(0.3)
    assert rogan_gladen(0.5, 0.0, 0.0) == 0.5
    assert rogan_gladen(0.05, 0.1, 0.0) < 0  # fewer than even wrong answers alone would pass
    assert math.isnan(rogan_gladen(0.5, 0.6, 0.4))


def known(share: float, n: int) -> Rate:
    return Rate(round(share * n), n, share, (0, 1), None, (share * (1 - share) / n) ** 0.5)


def test_the_interval_by_hand():
    """p = .3, J = .7; Var = (.02^2 + .09 * .9*.1/100 + .49 * .8*.2/400) / .49."""
    found = corrected_share(0.41, 0.02, known(0.2, 400), known(0.1, 100))
    assert found is not None
    error = math.sqrt((0.0004 + 0.09 * 0.0009 + 0.49 * 0.0004) / 0.49)
    assert found.value == pytest.approx(0.3)
    assert found.high - found.value == pytest.approx(1.959964 * error, rel=1e-5)
    assert found.value - found.low == pytest.approx(1.959964 * error, rel=1e-5)
    assert not found.outside


def test_uncertain_rates_widen_the_interval():
    sure = corrected_share(0.41, 0.02, known(0.2, 10**6), known(0.1, 10**6))
    unsure = corrected_share(0.41, 0.02, known(0.2, 30), known(0.1, 30))
    assert sure is not None
    assert unsure is not None
    assert unsure.high - unsure.low > 1.5 * (sure.high - sure.low)


def test_what_cannot_be_corrected():
    assert corrected_share(0.5, 0.01, known(0.7, 100), known(0.3, 100)) is None
    found = corrected_share(0.05, 0.01, known(0.1, 100), known(0.1, 100))
    assert found is not None
    assert found.outside
    assert found.value == found.low == 0.0


@pytest.mark.parametrize(
    ("truth", "accepts", "rejects", "probes"),
    [(0.6, 0.1, 0.05, 200), (0.6, 0.6, 0.02, 200), (0.85, 0.1, 0.0, 50), (0.3, 0.3, 0.1, 100)],
)
def test_the_interval_holds_the_truth(truth, accepts, rejects, probes):
    """Nominal 95%, 2,000 data sets of 500 answers, rates measured on `probes` of either kind."""
    rng = np.random.default_rng(7)
    trials = 2000
    held = 0
    chance = truth * (1 - rejects) + (1 - truth) * accepts
    for _ in range(trials):
        apparent = rng.binomial(500, chance) / 500
        measured = [rng.binomial(probes, r) for r in (accepts, rejects)]
        found_rates = [
            rate([True] * int(k) + [False] * (probes - int(k)), ["a"] * probes) for k in measured
        ]
        error = (apparent * (1 - apparent) / 500) ** 0.5
        found = corrected_share(apparent, error, *found_rates)  # type: ignore[arg-type]
        held += found is not None and found.low <= truth <= found.high
    assert 0.93 <= held / trials <= 0.996  # no false reject in 50 probes could be 1 in 50


def test_pareto_front():
    assert pareto([(1, 1), (2, 2), (3, 2), (2, 1), (4, 3)]) == [True, True, False, False, True]
    assert pareto([(1, 1), (1, 1)]) == [True, True]
    assert pareto([(1, 1), (1, 2)]) == [False, True]
