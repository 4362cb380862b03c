"""Subsets have the shares they should, and their means lean to no side."""

from __future__ import annotations

import numpy as np
import pytest

from eval.studies.lite.item_response import fit
from eval.studies.lite.sampling import Strata
from eval.studies.lite.validation import estimate
from eval.summary.subset_score import p_irt, weighted_mean
from memsys.core.errors import InputError
from tests.eval.studies.lite.simulated import simulated_answers


def test_quotas_are_proportional_with_one_each_and_weights_sum_to_one():
    strata = Strata(["a"] * 80 + ["b"] * 17 + ["c"] * 3, 10)
    assert list(strata.quota) == [8, 1, 1]  # 8.0, 1.7, 0.3: c has its one, b the rest
    chosen = strata.stratified(np.random.default_rng(0), 5)
    assert chosen.shape == (5, 10)
    for one in chosen:
        assert len(set(one)) == 10
        assert [int((strata.member[one] == i).sum()) for i in range(3)] == [8, 1, 1]
        assert strata.weights[one].sum() == pytest.approx(1.0)
    assert Strata(["a"] * 99 + list("bcdefgh"), 10).quota.sum() == 10
    for n in (2, 101):
        with pytest.raises(InputError, match=r"from 3 .* to 100"):
            Strata(["a"] * 80 + ["b"] * 17 + ["c"] * 3, n)


def test_the_weighted_mean_is_unbiased_where_the_plain_mean_is_not():
    """Strata of 60 and 6 questions have 5 and 1 places: the small one is over-represented."""
    strata = Strata(["a"] * 60 + ["b"] * 6, 6)
    scores = np.r_[np.linspace(0.5, 1.0, 60), np.linspace(0, 0.2, 6)]
    draws = strata.stratified(np.random.default_rng(1), 4000)
    weighted = np.array([weighted_mean(strata.weights[one], scores[one]) for one in draws])
    error = weighted.std() / np.sqrt(len(draws))
    assert abs(weighted.mean() - scores.mean()) < 4 * error
    plain = scores[draws].mean(axis=1)
    assert plain.mean() < scores.mean() - 0.03
    # every question of a stratum is drawn as often
    strata = Strata(["a"] * 20 + ["b"] * 10, 6)
    draws = strata.stratified(np.random.default_rng(2), 6000)
    share = np.bincount(draws.ravel(), minlength=30) / 6000
    assert np.abs(share - 0.2).max() < 0.025


def test_steps_of_difficulty_take_one_question_each_and_balanced_ones_the_nearest_mean():
    strata = Strata(["a"] * 12, 3)
    difficulties = np.arange(12.0)[::-1]
    for seed in range(20):
        chosen = strata.by_difficulty(np.random.default_rng(seed), difficulties)
        assert sorted(difficulties[chosen] // 4) == [0, 1, 2]
    # balanced keeps the candidate whose mean is nearest
    strata = Strata(["a"] * 6, 2)
    curves = np.array([[0.1], [0.2], [0.4], [0.6], [0.8], [0.9]])
    candidates = np.array([[0, 1], [0, 5], [3, 5]])
    assert list(strata.balanced(candidates, curves)) == [0, 5]


def test_the_model_estimates_better_than_the_mean_where_its_world_is_true():
    answered = simulated_answers(systems=12, each=15, seed=3)
    strata = Strata(answered.strata, 36)
    draws = strata.stratified(np.random.default_rng(4), 100)
    errors: list[list[float]] = []
    for out in range(0, 12, 2):
        right = answered.verdicts[out]
        model = fit(np.delete(answered.verdicts, out, axis=0))
        errors += [
            np.array(estimate(strata.weights, model.curves, d, right[d])) - right.mean()
            for d in draws
        ]
    plain, weighted, by_model, mixed = np.abs(errors).mean(axis=0)
    assert by_model < 0.95 * weighted
    assert by_model < mixed < weighted
    assert abs(plain - weighted) < 0.001  # equal strata: the same


def test_p_irt_keeps_what_was_seen():
    """Nothing unseen: the estimate is the share itself, whatever the model thinks."""
    model = fit(simulated_answers().verdicts)
    answers = np.r_[np.ones(30), np.zeros(90)]
    assert p_irt(model.curves, np.zeros(61), 0, answers) == pytest.approx(0.25)
