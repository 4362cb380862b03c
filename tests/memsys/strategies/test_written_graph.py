"""graph=relations: strategies over the graph that a model writes."""

import json
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from memsys.context.writers import Layered
from memsys.core.errors import InputError
from memsys.knowledge.memory.facts import Facts
from memsys.knowledge.relations.written_graph import WrittenByModel
from memsys.llm.base import LLMError
from memsys.stores.networkx_relations import NetworkxRelations
from memsys.strategies.plain import VectorOnly
from memsys.strategies.store import Parts
from memsys.strategies.strategy import Strategy
from tests.memsys.build import Planned, ids, query, session
from tests.memsys.contract import Contract
from tests.memsys.knowledge.facts.models import fact
from tests.memsys.knowledge.relations.models import Reply, Scripted, entity, relation
from tests.memsys.left import mentions
from tests.memsys.strategies import make

NUMBERS = {"threshold": 0.7, "merge": 0.9, "nodes": 10, "shown": 20, "max_share": 0.5}
# The first leads to the third by what the second says, which shares no word with it
TALK = session(
    1,
    datetime(2024, 3, 2),
    ("Mara", "What shall I cook tonight?"),
    ("Mara", "Osha comes for dinner."),
    ("Mara", "Prawns make him ill."),
    ("Mara", "Winter was early."),
)
COSINES = {
    "Mara: What shall I cook tonight?": 0.9,
    "Mara: Osha comes for dinner.": 0.8,
    "Mara: Prawns make him ill.": 0.3,
    "Mara: Winter was early.": 0.4,
    **{"Osha": 0.0, "dinner": 0.5, "prawns": -0.5, "Mara": -1.0},  # no two names are alike
}
ENTITIES: list[Reply] = [[], [entity("Osha", "person"), entity("dinner")], [entity("prawns")], []]
RELATED: list[Reply] = [
    [relation("Osha", "comes for", "dinner")],
    [relation("prawns", "make ill", "Mara")],
]


# Of prawns and Osha, too
BOTH: list[Reply] = [*ENTITIES[:2], [entity("prawns"), entity("Osha")], []]
STATED: list[Reply] = [*RELATED[:1], [relation("prawns", "make ill", "Osha")]]


def written(store: NetworkxRelations | None = None, **own: Any) -> WrittenByModel:
    given = {"calls": "tools", "on_conflict": "delete", "exchange": 1, **NUMBERS, **own}
    return WrittenByModel("relations", relation_store=store or NetworkxRelations(), **given)


def model(**own: Any) -> Scripted:
    return Scripted(**{"entities": ENTITIES, "relations": RELATED, **own})


def osha(relations: str = "separate", **own: Any) -> dict[str, Any]:
    """Parts whose facts name Osha in two of three."""
    texts = ("What to cook tonight?", "Osha comes for dinner", "Prawns make Osha ill")
    facts = [*([fact(text, "Mara", 1)] for text in texts), []]
    numbers: dict[str, Any] = {"summary_prompt": None, "exchange": 1, "recent": 0}
    unit = Facts(name="facts", prompt="facts_extract", relations=relations, **numbers)
    return {"memory": unit, "graph": written(), "llm": model(facts=facts), **own}


def ingested(strategy: Strategy) -> Strategy:
    strategy.ingest(TALK)
    return strategy


class TestContract(Contract):
    """A strategy like any other, if the model writes nothing."""

    def make(self, parts: Parts, k: int = 3, budget: int | None = None) -> Strategy:
        with_model = replace(parts, graph=written(), llm=Scripted(entities=[[]]))
        return make.graph_expand(with_model, k, budget)


def test_expansion_follows_what_the_model_wrote(parts):
    llm = model(entities=BOTH, relations=STATED)
    given = parts(Planned(COSINES), graph=written(), llm=llm)
    strategy = ingested(make.graph_expand(given, 3, seeds=2, threshold=0.0, edge_weight=1.0))
    found = strategy.retrieve(query("?"))
    (added,) = found.trace["expansion"]
    assert (added["memory"], added["seed"]) == ("D1:3", "D1:2")  # and not the winter
    assert added["via"] == "e:osha"
    assert "D1:3" in ids(found)
    rules = ingested(make.graph_expand(parts(Planned(COSINES)), 3, seeds=2, threshold=0.0))
    assert rules.retrieve(query("?")).trace["expansion"] == []


@pytest.mark.parametrize("name", ["graph_expand", "hybrid_gate"])
def test_relations_of_followed_entities_are_shown_beside_the_k_memories(parts, name):
    """With what the expansion adds; each scored by its edge and its cosine to the question."""
    own: dict[str, Any] = {"similarity": 1.0} if name == "hybrid_gate" else {}  # it opens
    shown: dict[int, Any] = {}
    for most in (0, 1, 5):
        llm = model(entities=BOTH, relations=STATED)
        cosines = {**COSINES, "Osha comes for dinner": 0.2, "prawns make ill Osha": 0.6}
        own_parts = {"graph": written(), "llm": llm, "depth": 9, "context": Layered("layered")}
        given = parts(Planned(cosines), **own_parts)
        numbers = {"seeds": 2, "threshold": 0.1, "relations": most, **own}
        shown[most] = ingested(getattr(make, name)(given, 2, **numbers)).retrieve(query("?"))
    assert [len(one.candidates) for one in shown.values()] == [2, 3, 4]
    assert "relations" not in shown[0].trace
    found = shown[5].trace["relations"]["found"]
    scores = [0.6 * 0.5 + 0.4 * cosine for cosine in (0.6, 0.2)]
    assert [one["score"] for one in found] == pytest.approx(scores, abs=1e-6)
    (first,) = shown[1].trace["relations"]["found"]
    assert first["relation"] == found[0]["relation"]
    related = shown[5].context.partition("<related_context>")[2]
    for sentence in ("prawns make ill Osha", "Osha comes for dinner"):
        assert f"<content>{sentence}</content>" in related
    ranked = shown[5].ranking
    assert ranked is not None
    assert not any(one.beside for one in ranked)
    assert shown[5].ranking == shown[0].ranking


@pytest.mark.parametrize("name", ["graph_expand", "graph_score", "hybrid_gate"])
def test_every_strategy_over_a_graph_has_its_prompts_events_and_size(parts, name):
    store = NetworkxRelations()
    given = parts(graph=written(store), llm=model())
    strategy = ingested(getattr(make, name)(given, 3))
    assert {"entities", "relations", "conflicts"} <= strategy.prompts.keys()
    steps = {event["step"] for event in strategy.events}
    assert {"entities", "relations", "apply_relation", "graph"} <= steps
    strategy.retrieve(query("Who comes?"))
    size, graph = strategy.size(), strategy.store.graph.store.size()
    assert (size["nodes"], size["edges"]) == (graph["nodes"], graph["edges"])
    # Beside the links: the entities with their vectors, and the relations
    asked = Scripted()
    plain = ingested(VectorOnly(parts(graph=written(), llm=asked), 3))
    assert asked.asked == {}  # without a graph
    plain.retrieve(query("Who comes?"))
    assert size["bytes"] - plain.size()["bytes"] - graph["bytes"] > 3 * 64 * 4
    (owner,) = store._graphs
    assert len(store.relations(owner)) == 2
    # A later session changes the graph.
    given.llm.plans["entities"] = [[entity("Osha"), entity("beans")]]
    given.llm.plans["relations"] = [[relation("Osha", "likes", "beans")]]
    strategy.ingest(session(2, datetime(2024, 4, 1), ("Mara", "He likes beans.")))
    assert strategy.store.graph.store.size()["nodes"] > graph["nodes"]
    strategy.close()
    assert store.nodes(owner) == []


def test_facts_are_linked_by_their_turns_and_words(parts):
    strategy = ingested(make.graph_expand(parts(**osha())))
    (edges,) = strategy.store.graph.store.neighbours(["e:osha"])
    mentioning = {edge.node for edge in edges if edge.kind == "mentions"}
    assert mentioning == {"m:f2", "m:f3"}  # f3 by its words alone
    steps = [event["step"] for event in strategy.events]
    assert steps.index("session") < steps.index("graph")
    assert len(strategy.parts.llm.asked["entities"]) == 4  # type: ignore[union-attr]


def test_one_reply_can_have_facts_and_relations(parts):
    both = {
        "facts": [fact("Osha comes for dinner", "Mara", 1)],
        "entities": [entity("Osha", "person"), entity("dinner")],
        "relations": [relation("Osha", "comes for", "dinner")],
    }
    none: dict[str, Any] = {"facts": [], "entities": [], "relations": []}
    llm = Scripted(facts=[json.dumps(one) for one in (none, both, none)])
    strategy = ingested(make.graph_expand(parts(**osha("same_reply", llm=llm))))
    assert llm.asked.keys() == {"facts"}
    (edges,) = strategy.store.graph.store.neighbours(["e:osha"])
    assert {edge.node for edge in edges} == {
        "m:f1",
        "e:dinner",
        strategy.store.graph.start_nodes["f1"],
    }
    assert "same_reply" in strategy.prompts


def test_a_model_that_is_down_fails_the_session_and_is_logged(parts):
    llm = Scripted(entities=[LLMError("down")])
    strategy = make.graph_expand(parts(graph=written(), llm=llm))
    with pytest.raises(LLMError, match="none of 4 exchanges"):
        strategy.ingest(TALK)
    assert [event.get("fault") for event in strategy.events] == [*["no_answer"] * 4, None]


def test_what_cannot_be_used_is_named(parts):
    with pytest.raises(InputError, match=r"^graph=relations: no model .* add llm=openai"):
        make.graph_expand(parts(graph=written()))
    for field, value in (("exchange", 0), ("merge", 2), ("max_share", 2), ("calls", "x")):
        with pytest.raises(InputError, match=rf"^graph\.{field}"):
            make.graph_expand(parts(graph=written(**{field: value}), llm=model()))
    with pytest.raises(InputError, match=r"expansion\.relations: takes a graph with relations"):
        make.graph_expand(parts(), 2, relations=1)
    with pytest.raises(InputError, match=r"expansion\.relations: .* a store of one owner"):
        make.graph_expand(parts(graph=written(), llm=model(), owner_filter=True), 2, relations=1)
    with pytest.raises(InputError, match=r"^strategy=graph_walk: .* graph=rules"):
        make.option("graph_walk", parts(graph=written(), llm=model()))
    with pytest.raises(InputError, match=r"^graph.exchange: relations come with the facts .* 1 of"):
        make.graph_expand(parts(**osha("same_reply", graph=written(exchange=2))))
    with pytest.raises(InputError, match=r"same_reply: no relations .* use graph=relations"):
        VectorOnly(parts(**osha("same_reply")), 3)


def test_a_forgotten_turn_links_no_memories(parts):
    store = NetworkxRelations()
    strategy = ingested(make.graph_expand(parts(graph=written(store), llm=model()), 3, None))
    strategy.retrieve(query("What shall I cook tonight?"))
    assert strategy.forget(["D1:2"]) == 2  # the memory and its relation
    strategy.events.clear()
    strategy.retrieve(query("What shall I cook tonight?"))
    assert not mentions(strategy, "osha", strategy.parts.embedder, strategy.parts.llm)
    assert not mentions(store, "dinner")
    assert mentions(store, "prawns")


def test_a_forgotten_turn_without_a_fact_is_in_no_graph(parts):
    facts = [[], [], [fact("Prawns make Osha ill", "Mara", 1)], []]
    strategy = ingested(make.graph_expand(parts(**osha(llm=model(facts=facts)))))
    strategy.retrieve(query("Who comes?"))
    assert strategy.store.graph.store.neighbours(["e:dinner"]) != [[]]
    assert strategy.forget(["D1:2"]) == 1
    assert strategy.store.graph.store.neighbours(["e:dinner"]) == [[]]
