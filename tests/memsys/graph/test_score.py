from datetime import datetime, timedelta
from itertools import combinations
from math import exp, log

import pytest

from memsys.graph.score import access_frequency, accesses, connectivity, graph_statistics, recency
from memsys.graph.store import MemoryGraph, NetworkXStore
from tests.memsys.build import NOON, memory


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


def test_graph_statistics_join_them_in_order():
    store = NetworkXStore()
    store.add([("m:a", "e:x", "mentions", 0.4), ("m:b", "e:x", "mentions", 0.4)])
    talk = [memory("a", "", day=1), memory("none", "", day=2), memory("b", "", day=4)]
    a, none, b = graph_statistics(MemoryGraph(store, {"a": "e:x", "b": "e:x"}), talk)
    around = (1, 1, pytest.approx(0.4), pytest.approx(0.04 + 0.015 + 0.12))
    assert a == (around, 1, NOON.replace(day=4))
    assert none == ((0, 0, 0, 0), 0, NOON.replace(day=2))
    assert b == (around, 0, NOON.replace(day=4))


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
