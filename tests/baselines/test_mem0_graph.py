"""Mem0 with a graph: facts and relations share one context, each with a number of its own."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pytest

from baselines.mem0 import Mem0Graph
from memsys.context.writers import Layered
from memsys.errors import InputError
from memsys.llm.base import LLMError
from memsys.store import Parts
from memsys.stores.networkx_relations import NetworkxRelations
from memsys.stores.size import lines
from memsys.strategy import Strategy
from memsys.text.tokens import count_tokens
from tests.memsys.build import MakeParts, query, session
from tests.memsys.contract import Contract
from tests.memsys.reach import mentions
from tests.memsys.relations.models import Reply, Scripted, conflict, entity, relation

FACTS: dict[str, Any] = {"prompt": "facts_extract", "summary_prompt": None, "exchange": 1}
UPDATE: dict[str, Any] = {"calls": "tools", "similar": 10, "prompt": "mem0_update"}
GRAPH: dict[str, Any] = {
    **{"calls": "tools", "on_conflict": "invalidate", "exchange": 1},
    **{"threshold": 0.7, "merge": 0.9, "nodes": 10, "shown": 20},
}
RELATIONS: dict[str, Any] = {
    **{"by": "both", "query_entities": "rule", "limit": 5, "similarity": 0.4}
}
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
        with_model = Parts(**{**fields(parts), "llm": Scripted(entities=[[]])})
        return strategy_of(with_model, k, budget, infer=False)


def fields(parts: Parts) -> dict[str, Any]:
    return {name: getattr(parts, name) for name in Parts.__dataclass_fields__}


def test_relations_come_beside_the_k_facts(parts: MakeParts) -> None:
    strategy = ingested(strategy_of(parts(llm=model()), k=1, infer=False))
    found = strategy.retrieve(query("Does Mara like badminton?"))
    origins = [one.origin for one in found.candidates]
    assert origins.count("direct") == 1
    assert 1 < len(origins) <= 6
    lines = found.context.splitlines()
    assert "[2 March 2024, 00:00] Mara likes badminton (until 10 April 2024)" in lines
    assert "[10 April 2024, 00:00] Mara does not like badminton" in lines
    expanded = {turn for c in found.candidates if c.origin == "expanded" for turn in c.memory.turns}
    assert {"D1:1", "D2:1"} <= expanded


def test_facts_and_relations_are_one_ranking(parts: MakeParts) -> None:
    strategy = ingested(strategy_of(parts(llm=model()), k=3, infer=False))
    found = strategy.retrieve(query("Does Mara like badminton?")).candidates
    scores = [one.score for one in found]
    assert scores == sorted(scores, reverse=True)
    assert found[0].origin != found[-1].origin
    origins = [one.origin for one in found]
    assert origins != sorted(origins)  # not the facts and then the relations


def test_the_limit_is_for_relations_alone(parts: MakeParts) -> None:
    strategy = ingested(strategy_of(parts(llm=model()), k=3, infer=False, relations={"limit": 1}))
    found = strategy.retrieve(query("Does Mara like badminton?"))
    origins = sorted(one.origin for one in found.candidates)
    assert origins == ["direct", "direct", "direct", "expanded"]
    assert len(found.trace["relations"]["found"]) == 1


def test_relations_alone_are_context_enough(parts: MakeParts) -> None:
    strategy = ingested(strategy_of(parts(llm=model())))
    assert strategy.store.memories == []
    found = strategy.retrieve(query("Who owns a kiln?"))
    assert "r:mara|owns|kiln small" in {one.memory.id for one in found.candidates}


def test_relations_take_part_in_the_budget_and_are_escaped(parts: MakeParts) -> None:
    given = parts(llm=model(), context=Layered("layered"))
    strategy = ingested(strategy_of(given, k=3, infer=False))
    whole = strategy.retrieve(query("Who owns a kiln?"))
    assert "Mara owns kiln &lt;small&gt;</content>" in whole.context
    assert "<small>" not in whole.context
    related = whole.context.partition("<related_context")[2]
    assert "Mara owns kiln" in related
    budget = whole.context_tokens - 20
    tight = ingested(
        strategy_of(Parts(**{**fields(given), "llm": model()}), 3, budget, infer=False)
    )
    found = tight.retrieve(query("Who owns a kiln?"))
    assert count_tokens(found.context) == found.context_tokens <= budget
    assert 0 < len(found.candidates) < len(whole.candidates)


def test_on_delete_the_old_relation_is_gone(parts: MakeParts) -> None:
    graph = {**GRAPH, "on_conflict": "delete"}
    strategy = ingested(strategy_of(parts(llm=model()), graph=graph))
    found = strategy.retrieve(query("Does Mara like badminton?"))
    contents = {one.memory.content for one in found.candidates}
    assert "Mara does not like badminton" in contents
    assert not any("likes" in content for content in contents)


def test_its_size_counts_nodes_and_edges_and_closing_clears_its_own(parts: MakeParts) -> None:
    store = NetworkxRelations()
    one = ingested(strategy_of(parts(llm=model()), store=store))
    other = ingested(strategy_of(parts(llm=model()), store=store))
    held = one.size()
    assert held == {"memories": 0, "tokens": 0, "nodes": 3, "edges": 3, "bytes": held["bytes"]}
    assert 3 * 64 * 4 < held["bytes"] == one._graph.size()["bytes"]
    both = ingested(strategy_of(parts(llm=model()), infer=False))
    assert both.size()["bytes"] == held["bytes"] + lines(both.store.memories)
    one.close()
    assert (one.size()["nodes"], other.size()["nodes"]) == (0, 3)


def test_events_of_facts_and_relations_are_one_plain_log(parts: MakeParts) -> None:
    strategy = ingested(strategy_of(parts(llm=model())))
    assert json.loads(json.dumps(strategy.events)) == strategy.events
    steps = {event["step"] for event in strategy.events}
    assert {"extract", "entities", "relations", "conflicts", "apply_relation", "graph"} <= steps


def test_the_facts_of_a_session_stay_where_the_graph_fails(parts: MakeParts) -> None:
    llm = model(entities=[LLMError("refused")])
    strategy = strategy_of(parts(llm=llm), infer=False)
    with pytest.raises(LLMError, match="none of 2 exchanges was ingested into the graph"):
        strategy.ingest(FIRST)
    assert len(strategy.retrieve(query("kiln")).candidates) == 2


def test_without_a_model_it_refuses(parts: MakeParts) -> None:
    with pytest.raises(InputError, match=r"^strategy=mem0_graph: no model .* llm=openai"):
        strategy_of(parts())
    with pytest.raises(InputError, match="strategy=mem0_graph"):
        strategy_of(parts(), infer=False)


def test_its_prompts_are_named_for_the_manifest(parts: MakeParts) -> None:
    roles = {"facts", "update", "entities", "relations", "conflicts"}
    assert roles <= set(strategy_of(parts(llm=model())).prompts)


def test_forgotten_relations_and_their_entities_are_gone(parts: MakeParts) -> None:
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
