"""Kappas, rates of errors and corrected shares: published examples, and intervals by simulation."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest

from eval.metrics.stats.agreement import (
    Rate,
    cohen_interval,
    cohen_kappa,
    corrected_share,
    fleiss_features,
    fleiss_interval,
    fleiss_kappa,
    rate,
    wilson,
)

# Fleiss (1971), table 1: 30 patients, 6 psychiatrists each, 5 diagnoses.
FLEISS_1971 = """0 0 0 6 0|0 3 0 0 3|0 1 4 0 1|0 0 0 0 6|0 3 0 3 0|2 0 4 0 0|0 0 4 0 2|2 0 3 1 0
2 0 0 4 0|0 0 0 0 6|1 0 0 5 0|1 1 0 4 0|0 3 3 0 0|1 0 0 5 0|0 2 0 3 1|0 0 5 0 1|3 0 0 1 2
5 1 0 0 0|0 2 0 4 0|1 0 2 0 3|0 0 0 0 6|0 1 0 5 0|0 2 0 1 3|2 0 0 4 0|1 0 0 4 1|0 5 0 1 0
4 0 0 0 2|0 2 0 4 0|1 0 5 0 0|0 0 0 0 6"""


def test_cohen_1960():
    # Table 2: 200 patients, two judges, 3 categories; p_o .70, p_e .41.
    table = np.array([[88.0, 14, 18, 10, 40, 10, 2, 6, 12]])
    assert float(cohen_kappa(table)[0]) == pytest.approx(0.492, abs=0.0005)


def test_fleiss_1971():
    rows = FLEISS_1971.replace("\n", "|").split("|")
    counts = np.array([[float(n) for n in row.split()] for row in rows])
    assert counts.shape == (30, 5)
    sums = fleiss_features(counts).sum(axis=0, keepdims=True)
    assert float(fleiss_kappa(sums)[0]) == pytest.approx(0.430, abs=0.0005)


def test_verdicts_of_two_judges_are_the_table():
    # 50 grants, two readers: 20 and 15 agreed, 5 and 10 not: p_o .7, p_e .5
    one = [True] * 25 + [False] * 25
    other = [True] * 20 + [False] * 5 + [True] * 10 + [False] * 15
    found = cohen_interval(one, other, ["c"] * 50)
    assert found.value == pytest.approx(0.4)
    assert found.low < 0.4 < found.high
    # Fleiss, Cohen and Everitt (1969): the large-sample standard error of this table is .1252
    assert found.error == pytest.approx(0.1252, abs=0.01)


def test_judges_of_one_verdict_have_no_kappa_and_equal_runs_1():
    assert math.isnan(cohen_interval([True] * 4, [True] * 4, list("aabb")).value)
    assert math.isnan(fleiss_interval([[False, False]] * 4, list("aabb")).low)
    found = fleiss_interval([[True] * 3, [False] * 3] * 10, list("ab") * 10)
    assert (found.value, found.low, found.high) == (1, 1, 1)
    # Of two runs of equal margins it is Cohen's.
    one = [True, True, False, False, True, False]
    other = [True, False, True, False, True, False]
    both = fleiss_interval(list(zip(one, other, strict=True)), ["c"] * 6)
    assert both.value == pytest.approx(cohen_interval(one, other, ["c"] * 6).value)


@pytest.mark.parametrize("verdicts", [[[True]], [[True, False], [True]], []])
def test_fleiss_wants_the_same_number_of_ratings(verdicts):
    with pytest.raises(ValueError, match="same number of ratings"):
        fleiss_interval(verdicts, ["c"] * len(verdicts))


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize(
    ("successes", "n"), [(0, 1), (0, 20), (20, 20), (3, 7), (81, 263), (446, 446), (812, 1540)]
)
def test_wilson_is_that_of_scipy(successes, n, level):
    found = binomtest(successes, n).proportion_ci(level, "wilson")
    assert wilson(successes, n, level) == pytest.approx((found.low, found.high), abs=1e-9)
    if level == 0.95:
        assert wilson(successes, n) == wilson(successes, n, level)


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


def test_what_cannot_be_corrected():
    assert corrected_share(0.5, 0.01, known(0.7, 100), known(0.3, 100)) is None
    assert corrected_share(0.5, 0.01, known(0.6, 100), known(0.5, 100)) is None
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
