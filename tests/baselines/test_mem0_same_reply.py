"""Entities and relations come in the reply that has the facts, and are checked as by themselves."""

from __future__ import annotations

import json
from typing import Any

import pytest

from baselines.mem0 import Mem0Graph
from memsys.errors import InputError
from memsys.relations.extract import RelationExtractor
from memsys.relations.relation_graph import RelationGraphSettings
from memsys.relations.same_reply import SameReply
from tests.baselines.test_mem0_graph import FACTS, FIRST, GRAPH, ingested, model, strategy_of
from tests.memsys.build import MakeParts, query
from tests.memsys.facts.models import fact
from tests.memsys.relations.models import Scripted, conflict, entity, relation

SAME = {**FACTS, "relations": "same_reply"}


def reply(entities: Any, relations: Any, *rows: Any) -> str:
    return json.dumps({"facts": rows, "entities": entities, "relations": relations})


def talkative(*replies: str, **own: Any) -> Scripted:
    """Gives everything about the three messages in one reply each."""
    given = replies or (
        reply([entity("badminton")], [relation("Mara", "likes", "badminton")]),
        reply(
            [entity("kiln")], [relation("I", "owns", "kiln <small>", 2)], fact("Mara has a kiln")
        ),
        reply([entity("badminton")], [relation("Mara", "does not like", "badminton", 3)]),
    )
    return Scripted(facts=list(given), conflicts=[[], [conflict(1)]], **own)


def found(strategy: Mem0Graph) -> set[str]:
    context = strategy.retrieve(query("Does Mara like badminton? Who owns a kiln?")).context
    return {line.partition("]")[2].strip() for line in context.splitlines() if line}


def test_the_graph_is_that_of_separate_calls_without_their_calls(parts: MakeParts) -> None:
    one, two = talkative(), model()
    same = ingested(strategy_of(parts(llm=one), facts=SAME))
    apart = ingested(strategy_of(parts(llm=two)))
    assert same._graph.sentences(same._graph.relations()) == apart._graph.sentences(
        apart._graph.relations()
    )
    assert same._graph.relations() == apart._graph.relations()
    assert {kind: len(asked) for kind, asked in two.asked.items()} == {
        **{"facts": 3, "entities": 3, "relations": 3, "conflicts": 2}
    }
    assert {kind: len(asked) for kind, asked in one.asked.items()} == {"facts": 3, "conflicts": 2}
    assert "Mara has a kiln" in " ".join(found(same))
    steps = [event["step"] for event in same.events]
    assert steps.count("same_reply") == 3
    assert "same_reply" in same.prompts
    schema = next(one for one in one.schemas if "facts" in one.get("properties", {}))
    assert list(schema["properties"]) == ["facts", "entities", "relations"]


def test_lists_are_checked_and_what_cannot_be_read_is_asked_for_apart(parts: MakeParts) -> None:
    llm = talkative(
        json.dumps({"facts": [], "entities": [entity("badminton")]}),
        reply([entity("kiln"), 3], [relation("Mara", "owns", "spaceship", 2)]),
        reply([], []),
        entities=[[entity("badminton")]],
        relations=[[relation("Mara", "likes", "badminton")]],
    )
    strategy = ingested(strategy_of(parts(llm=llm), facts=SAME))
    assert strategy._graph.sentences(strategy._graph.relations()) == ["Mara likes badminton"]
    assert [event["fault"] for event in strategy.events if "fault" in event] == [
        *("no_call", "bad_argument", "unknown_entity")
    ]
    assert (len(llm.asked["entities"]), len(llm.asked["relations"])) == (1, 1)


def test_both_read_the_same_exchanges(parts: MakeParts) -> None:
    with pytest.raises(InputError, match=r"^strategy.graph.exchange: relations come with the f"):
        strategy_of(parts(llm=talkative()), facts=SAME, graph={**GRAPH, "exchange": 2})


def test_a_reply_on_other_turns_is_not_taken_for_an_exchange(parts: MakeParts) -> None:
    found = SameReply(RelationExtractor(talkative(), RelationGraphSettings(**GRAPH)))
    turns = FIRST.turns
    lists = json.loads(reply([entity("kiln")], [relation("Mara", "owns", "kiln <small>", 2)]))
    found.read(lists, turns, turns[1:], [])
    assert found.pop(turns) == found.pop(turns[:1]) == (None, None)
    entities, triples = found.pop(turns[1:])
    assert [one.name for one in entities or ()] == ["kiln", "Mara"]
    assert [one.turns for one in triples or ()] == [("D1:2",)]
    assert found.pop(turns[1:]) == (None, None)
