"""The Pareto front."""

from __future__ import annotations

from eval.stats.pareto import pareto


def test_pareto_front():
    assert pareto([(1, 1), (2, 2), (3, 2), (2, 1), (4, 3)]) == [True, True, False, False, True]
    assert pareto([(1, 1), (1, 1)]) == [True, True]
    assert pareto([(1, 1), (1, 2)]) == [False, True]
