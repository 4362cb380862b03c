from __future__ import annotations

from memsys.graph.store import Edge, NetworkXStore


def test_look_ups_are_batched_and_in_the_order_asked() -> None:
    store = NetworkXStore()
    store.add([("m:a", "e:x", "mentions", 0.5), ("m:b", "e:y", "mentions", 0.4)])
    assert store.neighbours(["e:y", "m:a", "none", "m:a"]) == [
        [Edge("m:b", "mentions", 0.4)],
        [Edge("e:x", "mentions", 0.5)],
        [],
        [Edge("e:x", "mentions", 0.5)],
    ]
    assert store.neighbours([]) == []


def test_edges_are_seen_from_both_ends_heaviest_first_ties_by_name() -> None:
    store = NetworkXStore()
    store.add(
        [
            ("m:c", "e:x", "mentions", 0.2),
            ("m:b", "e:x", "mentions", 0.2),
            ("e:x", "e:y", "related_to", 0.9),
            ("m:a", "e:x", "mentions", 0.1),
        ]
    )
    assert [edge.node for edge in store.neighbours(["e:x"])[0]] == ["e:y", "m:b", "m:c", "m:a"]
    assert store.neighbours(["e:y"]) == [[Edge("e:x", "related_to", 0.9)]]


def test_the_last_weight_of_a_repeated_edge_counts() -> None:
    store = NetworkXStore()
    store.add([("m:a", "e:x", "mentions", 0.2)])
    store.add([("e:x", "m:a", "mentions", 0.8)])
    assert store.neighbours(["m:a"]) == [[Edge("e:x", "mentions", 0.8)]]


def test_two_stores_share_nothing() -> None:
    NetworkXStore().add([("m:a", "e:x", "mentions", 0.2)])
    assert NetworkXStore().neighbours(["m:a"]) == [[]]
