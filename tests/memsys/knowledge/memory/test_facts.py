"""Facts as memories of any strategy: as they were said, with a log, and apart by conversation."""

from __future__ import annotations

import json
from typing import Any

import pytest

from baselines.mem0 import Mem0
from baselines.rankings import BM25
from memsys.core.errors import InputError
from memsys.knowledge.memory.base import builder_for
from memsys.knowledge.memory.facts import Facts
from memsys.knowledge.memory.turns import Turns
from memsys.strategies.plain import VectorOnly
from tests.memsys.build import SESSIONS, ingest_all, query
from tests.memsys.build import session as talk
from tests.memsys.knowledge.facts.models import Planned, fact, facts
from tests.memsys.left import mentions
from tests.memsys.strategies.make import graph_expand

REPLIES = [
    facts(fact("Mara takes pwalrusy lessons", "Mara", 1), fact("Theo has an allotment", "Theo", 2)),
    facts(fact("Mara broke a bowl", "Mara", 6)),
    facts(
        fact("Theo has no allotment any more", "Theo", 9),
        *(fact(f"Mara {does} a bowl", "Mara", 8) for does in ("broke", "sold")),
    ),
]
ALL = {
    *("Mara takes pwalrusy lessons", "Theo has an allotment", "Mara broke a bowl"),
    *("Theo has no allotment any more", "Mara sold a bowl"),
}


def unit(**own: Any) -> Any:
    given: Any = {"exchange": 4, "recent": 10, "images": "caption", "retries": 0}
    prompts: Any = {"prompt": "facts_extract", "summary_prompt": None}
    return Facts(**{"name": "facts", **given, **prompts, **own})


def test_every_fact_is_added_once_and_logged_and_none_is_dropped():
    llm = Planned(REPLIES)
    one = unit().open(llm)
    built = [one.build(session) for session in SESSIONS]
    assert [len(memories) for memories in built] == [2, 1, 2]
    memories = [memory for found in built for memory in found]
    assert {memory.content for memory in memories} == ALL
    assert [memory.id for memory in memories] == ["f1", "f2", "f3", "f4", "f5"]
    assert memories[2].turns == ("D2:2",)
    assert [memory.time for memory in memories[2:4]] == [SESSIONS[1].time, SESSIONS[2].time]
    assert llm.asked["decide"] == []
    done = [(event["operation"], event["why"]) for event in one.events if event["step"] == "apply"]
    add, noop = ("ADD", "nothing is compared"), ("NOOP", "it is stored already, word for word")
    assert done == [add, add, add, add, noop, add]
    last = {"step": "session", "ADD": 2, "NOOP": 1, "faults": 0, "lost": 0, "of": 1}
    assert one.events[-1] == last
    assert json.loads(json.dumps(one.events)) == one.events


@pytest.mark.parametrize("kind", ["vector", "words", "graph", "mem0 without operations"])
def test_any_strategy_can_use_them(parts, kind):
    given = parts(memory=unit(), llm=Planned(REPLIES))
    if kind == "vector":
        one: Any = VectorOnly(given, 9, None)
    elif kind == "words":
        one = BM25(given, 9, None)
    elif kind == "graph":
        one = graph_expand(given, 9, start="hybrid")
    else:
        one = Mem0(given, 9, None, infer=False, facts={}, update={})
    assert [one.ingest(session) for session in SESSIONS] == [2, 1, 2]
    found = one.retrieve(query("Who sold a bowl? And the allotment?")).candidates
    assert {candidate.memory.content for candidate in found} == ALL
    assert (one.events[-1]["step"], set(one.prompts)) == ("session", {"facts"})


def test_two_conversations_of_a_run_share_nothing(parts):
    llm = Planned([REPLIES[0]], summary=["Mara pots."])
    given = parts(memory=unit(summary_prompt="facts_summary"), llm=llm)
    first, second = VectorOnly(given, 9, None), VectorOnly(given, 9, None)
    first.ingest(SESSIONS[0])
    assert second.events == []
    assert second.ingest(SESSIONS[0]) == 2
    assert llm.asked["extract"][1] == llm.asked["extract"][0]
    assert "Mara pots." not in llm.asked["extract"][1]
    ids = [[memory.id for memory in one.store.memories] for one in (first, second)]
    assert ids == [["f1", "f2"], ["f1", "f2"]]


def test_wrong_settings_and_a_missing_model_are_named(parts):
    for wrong in ({"exchange": 0}, {"retries": -1}, {"images": "eyes"}):
        with pytest.raises(InputError, match=f"^memory.{min(wrong)}: "):
            VectorOnly(parts(memory=unit(**wrong), llm=Planned()), 9, None)
    message = "^memory=facts: no model to write the facts; add llm=openai or llm=local$"
    with pytest.raises(InputError, match=message):
        VectorOnly(parts(memory=unit()), 9, None)


def test_an_option_without_state_is_its_own_builder():
    assert builder_for(turns := Turns("turns"), None) is turns


def test_facts_of_forgotten_turns_are_gone_and_may_be_stated_again(parts):
    nameless = fact("Theo met a walrus", "Theo")
    lessons = fact("Mara takes pwalrusy lessons", "Mara", 1)
    llm = Planned([facts(lessons, nameless), *REPLIES[1:], facts(lessons)])
    strategy = ingest_all(VectorOnly(parts(memory=unit(), llm=llm), 9, None))
    strategy.retrieve(query("pwalrusy"))
    assert strategy.forget(["D9:9"]) == 0
    assert strategy.forget(["D1:1"]) == 2  # and the fact that names no turn of its session
    left = ALL - {"Mara takes pwalrusy lessons", "Theo has an allotment"}
    assert {one.content for one in strategy.store.memories} == left
    strategy.events.clear()
    assert not mentions(strategy, "lessons", strategy.parts.embedder, llm)
    assert not mentions(strategy, "walrus", strategy.parts.embedder, llm)
    again = talk(4, SESSIONS[2].time, ("Mara", "Pwalrusy lessons again."))
    assert strategy.ingest(again) == 1
    assert strategy.store.memories[-1].id == "f6"  # no id is used twice
