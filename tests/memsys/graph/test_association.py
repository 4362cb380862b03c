from __future__ import annotations

from math import exp, log2

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from memsys.graph.association import associations, concentrations


@pytest.mark.parametrize(
    ("together", "one", "other", "n"),
    [(4, 5, 6, 100), (1, 9, 9, 50), (3, 3, 3, 10), (2, 2, 40, 41)],
)
def test_association_is_the_log_likelihood_ratio(
    together: int, one: int, other: int, n: int
) -> None:
    table = [[together, one - together], [other - together, n - one - other + together]]
    known = chi2_contingency(table, correction=False, lambda_="log-likelihood").statistic
    found = associations(*(np.array([count]) for count in (together, one, other)), n)
    assert found == pytest.approx([known if together > one * other / n else 0.0])


def test_words_that_meet_less_often_than_by_chance_are_not_associated() -> None:
    one, many = np.array([1]), np.array([40])
    assert associations(one, many, many, 60) == [0.0]


def test_concentration_compares_sessions_with_those_expected() -> None:
    # Four sessions: entity 0 four times in the first, 1 once in each, 2 never
    entities, sessions = np.array([0, 0, 0, 0, 1, 1, 1, 1]), np.array([0, 0, 0, 0, 0, 1, 2, 3])
    expected = 4 * (1 - exp(-4 / 4))
    found = concentrations(entities, sessions, 3)
    assert found == pytest.approx([log2(expected / 1), log2(expected / 4), 0.0])


def test_one_session_concentrates_nothing() -> None:
    assert concentrations(np.array([0, 0, 1]), np.array([0, 0, 0]), 2).tolist() == [0.0, 0.0]
