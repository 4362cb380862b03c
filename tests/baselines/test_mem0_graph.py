"""Mem0 with a graph: facts and relations share one context, each with a number of its own."""

import json
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from baselines.mem0 import Mem0Graph
from memsys.context.writers import Layered
from memsys.core.errors import InputError
from memsys.core.tokens import count_tokens
from memsys.knowledge.relations.extract import RelationExtractor, SameReply
from memsys.knowledge.relations.forms import RelationGraphSettings
from memsys.llm.base import LLMError
from memsys.stores.networkx_relations import NetworkxRelations
from memsys.stores.size import lines
from memsys.strategies.store import Parts
from memsys.strategies.strategy import Strategy
from tests.memsys.build import query, session
from tests.memsys.contract import Contract
from tests.memsys.knowledge.facts.models import fact
from tests.memsys.knowledge.relations.models import Reply, Scripted, conflict, entity, relation
from tests.memsys.left import mentions

FACTS: dict[str, Any] = {"prompt": "facts_extract", "summary_prompt": None, "exchange": 1}
UPDATE: dict[str, Any] = {"calls": "tools", "similar": 10, "prompt": "mem0_update"}
GRAPH: dict[str, Any] = {
    **{"calls": "tools", "on_conflict": "invalidate", "exchange": 1},
    **{"threshold": 0.7, "merge": 0.9, "nodes": 10, "shown": 20},
}
RELATIONS = {"by": "both", "query_entities": "rule", "limit": 5, "similarity": 0.4}
FIRST = session(
    1, datetime(2024, 3, 2), ("Mara", "I like badminton."), ("Mara", "I own a kiln <small>.")
)
LATER = session(2, datetime(2024, 4, 10), ("Mara", "I do not like badminton any more."))


def strategy_of(
    parts: Parts, k: int = 3, budget: int | None = None, store: Any = None, **own: Any
) -> Mem0Graph:
    settings = {"infer": True, "facts": FACTS, "update": UPDATE, "graph": GRAPH, **own}
    relations = {**RELATIONS, **settings.pop("relations", {})}
    given = store or NetworkxRelations()
    return Mem0Graph(parts, k, budget, store=given, relations=relations, **settings)


def model(**own: Any) -> Scripted:
    """Writes the graph of FIRST and LATER, and no facts."""
    plans: dict[str, list[Reply]] = {
        "entities": [[entity("badminton")], [entity("kiln")], [entity("badminton")]],
        "relations": [
            [relation("Mara", "likes", "badminton")],
            [relation("Mara", "owns", "kiln <small>")],
            [relation("Mara", "does not like", "badminton")],
        ],
        "conflicts": [[], [conflict(1)]],
    }
    return Scripted(**{**plans, **own})


def ingested(strategy: Mem0Graph) -> Mem0Graph:
    for one in (FIRST, LATER):
        strategy.ingest(one)
    return strategy


class TestWithoutRelations(Contract):
    """Messages as they are and an empty graph: a strategy like any other."""

    def make(self, parts: Parts, k: int = 3, budget: int | None = None) -> Strategy:
        with_model = replace(parts, llm=Scripted(entities=[[]]))
        return strategy_of(with_model, k, budget, infer=False)


def test_relations_come_beside_the_k_facts_in_one_ranking(parts):
    strategy = ingested(strategy_of(parts(llm=model()), k=1, infer=False))
    asked = query("Does Mara like badminton?")
    found = strategy.retrieve(asked)
    origins = [one.origin for one in found.candidates]
    assert origins.count("direct") == 1
    assert 1 < len(origins) <= 6
    lines = found.context.splitlines()
    assert "[2 March 2024, 00:00] Mara likes badminton (until 10 April 2024)" in lines
    assert "[10 April 2024, 00:00] Mara does not like badminton" in lines
    expanded = {turn for c in found.candidates if c.origin == "expanded" for turn in c.memory.turns}
    assert {"D1:1", "D2:1"} <= expanded

    strategy = ingested(strategy_of(parts(llm=model()), k=3, infer=False))
    ranked = strategy.retrieve(asked).candidates
    scores = [one.score for one in ranked]
    assert scores == sorted(scores, reverse=True)
    assert ranked[0].origin != ranked[-1].origin
    origins = [one.origin for one in ranked]
    assert origins != sorted(origins)  # not the facts and then the relations

    limited = ingested(strategy_of(parts(llm=model()), k=3, infer=False, relations={"limit": 1}))
    found = limited.retrieve(asked)
    origins = sorted(one.origin for one in found.candidates)
    assert origins == ["direct", "direct", "direct", "expanded"]  # the limit is for relations
    assert len(found.trace["relations"]["found"]) == 1


def test_relations_alone_are_context_enough_and_their_events_are_in_the_log(parts):
    strategy = ingested(strategy_of(parts(llm=model())))
    assert strategy.store.memories == []
    found = strategy.retrieve(query("Who owns a kiln?"))
    assert "r:mara|owns|kiln small" in {one.memory.id for one in found.candidates}
    assert json.loads(json.dumps(strategy.events)) == strategy.events
    steps = {event["step"] for event in strategy.events}
    assert {"extract", "entities", "relations", "conflicts", "apply_relation", "graph"} <= steps
    roles = {"facts", "update", "entities", "relations", "conflicts"}
    assert roles <= set(strategy.prompts)


def test_relations_take_part_in_the_budget_and_are_escaped(parts):
    given = parts(llm=model(), context=Layered("layered"))
    strategy = ingested(strategy_of(given, k=3, infer=False))
    whole = strategy.retrieve(query("Who owns a kiln?"))
    assert "Mara owns kiln &lt;small&gt;</content>" in whole.context
    assert "<small>" not in whole.context
    related = whole.context.partition("<related_context")[2]
    assert "Mara owns kiln" in related
    budget = whole.context_tokens - 20
    tight = ingested(strategy_of(replace(given, llm=model()), 3, budget, infer=False))
    found = tight.retrieve(query("Who owns a kiln?"))
    assert count_tokens(found.context) == found.context_tokens <= budget
    assert 0 < len(found.candidates) < len(whole.candidates)


def test_its_size_counts_nodes_and_edges_and_closing_clears_its_own(parts):
    store = NetworkxRelations()
    one = ingested(strategy_of(parts(llm=model()), store=store))
    other = ingested(strategy_of(parts(llm=model()), store=store))
    held = one.size()
    related = one._graph.related(one._graph.relations())
    names = {node.name for _, ends in related for node in ends}
    tokens = sum(map(count_tokens, [*names, *(one.sentence for one in related)]))
    own = {"tokens": tokens, "bytes": held["bytes"]}
    assert held == {"memories": 0, "nodes": 3, "edges": 3, **own}
    assert 3 * 64 * 4 < held["bytes"] == one._graph.size()["bytes"]
    both = ingested(strategy_of(parts(llm=model()), infer=False))
    assert both.size()["bytes"] == held["bytes"] + lines(both.store.memories)
    one.close()
    assert (one.size()["nodes"], other.size()["nodes"]) == (0, 3)


def test_the_facts_of_a_session_stay_where_the_graph_fails(parts):
    llm = model(entities=[LLMError("refused")])
    strategy = strategy_of(parts(llm=llm), infer=False)
    with pytest.raises(LLMError, match="none of 2 exchanges was ingested into the graph"):
        strategy.ingest(FIRST)
    assert len(strategy.retrieve(query("kiln")).candidates) == 2


def test_forgotten_relations_and_their_entities_are_gone(parts):
    store = NetworkxRelations()
    strategy = ingested(strategy_of(parts(llm=model()), store=store, infer=False))
    strategy.retrieve(query("Who owns a kiln?"))
    assert strategy.forget(["D1:2"]) == 2  # the memory and the relation
    strategy.events.clear()
    found = strategy.retrieve(query("Who owns a kiln? Who likes badminton?"))
    assert "kiln" not in found.context
    assert "badminton" in found.context
    assert not mentions(strategy, "kiln", strategy.parts.embedder, strategy.parts.llm)
    assert strategy.forget(["D1:1", "D2:1"]) == 4
    assert (strategy.size()["nodes"], strategy.size()["edges"]) == (0, 0)
    assert not mentions(store, "badminton")


SAME = {**FACTS, "relations": "same_reply"}


def reply(entities: Any, relations: Any, *rows: Any) -> str:
    return json.dumps({"facts": rows, "entities": entities, "relations": relations})


def talkative(*replies: str | LLMError, **own: Any) -> Scripted:
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


def test_the_graph_is_that_of_separate_calls_without_their_calls(parts):
    one, two = talkative(), model()
    same = ingested(strategy_of(parts(llm=one), facts=SAME))
    apart = ingested(strategy_of(parts(llm=two)))
    related, others = (one._graph.related(one._graph.relations()) for one in (same, apart))
    assert related == others
    calls = [{kind: len(asked) for kind, asked in llm.asked.items()} for llm in (one, two)]
    assert calls[0] == {"facts": 3, "conflicts": 2}
    assert calls[1] == {"facts": 3, "entities": 3, "relations": 3, "conflicts": 2}
    assert "Mara has a kiln" in " ".join(found(same))
    steps = [event["step"] for event in same.events]
    assert steps.count("same_reply") == 3
    assert "same_reply" in same.prompts
    schema = next(one for one in one.schemas if "facts" in one.get("properties", {}))
    assert list(schema["properties"]) == ["facts", "entities", "relations"]


def test_lists_are_checked_and_what_cannot_be_read_is_asked_for_apart(parts):
    llm = talkative(
        LLMError("not of the schema"),
        reply([entity("kiln")], [relation("Mara", "owns", "spaceship", 2)]),
        reply([], []),
        entities=[[entity("badminton")]],
        relations=[[relation("Mara", "likes", "badminton")]],
    )
    strategy = ingested(strategy_of(parts(llm=llm), facts={**SAME, "retries": 0}))
    (stated,) = strategy._graph.related(strategy._graph.relations())
    assert stated.sentence == "Mara likes badminton"
    faults = [event["fault"] for event in strategy.events if "fault" in event]
    assert faults == ["no_answer", "unknown_entity"]
    assert (len(llm.asked["entities"]), len(llm.asked["relations"])) == (1, 1)
    # Both read the same exchanges.
    with pytest.raises(InputError, match=r"^strategy.graph.exchange: relations come with the f"):
        strategy_of(parts(llm=talkative()), facts=SAME, graph={**GRAPH, "exchange": 2})


def test_a_reply_on_other_turns_is_not_taken_for_an_exchange(parts):
    found = SameReply(RelationExtractor(talkative(), RelationGraphSettings(**GRAPH)))
    turns = FIRST.turns
    lists = json.loads(reply([entity("kiln")], [relation("Mara", "owns", "kiln <small>", 2)]))
    found.read(lists, turns, turns[1:], [])
    assert found.pop(turns) == found.pop(turns[:1]) == (None, None)
    entities, triples = found.pop(turns[1:])
    assert [one.name for one in entities or ()] == ["kiln", "Mara"]
    assert [one.turns for one in triples or ()] == [("D1:2",)]
    assert found.pop(turns[1:]) == (None, None)
    found.read(lists, turns, turns[1:], [])
    found.forget(["D1:2"])
    assert found.pop(turns[1:]) == (None, None)
