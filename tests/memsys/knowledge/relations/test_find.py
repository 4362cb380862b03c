"""Relations are found by a question's entities and its likeness to triples, and link memories."""

import json
from math import log
from typing import Any

import numpy as np
import pytest

from memsys.core.errors import InputError
from memsys.core.types import Memory
from memsys.embed.cache import CachedEmbedder
from memsys.graph.store import Edge, MemoryGraph
from memsys.index.rank import IndexSettings
from memsys.knowledge.facts.fact import plain
from memsys.knowledge.relations.find import RelationFinder, RelationSettings, content_words
from memsys.knowledge.relations.triples import Related
from memsys.knowledge.relations.written_graph import link_memories
from memsys.llm.base import LLMError
from memsys.stores.relations import Node, Relation
from tests.memsys.build import memory
from tests.memsys.knowledge.relations.models import (
    DAY,
    Scripted,
    Written,
    entity,
    relation,
    settings,
)

OWNED = ("kelp", "flute", "kayak", "anvil")
ROWS = [
    *(relation("Mara", "owns", word) for word in OWNED),
    relation("Theo", "plays", "flute"),
    relation("Theo", "lives in", "Bergen"),
]
NAMES = [entity(name) for name in (*OWNED, "Theo", "Bergen")]


def finder(written: Written, embedder: CachedEmbedder, **own: Any) -> RelationFinder:
    chosen = {"by": "both", "query_entities": "rule", "limit": 5, "similarity": 0.4, **own}
    index = IndexSettings(k1=0.9, b=0.4, alpha=0.5)
    return RelationFinder(
        written.graph, written.extractor, embedder, index, RelationSettings(**chosen)
    )


def make(embedder: CachedEmbedder, asked: Any = (), **own: Any) -> tuple[Written, RelationFinder]:
    llm = Scripted(entities=[NAMES, *asked], relations=[ROWS])
    written = Written(llm, embedder)
    written.read(2, "Mara owns kelp, a flute, a kayak and an anvil. Theo plays flute in Bergen.")
    assert written.faults == []
    return written, finder(written, embedder, **own)


def texts(found: Any) -> list[str]:
    return [candidate.memory.content for candidate in found[0]]


def test_by_entity_the_subgraph_is_found_ranked_by_words(bag_of_words):
    _, find = make(bag_of_words, by="entity", limit=2)
    found, trace = find.find("Who plays the flute?")
    assert set(texts((found,))) == {"Theo plays flute", "Mara owns flute"}  # in both directions
    assert trace["entities"] == ["plays", "flute"]
    assert [one["by"] for one in trace["found"]] == [["entity"], ["entity"]]
    assert trace["found"][0]["relation"] == found[0].memory.id == "r:theo|plays|flute"
    limited = texts(find.find("Does Mara have a kayak?"))
    assert (len(limited), "Mara owns kayak" in limited) == (2, True)


def test_a_further_hop_stands_behind_the_nearer_ones(bag_of_words):
    asked = [[entity("flute", "thing")]] * 2
    question = "Where is the house of who has a flute?"
    own = {"by": "entity", "query_entities": "llm"}
    written, find = make(bag_of_words, asked, **own, limit=9)
    assert set(texts(find.find(question))) == {"Theo plays flute", "Mara owns flute"}
    found = texts(finder(written, bag_of_words, **own, limit=9, hops=2).find(question))
    assert len(found) == len(ROWS)
    near = [one for one, _ in written.graph.around(["flute"], hops=2)]
    around = [one.sentence for one in written.graph.related(near)]
    assert set(around[:2]) == {"Theo plays flute", "Mara owns flute"}
    assert "Theo lives in Bergen" in around[2:]
    assert len(written.graph.around(["Bergen"], hops=2)) == 2  # and not what is three hops away


def test_of_both_ways_none_takes_all_the_places(bag_of_words):
    asked = [[entity("Bergen", "place")]]
    _, find = make(bag_of_words, asked, query_entities="llm", limit=2)
    found, trace = find.find("Mara owns a kayak, a flute and kelp?")
    assert len(found) == 2
    assert "Theo lives in Bergen" in texts((found,))
    assert sorted(one["by"] for one in trace["found"]) == [["entity"], ["triple"]]
    assert [one["relation"] for one in trace["found"]] == [one.memory.id for one in found]
    assert found[0].score >= found[1].score
    assert json.loads(json.dumps(trace)) == trace


def test_by_triple_only_what_is_like_the_question(bag_of_words):
    _, find = make(bag_of_words, by="triple", similarity=0.6)
    (found,), trace = find.find("Where in Bergen does Theo live?")
    assert (found.memory.content, trace["entities"]) == ("Theo lives in Bergen", [])
    assert found.score >= 0.6
    assert find.find("What is for dinner?")[0] == []


def test_a_model_names_the_question_s_entities(bag_of_words):
    asked = [[entity("Mara", "person")], LLMError("gone")]
    _, find = make(bag_of_words, asked, by="entity", query_entities="llm", limit=1)
    # Of the relations around her, the one with the words of the question is the best.
    assert texts(find.find("Does she own a kayak?")) == ["Mara owns kayak"]
    with pytest.raises(LLMError, match="gone"):
        find.find("What floats?")


@pytest.mark.parametrize("question", ["What do I eat?", "What's my dish?", "我喜欢什么?"])
def test_a_question_about_me_is_about_the_user(bag_of_words, question):
    llm = Scripted(entities=[[entity("kelp")]], relations=[[relation("I", "eats", "kelp")]])
    written = Written(llm, bag_of_words, self_name="alice")
    written.read(2, "I eat kelp.", speaker="user")
    find = finder(written, bag_of_words, by="entity")
    found, trace = find.find(question)
    assert (texts((found,)), trace["entities"][-1]) == (["alice eats kelp"], "alice")
    assert find.find("Will somebody be in time?")[0] == []


def test_a_found_relation_is_a_candidate_that_the_graph_added(bag_of_words):
    written, find = make(bag_of_words)
    llm = written.extractor._llm
    llm.plans["relations"] = [[relation("Mara", "owns", "kelp")]]
    written.read(9, "Mara owns kelp.")
    (found,) = [one for one in find.find("kelp")[0] if "kelp" in one.memory.content]
    (stored,) = [one for one in written.graph.relations() if one.target == "kelp"]
    assert (found.origin, found.memory.id) == ("expanded", "r:mara|owns|kelp")
    expected = ("D2:1", "D9:1"), DAY, "Mara"
    assert (found.memory.turns, found.memory.time, found.memory.speaker) == expected
    assert (stored.created, stored.last_seen) == (DAY, DAY.replace(day=9))


def test_words_that_may_name_an_entity():
    assert list(content_words("When did Mara's sister visit the Lantern market?")) == [
        *("mara", "sister", "visit", "mara sister visit", "lantern", "market", "lantern market")
    ]
    assert list(content_words("沈岚 住 在 苏州 吗")) == ["沈岚", "住", "苏州"]
    assert list(content_words("")) == []


def test_a_wrong_setting_is_named(bag_of_words, tmp_path):
    for name, value in [("by", "words"), ("limit", 0), ("similarity", 1.5)]:
        with pytest.raises(InputError, match=f"^strategy.relations.{name}: "):
            finder(Written(Scripted(), bag_of_words), bag_of_words, **{name: value})
    for name, value in [("calls", "words"), ("exchange", 0), ("threshold", 7)]:
        with pytest.raises(InputError, match=f"^strategy.graph.{name}: "):
            settings(**{name: value})
    path = tmp_path / "own.txt"
    path.write_text("{messages} {stored}", encoding="utf-8")
    with pytest.raises(InputError, match=r"own.txt: the place \{new\} is missing"):
        assert settings(conflicts=str(path)).prompts


def node(name: str) -> Node:
    return Node(plain(name), name, "thing", np.ones(1, dtype=np.float32), 1, DAY, DAY)


def related(source: str, name: str, target: str, *turns: str, **own: Any) -> Related:
    ends = node(source), node(target)
    fields: dict[str, Any] = {"mentions": 1, "created": DAY, "last_seen": DAY, **own}
    return Related(Relation(ends[0].id, name, ends[1].id, **fields, turns=turns), ends)


RELATIONS = [
    related("Mara", "attends", "Willow studio", "a", mentions=3),
    related("Willow studio", "lies in", "Bergen", "b"),
    related("Willow studio", "was part of", "Bergen", "b", ended=DAY),
    related("Theo", "rents", "allotment", "d", ended=DAY),
]
FOUR = [
    memory("a", "I go there on Mondays.", title="Monday evenings"),
    memory("b", "It is by the harbour.", title="The harbour"),
    memory("c", "The Willow Studio's kiln broke.", title="Willow studio"),
    memory("d", "Rain again."),
]


def linked(max_share: float = 0.75, memories: list[Memory] | None = None) -> MemoryGraph:
    return link_memories(FOUR if memories is None else memories, RELATIONS, max_share)


def near(graph: MemoryGraph, node: str) -> dict[str, tuple[str, float]]:
    (edges,) = graph.store.neighbours([node])
    return {edge.node: (edge.kind, pytest.approx(edge.weight)) for edge in edges}


def test_a_memory_mentions_its_title_and_the_ends_of_its_relations():
    graph, thrice = linked(), log(4 / 3) / log(4)
    assert near(graph, "m:a") == {
        "e:mondai even": ("mentions", 1.0),
        "e:mara": ("mentions", 1.0),
        "e:willow studio": ("mentions", thrice),
    }
    # by its words: no relation was stated in the turn
    assert near(graph, "m:c") == {"e:willow studio": ("mentions", thrice)}
    assert near(graph, "m:d") == {"e:theo": ("mentions", 1.0), "e:allot": ("mentions", 1.0)}


def test_a_title_is_the_entity_of_its_words():
    # d is without a title: the first of its heaviest entities
    expected = ("e:mondai even", "e:harbour", "e:willow studio", "e:theo")
    assert linked().start_nodes == dict(zip("abcd", expected, strict=True))


def test_relations_and_titles_are_edges():
    studio = near(linked(), "e:willow studio")
    assert {node: edge for node, edge in studio.items() if edge[0] == "related_to"} == {
        "e:mara": ("related_to", 0.75),  # stated three times
        "e:bergen": ("related_to", 0.5),  # a relation that ended counts no more
        "e:mondai even": ("related_to", pytest.approx(1 / 3)),  # one of three memories
        "e:harbour": ("related_to", pytest.approx(1 / 3)),
    }
    allotment = near(linked(), "e:allot")
    assert {kind for kind, _ in allotment.values()} == {"mentions"}


def test_of_two_weights_of_an_edge_the_greater_counts():
    titled = [memory("a", "I go there.", title="Mara"), *FOUR[1:]]
    assert near(linked(memories=titled), "e:mara")["e:willow studio"] == ("related_to", 0.75)
    rare = link_memories([memory("b", "Here.", title="Bergen")], RELATIONS, 1)
    assert near(rare, "e:bergen")["e:willow studio"] == ("related_to", 1.0)


def test_an_entity_of_too_many_memories_is_mentioned_as_a_title_only():
    graph = linked(max_share=0.5)
    studio = near(graph, "e:willow studio")
    assert {node for node, (kind, _) in studio.items() if kind == "mentions"} == {"m:c"}
    assert studio["e:mara"] == ("related_to", 0.75)  # the relation remains


def test_chinese_names_are_found_in_the_text():
    relations = [related("宋若云", "喜欢", "日本料理", "x")]
    memories = [memory("a", "昨天吃了日本料理", title="晚饭"), memory("b", "下雨")]
    graph = link_memories(memories, relations, 1)
    assert set(near(graph, "m:a")) == {"e:晚饭", "e:日本料理"}


def test_without_memories_or_relations():
    assert link_memories([], RELATIONS, 1).start_nodes == {}
    alone = link_memories([memory("a", "Rain.", title="Rain")], [], 1)
    assert alone.store.neighbours(["m:a"]) == [[Edge("e:rain", "mentions", 1.0)]]
