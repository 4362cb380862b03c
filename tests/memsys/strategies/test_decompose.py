from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Any

import pytest

from memsys.strategies.store import Parts
from tests.memsys.build import ingest_all, query, session
from tests.memsys.contract import QUERIES
from tests.memsys.strategies.make import option

BOTH = "What do Mara and Theo sell?"
TALK = session(
    1,
    datetime(2024, 3, 2),
    ("Mara", "I sell bowls."),
    ("Theo", "I sell seedlings."),
    ("Mara", "We ate at Salt and Pepper."),
    ("Theo", "Salt was scarce. Pepper too."),
)


decompose = partial(option, "decompose")


@pytest.mark.parametrize("start", ["vector", "lexical", "hybrid"])
def test_without_conjuncts_the_start_ranking_is_exact(parts, start):
    strategy = ingest_all(decompose(parts(), 10, start=start))
    for one in QUERIES:
        ranked, trace = strategy.rank(one)
        assert ranked == strategy.best(strategy.store.ranking(one.text, start))
        assert trace == {}


@pytest.mark.parametrize("whole", [True, False])
def test_rankings_take_turns_without_repeats(parts, whole):
    strategy = ingest_all(decompose(parts(), 10, whole=whole))
    found, trace = strategy.rank(query(BOTH))
    alone = ["What do Mara sell?", "What do Theo sell?"]
    assert trace == {"conjuncts": alone}
    asked = [BOTH, *alone] if whole else alone
    rankings = [strategy.best(strategy.store.ranking(text, "vector")) for text in asked]
    expected = [one.memory.id for place in zip(*rankings, strict=True) for one in place]
    assert [one.memory.id for one in found] == list(dict.fromkeys(expected))
    assert [one.score for one in found] == [1 / n for n in range(1, 11)]
    recorded = ingest_all(decompose(parts(depth=5), 2, whole=whole))
    assert len(recorded.rank(query(BOTH))[0]) == 5


def split(parts: Parts, text: str, **change: Any) -> bool:
    strategy = decompose(parts, **change)
    strategy.ingest(TALK)
    return "conjuncts" in strategy.rank(query(text))[1]


def test_a_unit_of_the_memories_is_not_split_and_noun_phrases_only_if_asked_for(parts):
    assert split(parts(), BOTH)
    assert not split(parts(), "Who ate at Salt and Pepper?")
    assert split(parts(), "Who likes Salt or Pepper?")  # not a unit: these words are not together
    assert not split(parts(), "Who sells bowls and seedlings?")
    assert split(parts(), "Who sells bowls and seedlings?", conjuncts="all")
