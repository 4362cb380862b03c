"""What the graph adds to a ranking: neighbours of what was found, and terms of a score."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import combinations
from math import exp, log
from typing import Any

import pytest

from memsys.core.errors import InputError
from memsys.graph.expansion import ExpandedMemory, Expansion, expand
from memsys.graph.score import access_frequency, accesses, connectivity, recency
from memsys.graph.store import Edge, MemoryGraph, NetworkXStore
from tests.memsys.build import memory
from tests.memsys.strategies.make import settings


class Counting(NetworkXStore):
    """Remembers every look-up."""

    def __init__(self) -> None:
        super().__init__()
        self.look_ups: list[list[str]] = []

    def neighbours(self, nodes: Sequence[str], mentions_only: bool = False) -> list[list[Edge]]:
        self.look_ups.append(list(nodes))
        return super().neighbours(nodes, mentions_only)


@pytest.fixture
def store() -> Counting:
    """Titles x of s1 and y of s2; x is related to z (nearer) and w."""
    store = Counting()
    store.add([("m:s1", "e:x", "mentions", 0.9), ("m:s2", "e:y", "mentions", 0.8)])
    store.add([("m:a", "e:x", "mentions", 0.5), ("m:b", "e:x", "mentions", 0.4)])
    store.add([("m:c", "e:x", "mentions", 0.3), ("m:s2", "e:x", "mentions", 0.9)])
    store.add([("m:a", "e:y", "mentions", 0.9), ("m:b", "e:y", "mentions", 0.7)])
    store.add([("m:d", "e:z", "mentions", 0.6), ("m:f", "e:w", "mentions", 0.9)])
    store.add([("e:x", "e:z", "related_to", 0.5), ("e:x", "e:w", "related_to", 0.2)])
    return store


RELEVANCE = {"s1": 1.0, "s2": 0.9, "a": 0.5, "b": 0.9, "c": 0.35, "d": 0.9, "f": 0.4}


def run(store: Counting, *seeds: str, **change: Any) -> list[ExpandedMemory]:
    numbers = settings("graph_expand")["expansion"] | {"neighbours": 1, **change}
    relevance = numbers.pop("relevance", RELEVANCE)
    start_nodes = {"s1": "e:x", "s2": "e:y"}
    return expand(
        MemoryGraph(store, start_nodes),
        seeds,
        lambda id_: relevance.get(id_, 0.0),
        Expansion(**numbers),
    ).memories


def scores(added: list[ExpandedMemory]) -> dict[str, float]:
    return {one.memory_id: one.score for one in added}


def test_scores_and_paths_by_hand(store):
    added = run(store, "s1", "s2")
    paths = [("a", "s2", "e:y"), ("d", "s1", "e:z"), ("b", "s1", "e:x")]
    assert [(one.memory_id, one.seed, one.via) for one in added] == paths
    parts = {"a": (0.9, 0.5), "b": (0.4, 0.9), "d": (0.5, 0.9)}  # edge and relevance
    assert {one.memory_id: (one.edge, one.relevance) for one in added} == parts
    expected = {memory: 0.6 * edge + 0.4 * known for memory, (edge, known) in parts.items()}
    assert scores(added) == pytest.approx(expected)


def test_the_edge_may_be_the_product_along_the_path(store):
    store.add([("e:z", "e:v", "related_to", 0.8), ("m:f", "e:v", "mentions", 0.7)])
    edge, product = (
        {one.memory_id: one.edge for one in run(store, "s1", hops=2, per_seed=9, path_weight=path)}
        for path in ("edge", "product")
    )
    assert (edge["d"], edge["f"]) == (0.5, 0.8)  # of the RELATED_TO edge to z, and of that to v
    assert product["d"] == pytest.approx(0.5 * 0.6)
    assert product["f"] == pytest.approx(0.5 * 0.8 * 0.7)
    assert edge["b"] == product["b"] == 0.4  # a mention of the title itself


def test_at_most_per_seed_and_each_memory_once(store):
    assert list(scores(run(store, "s1", per_seed=2))) == ["s2", "d"]
    everything = [one.memory_id for one in run(store, "s1", "s2", per_seed=99)]
    assert sorted(everything) == ["a", "b", "c", "d"]  # and no seed
    # What the first seed added is not the second's, and does not count against it.
    both = run(store, "s1", "s2", per_seed=1, path_weight="product")
    assert [(one.memory_id, one.seed) for one in both] == [("a", "s2"), ("b", "s1")]


def test_a_memory_scores_by_its_best_path(store):
    store.add([("m:b", "e:z", "mentions", 1.0)])
    best = next(one for one in run(store, "s1", per_seed=99) if one.memory_id == "b")
    assert best.via == "e:z"
    assert best.score == pytest.approx(0.6 * 0.5 * 1.0 + 0.4 * 0.9)


@pytest.mark.parametrize(
    ("change", "added"),
    [
        ({}, "a b c d s2"),
        ({"neighbours": 2}, "a b c d f s2"),  # the nearest entities are followed
        ({"threshold": 0.5}, "a b d s2"),  # the least relevance
        ({"threshold": 0.501}, "b d s2"),
        ({"relevance": {}}, ""),  # what is not known is not relevant
        ({"edges": ["mentions"]}, "a b c s2"),
        ({"edges": ["related_to"]}, "d"),
    ],
)
def test_what_is_added(store, change, added):
    found = scores(run(store, "s1", per_seed=99, **change))
    assert sorted(found) == added.split()
    assert found.get("f", 0.28) == pytest.approx(0.6 * 0.2 + 0.4 * 0.4)


@pytest.mark.parametrize("seeds", [(), ("s1",), ("s1", "s2"), ("unknown", "s2")])
def test_two_batched_look_ups_whatever_the_seeds(store, seeds):
    added = run(store, *seeds, neighbours=5)
    assert {one.seed for one in added} == set(seeds) - {"unknown"}  # which has no title
    assert len(store.look_ups) == 2
    starts = [{"s1": "e:x", "s2": "e:y"}[seed] for seed in seeds if seed != "unknown"]
    assert store.look_ups[1] == sorted([*starts, *(["e:w", "e:z"] if "s1" in seeds else [])])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"edges": ["likes"]}, "expansion.edges"),
        ({"edges": []}, "expansion.edges"),
        ({"seeds": 0}, r"expansion\.seeds: 0; use a whole number of 1 or more"),
        ({"neighbours": 0}, r"expansion\.neighbours: 0; use"),
        ({"edge_weight": -1}, r"expansion\.edge_weight: -1; use a number from 0"),
        ({"edge_weight": 0, "relevance_weight": 0}, r"expansion\.edge_weight: 0, as relevance"),
        ({"threshold": -5}, r"expansion\.threshold: -5; use a number from -1 to 2"),
        ({"per_seed": 0}, r"expansion\.per_seed: 0; use"),
        ({"reserved": -1}, r"expansion\.reserved: -1"),
        ({"hops": 3}, r"expansion\.hops: 3; use one of 1, 2"),
        ({"path_weight": "sum"}, r"path_weight: 'sum'; use one of edge, product"),
    ],
)
def test_wrong_numbers_are_named(store, change, message):
    with pytest.raises(InputError, match=message):
        run(store, "s1", **change)


def test_a_second_hop_goes_on_from_the_related_entities():
    far = Counting()
    far.add([("m:s1", "e:x", "mentions", 1.0), ("m:d", "e:z", "mentions", 0.6)])
    far.add([("m:f", "e:v", "mentions", 0.5), ("m:s1", "e:v", "mentions", 0.5)])
    far.add([("e:x", "e:z", "related_to", 0.5), ("e:z", "e:v", "related_to", 0.4)])
    assert set(scores(run(far, "s1"))) == {"d"}
    both = scores(run(far, "s1", hops=2, path_weight="product"))
    assert both["d"] == pytest.approx(0.6 * 0.5 * 0.6 + 0.4 * 0.9)
    assert both["f"] == pytest.approx(0.6 * 0.5 * 0.4 * 0.5 + 0.4 * 0.4)  # product along the path
    far.look_ups.clear()
    run(far, "s1", hops=2)
    # One a hop and one more, back never
    assert far.look_ups == [["e:x"], ["e:z"], ["e:v", "e:x", "e:z"]]


def test_a_store_answers_in_the_order_asked_from_both_ends_heaviest_first_ties_by_name():
    store = NetworkXStore()
    store.add([("m:c", "e:x", "mentions", 0.2), ("m:b", "e:x", "mentions", 0.2)])
    store.add([("m:a", "e:x", "mentions", 0.1), ("e:x", "e:y", "related_to", 0.9)])
    y, a, none, again = store.neighbours(["e:y", "m:a", "none", "m:a"])
    assert (y, none) == ([Edge("e:x", "related_to", 0.9)], [])
    assert a == again == [Edge("e:x", "mentions", 0.1)]
    assert [edge.node for edge in store.neighbours(["e:x"])[0]] == ["e:y", "m:b", "m:c", "m:a"]
    assert store.neighbours([]) == []
    store.add([("e:x", "m:a", "mentions", 0.8)])  # the last weight of a repeated edge counts
    assert store.neighbours(["m:a"]) == [[Edge("e:x", "mentions", 0.8)]]


def test_connectivity_by_hand():
    store = NetworkXStore()
    store.add([("m:a", "e:x", "mentions", 0.4), ("m:a", "e:y", "mentions", 0.6)])
    store.add([("m:b", "e:y", "mentions", 0.8)])
    store.add([("e:x", "e:y", "related_to", 0.5)])
    store.add([("e:y", "e:far", "related_to", 1.0)])  # leaves the subgraph: not counted
    found = connectivity(MemoryGraph(store, {}), [memory(i, "") for i in "abc"])
    # a: 2 nodes, edges .4 .6 .5; b: 1 node, its edge; c: no neighbour
    assert found == [
        (2, 3, pytest.approx(0.5), pytest.approx(0.4 * 2 / 10 + 0.3 * 3 / 20 + 0.3 * 0.5)),
        (1, 1, pytest.approx(0.8), pytest.approx(0.4 * 1 / 10 + 0.3 * 1 / 20 + 0.3 * 0.8)),
        (0, 0, 0, 0),
    ]


@pytest.mark.parametrize(
    ("n", "weight", "expected"),
    [
        (4, 0.5, 0.4 * 0.4 + 0.3 * 10 / 20 + 0.15),
        (6, 0.0, 0.4 * 0.6 + 0.3),  # 21 edges
        (14, 0.0, 0.7),
        (12, 3.0, 1.0),
    ],
)
def test_each_term_of_connectivity_is_capped(n, weight, expected):
    """Of a memory next to n entities that are all related to each other."""
    store = NetworkXStore()
    names = [f"e:{i:02}" for i in range(n)]
    store.add(("m:a", name, "mentions", weight) for name in names)
    store.add((one, other, "related_to", weight) for one, other in combinations(names, 2))
    found = connectivity(MemoryGraph(store, {}), [memory("a", "")])
    assert found[0].g == pytest.approx(expected)


def test_only_a_later_session_is_an_access():
    store = NetworkXStore()
    named = {"early": 1, "own": 2, "beside": 2, "later": 5, "last": 9, "untitled": 3}
    talk = [memory(name, "", day=day) for name, day in named.items()]
    store.add((f"m:{one.id}", "e:x", "mentions", 0.5) for one in talk[:4])
    store.add([("m:last", "e:y", "mentions", 0.5), ("m:early", "e:y", "mentions", 0.1)])
    start_nodes = dict.fromkeys(["early", "own", "beside", "later"], "e:x") | {"last": "e:y"}
    found = accesses(MemoryGraph(store, start_nodes), talk)
    days = {one.id: (count, last.day) for one, (count, last) in zip(talk, found, strict=True)}
    assert days == {
        **{"early": (3, 5), "own": (1, 5), "beside": (1, 5)},
        **{"later": (0, 5), "last": (0, 9), "untitled": (0, 3)},
    }


def test_access_frequency_is_log_scaled_and_capped_at_100():
    assert access_frequency(0) == 0
    assert access_frequency(9) == pytest.approx(log(10) / log(101))
    assert access_frequency(100) == access_frequency(1000) == 1


@pytest.mark.parametrize(
    ("days", "expected"), [(0, 1), (30, exp(-0.3)), (0.5, exp(-0.005)), (-3, 1)]
)
def test_recency_decays_by_the_day_and_is_clipped_before(days, expected):
    last = datetime(2024, 3, 2, 12, 0)
    assert recency(last, last + timedelta(days=days), 0.01) == pytest.approx(expected)
    assert recency(last, last + timedelta(days=days), 0.0) == 1
