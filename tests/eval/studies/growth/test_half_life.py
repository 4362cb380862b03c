"""The fitted half-life of recall: known curves are found, and intervals contain the truth."""

from __future__ import annotations

import numpy as np
import pytest

from eval.metrics.stats.resamples import Floats
from eval.studies.growth.half_life import Decay, fit

CONVERSATIONS, QUESTIONS = 10, 15
NAMES = [f"c{i // QUESTIONS}" for i in range(CONVERSATIONS * QUESTIONS)]
SESSIONS = np.array([0, 1, 3, 10, 30, 100, 300, 1000])


def memories() -> Floats:
    own = np.repeat(np.linspace(400, 700, CONVERSATIONS), QUESTIONS)
    return np.asarray(own[:, None] + 21.6 * SESSIONS)


def fitted(recall: Floats) -> Decay:
    return fit(memories(), recall, NAMES, seed=0, resamples=200)


def doublings() -> Floats:
    return np.asarray(np.log2(memories() / memories()[:, :1]))


def test_a_known_half_life_is_found_and_equal_curves_are_fitted_exactly():
    across = doublings()
    noise = np.repeat(np.random.default_rng(1).uniform(0.9, 1.1, CONVERSATIONS), QUESTIONS)
    for half_life in (0.4, 1.0, 5.0, 20.0):
        decay = fitted(0.8 * noise[:, None] * 2 ** (-across / half_life))
        assert decay.half_life is not None
        assert decay.half_life.value == pytest.approx(half_life, rel=0.05)
        assert decay.half_life.low <= decay.half_life.value <= decay.half_life.high
        assert decay.start == pytest.approx(0.8, rel=0.05)
        assert decay.residual < 0.02
        assert decay.half_life.clusters == CONVERSATIONS
    own = np.full((len(NAMES), 1), 500.0)
    across = np.log2((own + 21.6 * SESSIONS) / own)
    decay = fit(own + 21.6 * SESSIONS, 0.7 * 2 ** (-across / 3), NAMES, 0, 200)
    assert decay.rate.value == pytest.approx(1 / 3, abs=2e-5)
    assert decay.residual < 1e-4


def test_recall_that_does_not_fall_has_no_half_life():
    chances = np.random.default_rng(3).random((len(NAMES), 1))
    same = np.broadcast_to((chances < 0.6).astype(float), (len(NAMES), len(SESSIONS)))
    decay = fitted(np.ascontiguousarray(same))
    assert decay.half_life is None
    assert decay.rate.value == pytest.approx(0, abs=1e-4)
    rising = fitted(0.4 * 2 ** (doublings() / 6))
    assert rising.rate.value < 0
    assert rising.half_life is None
    # recall of 0 everywhere has no rate
    decay = fitted(np.zeros((len(NAMES), len(SESSIONS))))
    assert np.isnan(decay.rate.value)
    assert decay.half_life is None


def test_intervals_contain_the_true_rate_about_as_often_as_they_say():
    rng, across, rate = np.random.default_rng(7), doublings(), 1 / 6
    inside = 0
    for _ in range(100):
        own = np.repeat(rng.normal(0, 0.03, CONVERSATIONS), QUESTIONS)[:, None]
        ranks = rng.random((len(NAMES), 1))  # a question that is lost stays lost
        recall = (ranks < 0.8 * 2 ** (-(rate + own) * across)).astype(float)
        found = fit(memories(), recall, NAMES, seed=0, resamples=200).rate
        inside += found.low <= rate <= found.high
    assert 88 <= inside <= 100
