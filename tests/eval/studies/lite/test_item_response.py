"""The model finds what the answers were made with."""

from __future__ import annotations

import numpy as np

from eval.datasets.subset import GRID
from eval.studies.lite.item_response import fit, held_out, logistic
from eval.summary.subset_score import ability
from tests.eval.studies.lite.simulated import simulate


def test_two_parameter_model_recovers_abilities_slopes_and_difficulties():
    answers, abilities, slopes, difficulties = simulate(systems=60, questions=400, seed=1)
    model = fit(answers)
    zero = difficulties.mean()  # only differences are known: the model's zero is the mean question
    assert np.abs(model.abilities - (abilities - zero)).max() < 0.35
    assert np.sqrt(((model.difficulties - (difficulties - zero)) ** 2).mean()) < 0.45
    assert np.corrcoef(model.difficulties, difficulties)[0, 1] > 0.95
    assert np.corrcoef(np.log(model.slopes), np.log(slopes))[0, 1] > 0.5
    assert abs(model.spread - 1.3) < 0.2
    assert abs(model.slope_spread - 0.3) < 0.12


def test_one_parameter_world_has_hardly_a_spread_of_slopes():
    answers, abilities, _, difficulties = simulate(60, 400, seed=2, slope_spread=0.0)
    model = fit(answers, slopes=False)
    assert model.slope_spread == 0
    assert set(model.slopes.round(9)) == {1.0}
    assert np.abs(model.abilities - (abilities - difficulties.mean())).max() < 0.35
    assert fit(answers).slope_spread < 0.2


def test_hidden_answers_tell_which_model_it_was():
    steep, *_ = simulate(20, 110, seed=3, slope_spread=0.9)
    flat, *_ = simulate(20, 110, seed=3, slope_spread=0.0)
    found, same = held_out(steep, 0, folds=3), held_out(flat, 0, folds=3)
    assert found["2PL"] > found["1PL"] + 0.005
    assert abs(same["2PL"] - same["1PL"]) < 0.003
    assert all(value > np.log(0.5) for value in (*found.values(), *same.values()))


def test_unknown_answers_count_for_nothing():
    answers, *_ = simulate(20, 100, seed=4)
    more = np.hstack([answers, np.full((20, 1), np.nan)])
    model, plain = fit(more), fit(answers)
    assert np.abs(model.difficulties[:-1] - plain.difficulties).max() < 0.1
    assert abs(model.difficulties[-1]) < 0.05  # nothing is known of it: the prior's mean
    assert np.isfinite(model.curves).all()
    # a system without a wrong answer stays finite
    answers, *_ = simulate(6, 50, seed=5)
    answers[0] = 1.0
    model = fit(answers)
    assert np.isfinite(model.abilities).all()
    assert model.abilities.argmax() == 0


def test_ability_is_found_again_from_answers_and_from_shares():
    rng = np.random.default_rng(6)
    difficulties = rng.normal(0, 1.3, 400)
    curves = np.clip(logistic(GRID - difficulties[:, None]), 1e-4, 1 - 1e-4)
    for true in (-1.0, 0.5, 2.0):
        chance = logistic(true - difficulties)
        for answers in ((rng.random(400) < chance).astype(float), chance):
            posterior = ability(np.log(curves), np.log(1 - curves), answers)
            assert abs(posterior.sum() - 1) < 1e-9
            assert abs(posterior @ GRID - true) < 0.3
