"""Kappas against the published worked examples, intervals by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from eval.metrics.stats.agreement import (
    cohen_interval,
    cohen_kappa,
    fleiss_features,
    fleiss_interval,
    fleiss_kappa,
)

# Fleiss (1971), table 1: 30 patients, 6 psychiatrists each, 5 diagnoses.
FLEISS_1971 = """0 0 0 6 0|0 3 0 0 3|0 1 4 0 1|0 0 0 0 6|0 3 0 3 0|2 0 4 0 0|0 0 4 0 2|2 0 3 1 0
2 0 0 4 0|0 0 0 0 6|1 0 0 5 0|1 1 0 4 0|0 3 3 0 0|1 0 0 5 0|0 2 0 3 1|0 0 5 0 1|3 0 0 1 2
5 1 0 0 0|0 2 0 4 0|1 0 2 0 3|0 0 0 0 6|0 1 0 5 0|0 2 0 1 3|2 0 0 4 0|1 0 0 4 1|0 5 0 1 0
4 0 0 0 2|0 2 0 4 0|1 0 5 0 0|0 0 0 0 6"""


@pytest.mark.parametrize(
    ("table", "kappa"),
    [
        # Cohen (1960), table 2: 200 patients, two judges, 3 categories; p_o .70, p_e .41.
        ([88.0, 14, 18, 10, 40, 10, 2, 6, 12], 0.492),
        # 50 grants, two readers: 20 and 15 agreed, 5 and 10 not: p_o .7, p_e .5
        ([20.0, 5.0, 10.0, 15.0], 0.4),
    ],
)
def test_cohen(table, kappa):
    assert float(cohen_kappa(np.array([table]))[0]) == pytest.approx(kappa, abs=0.0005)


def test_fleiss_1971():
    rows = FLEISS_1971.replace("\n", "|").split("|")
    counts = np.array([[float(n) for n in row.split()] for row in rows])
    assert counts.shape == (30, 5)
    sums = fleiss_features(counts).sum(axis=0, keepdims=True)
    assert float(fleiss_kappa(sums)[0]) == pytest.approx(0.430, abs=0.0005)


def test_verdicts_of_two_judges_are_the_table():
    one = [True] * 25 + [False] * 25
    other = [True] * 20 + [False] * 5 + [True] * 10 + [False] * 15
    found = cohen_interval(one, other, ["c"] * 50)
    assert found.value == pytest.approx(0.4)
    assert found.low < 0.4 < found.high
    # Fleiss, Cohen and Everitt (1969): the large-sample standard error of this table is .1252
    assert found.error == pytest.approx(0.1252, abs=0.01)


def test_judges_of_one_verdict_have_no_kappa():
    assert math.isnan(cohen_interval([True] * 4, [True] * 4, list("aabb")).value)
    assert math.isnan(fleiss_interval([[False, False]] * 4, list("aabb")).low)


def test_self_agreement_is_one_where_runs_never_differ():
    found = fleiss_interval([[True] * 3, [False] * 3] * 10, list("ab") * 10)
    assert (found.value, found.low, found.high) == (1, 1, 1)


def test_fleiss_for_two_runs_of_equal_margins_is_cohens():
    one = [True, True, False, False, True, False]
    other = [True, False, True, False, True, False]
    both = fleiss_interval(list(zip(one, other, strict=True)), ["c"] * 6)
    assert both.value == pytest.approx(cohen_interval(one, other, ["c"] * 6).value)


@pytest.mark.parametrize("verdicts", [[[True]], [[True, False], [True]], []])
def test_fleiss_wants_the_same_number_of_ratings(verdicts):
    with pytest.raises(ValueError, match="same number of ratings"):
        fleiss_interval(verdicts, ["c"] * len(verdicts))


def test_the_interval_of_kappa_holds_the_truth_where_conversations_differ():
    """Two judges see the same answer with noise of 10% each, in 10 conversations whose share of
    right answers varies: over 300 data sets about 95% of intervals hold the kappa of many."""
    rng = np.random.default_rng(1)

    def draw(conversations: int) -> tuple[np.ndarray, np.ndarray, list[str]]:
        shares = rng.uniform(0.4, 0.8, conversations)
        truth = rng.random((conversations, 40)) < shares[:, None]
        seen = [(truth ^ (rng.random(truth.shape) < 0.1)).ravel() for _ in range(2)]
        return seen[0], seen[1], [str(i) for i in range(conversations) for _ in range(40)]

    one, other, _ = draw(5000)
    cells = np.bincount(2 * one + other, minlength=4).astype(float)
    true_kappa = float(cohen_kappa(cells[None, :])[0])
    held = 0
    for seed in range(300):
        a, b, names = draw(10)
        found = cohen_interval(a.tolist(), b.tolist(), names, seed)
        held += found.low <= true_kappa <= found.high
    assert 0.91 <= held / 300 <= 0.985
