"""Memories linked by what a model wrote: weights by hand."""

from __future__ import annotations

from datetime import datetime
from math import log
from typing import Any

import numpy as np
import pytest

from memsys.core.types import Memory
from memsys.graph.store import Edge, MemoryGraph
from memsys.knowledge.facts.fact import plain
from memsys.knowledge.relations.written_graph import Related, link_memories
from memsys.stores.relations import Node, Relation
from tests.memsys.build import memory

DAY = datetime(2024, 3, 2)


def node(name: str) -> Node:
    return Node(plain(name), name, "thing", np.ones(1, dtype=np.float32), 1, DAY, DAY)


def related(source: str, name: str, target: str, *turns: str, **own: Any) -> Related:
    ends = node(source), node(target)
    fields: dict[str, Any] = {"mentions": 1, "created": DAY, "last_seen": DAY, **own}
    return Relation(ends[0].id, name, ends[1].id, **fields, turns=turns), ends


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
