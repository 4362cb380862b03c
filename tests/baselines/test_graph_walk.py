"""A walk finds what is two links away from what was found, and only by links."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from baselines.rankings import GraphWalk
from memsys.errors import InputError
from memsys.strategy import Strategy
from tests.memsys.build import MakeParts, Planned, query, session

NUMBERS = {"start": "vector", "seeds": 1, "damping": 0.9, "steps": 20, "weight": 0.0}
CHAIN = (
    "the copper kettle belongs to Selwyn",
    "Selwyn lives beside Ostrava mill",
    "Ostrava mill grinds barley",
    "nobody expected thunder",
    "winter came early",
)
FOUND = {f"Mara: {text}": 0.9 - 0.1 * row for row, text in enumerate(CHAIN[:1] + CHAIN[3:])}
COSINES = {f"Mara: {text}": 0.05 for text in CHAIN} | FOUND


def walk(parts: MakeParts, k: int, **own: Any) -> Strategy:
    strategy = GraphWalk(parts(Planned(COSINES)), k, None, **{**NUMBERS, **own})
    strategy.ingest(session(1, datetime(2024, 3, 2), *(("Mara", text) for text in CHAIN)))
    return strategy


def found(strategy: Strategy) -> list[str]:
    return [
        c.memory.content.removeprefix("Mara: ") for c in strategy.retrieve(query("?")).candidates
    ]


def test_the_walk_follows_links_that_the_question_does_not_share(parts: MakeParts) -> None:
    assert set(found(walk(parts, 3))) == set(CHAIN[:3])


def test_relevance_alone_is_the_start_ranking(parts: MakeParts) -> None:
    assert found(walk(parts, 3, weight=1.0)) == [CHAIN[0], CHAIN[3], CHAIN[4]]


def test_a_new_session_changes_the_graph(parts: MakeParts) -> None:
    strategy = walk(parts, 5)
    assert set(found(strategy)[:3]) == set(CHAIN[:3])
    strategy.ingest(session(2, datetime(2024, 3, 3), ("Mara", "barley feeds the geese of Ilse")))
    # Unknown texts are most like the question: the walk starts at the new one, from the other end.
    assert found(strategy)[:2] == ["barley feeds the geese of Ilse", CHAIN[2]]


@pytest.mark.parametrize(
    "wrong", [{"seeds": 0}, {"steps": 0}, {"damping": 1.0}, {"weight": 1.5}, {"start": "random"}]
)
def test_wrong_numbers_are_named(parts: MakeParts, wrong: dict[str, Any]) -> None:
    (name,) = wrong
    with pytest.raises(InputError, match=name):
        walk(parts, 3, **wrong)
