"""Every relation store keeps the same promises, and ranks the same."""

from contextlib import closing

import numpy as np
import pytest

from memsys.core.errors import InputError
from memsys.stores.relations import Node, Relation, RelationStore
from tests.memsys.stores.conftest import RELATION_PLACES, Place
from tests.memsys.stores.made import (
    DIMENSION,
    IDS,
    LIVES,
    ODD,
    OWNERS,
    cosine,
    keys,
    near_copies,
    node,
    pool,
    relation,
)


@pytest.fixture(params=RELATION_PLACES)
def place(request, relation_place, tmp_path) -> Place:
    return relation_place(request.param, tmp_path)


class Model:
    """What one owner's store should hold, in two dicts."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.relations: dict[tuple[str, str, str], Relation] = {}

    def similar(self, vector, threshold, most):
        scored = [(i, cosine(n.vector, vector)) for i, n in self.nodes.items()]
        ranked = sorted(scored, key=lambda pair: (-pair[1], pair[0]))
        return [i for i, score in ranked if score >= threshold][:most]

    def touching(self, ids):
        return [r for k, r in sorted(self.relations.items()) if k[0] in ids or k[2] in ids]


def check_kept(store: RelationStore, nodes: list[Node], relations: list[Relation]) -> None:
    back = store.nodes("ann")
    assert back == sorted(nodes, key=lambda n: n.id)
    for one in back:
        assert np.array_equal(one.vector, nodes[ODD.index(one.id)].vector)
    assert store.nodes("ann", ["上海", "unknown", "it's"]) == [nodes[0], nodes[4]]
    assert store.nodes("ann", []) == []
    assert store.relations("ann") == sorted(relations, key=lambda r: r.key)
    touching = [r for r in relations if ODD[1] in (r.source, r.target)]
    assert store.relations("ann", [ODD[1], "unknown"]) == sorted(touching, key=lambda r: r.key)
    assert store.relations("ann", []) == store.relations("ann", ["unknown"]) == []


def test_nodes_and_relations_come_back_as_they_were_put(place):
    nodes = [node(id_, row, i) for i, (id_, row) in enumerate(zip(ODD, pool(0, 16), strict=True))]
    relations = [relation(*key, mentions=i) for i, key in enumerate(keys(ODD[:4]))]
    with closing(place.open()) as store:
        store.put_nodes("ann", nodes)
        store.put_relations("ann", relations)
        check_kept(store, nodes, relations)
    if place.lasting:
        with closing(place.open()) as store:
            check_kept(store, nodes, relations)
            with pytest.raises(InputError, match="5 dimensions"):
                store.put_nodes("bob", [node("b", pool(9, 1, dimension=5)[0])])


def test_ties_are_in_order_of_ids_though_the_cut_goes_through_them(store):
    one, other = pool(3, 2)
    store.put_nodes("ann", [node(i, one) for i in IDS[::-1]] + [node("zz", other)])
    for most in (1, 25, 40):
        near = store.similar("ann", one, 0.999, most)
        assert [n.node.id for n in near] == sorted(IDS)[:most]


def test_ranks_alike_beyond_single_precision(store):
    rows = near_copies(7, len(IDS))
    model = Model()
    model.nodes = {i: node(i, row) for i, row in zip(IDS, rows, strict=True)}
    store.put_nodes("ann", list(model.nodes.values()))
    for question in (*rows[:3], *pool(8, 3, 384)):
        for threshold, most in [(-1, 5), (0.9, 40), (0.9, 0)]:
            near = store.similar("ann", question, threshold, most)
            assert [n.node.id for n in near] == model.similar(question, threshold, most)
        for one in near:
            assert one.node == model.nodes[one.node.id]
            assert one.cosine == pytest.approx(cosine(one.node.vector, question), abs=1e-6)


def test_a_relation_without_a_node_is_refused_with_its_batch(store):
    store.put_nodes("ann", [node("a", pool(7, 1)[0])])
    for stray in (relation("a", "knows", "nobody"), relation("nobody", "knows", "a")):
        with pytest.raises(InputError, match="'nobody'"):
            store.put_relations("ann", [relation("a", "knows", "a"), stray])
    assert store.relations("ann") == []
    assert [n.id for n in store.nodes("ann")] == ["a"]


def test_a_node_of_another_dimension_is_refused_with_its_batch(store):
    (row,), (short,) = pool(8, 1), pool(8, 1, dimension=5)
    with pytest.raises(InputError, match="dimensions"):
        store.put_nodes("ann", [node("a", row), node("b", short)])
    assert store.nodes("ann") == []
    store.put_nodes("ann", [node("a", row)])
    with pytest.raises(InputError, match="5 dimensions"):
        store.put_nodes("bob", [node("b", short)])
    with pytest.raises(InputError, match="5 dimensions"):
        store.similar("ann", short, 0, 3)
    assert store.nodes("bob") == []


def test_an_empty_store_finds_nothing(store):
    assert store.similar("ann", np.ones(DIMENSION, dtype=np.float32), -1, 3) == []
    store.put_nodes("ann", [])
    store.put_relations("ann", [])
    store.drop_relations("ann", [("a", "b", "c")])
    store.drop_nodes("ann", ["a"])
    store.clear("ann")
    assert store.nodes("ann") == store.relations("ann") == []


@pytest.mark.parametrize("seed", LIVES)
def test_does_as_dicts_would_over_a_long_life(place, seed):
    rng, rows = np.random.default_rng(seed), pool(seed, 12)  # few vectors: many ties
    possible = keys(IDS[:4])
    kept = {owner: Model() for owner in OWNERS}
    store, acts = place.open(), set()
    for step in range(120):
        owner = OWNERS[rng.integers(len(OWNERS))]
        model = kept[owner]
        some = [possible[i] for i in rng.choice(len(possible), 3, replace=False)]
        act = rng.choice(
            ["nodes", "relations", "drop", "drop nodes", "clear", "reopen"],
            p=[0.3, 0.32, 0.2, 0.05, 0.05, 0.08],
        )
        acts.add(str(act))
        if act == "nodes":
            ids = rng.choice(IDS[:4], rng.integers(2, 5), replace=False)
            new = [node(str(i), rows[rng.integers(len(rows))], step) for i in ids]
            store.put_nodes(owner, new)
            model.nodes.update((n.id, n) for n in new)
        elif act == "relations":
            new = [relation(*k, mentions=step) for k in some]
            if any(k[0] not in model.nodes or k[2] not in model.nodes for k in some):
                with pytest.raises(InputError, match="no node"):
                    store.put_relations(owner, new)
            else:
                store.put_relations(owner, new)
                model.relations.update((r.key, r) for r in new)
        elif act == "drop":
            store.drop_relations(owner, some)
            model.relations = {k: r for k, r in model.relations.items() if k not in some}
        elif act == "drop nodes":
            gone = some[0][0]
            store.drop_nodes(owner, {gone, "nobody"})
            model.nodes.pop(gone, None)
            model.relations = {k: r for k, r in model.relations.items() if gone not in (k[0], k[2])}
        elif act == "clear":
            store.clear(owner)
            kept[owner] = model = Model()
        elif place.lasting:
            store.close()
            store = place.open()
        assert store.nodes(owner) == [n for _, n in sorted(model.nodes.items())]
        ids = [some[0][0], some[0][2]]
        assert store.relations(owner, ids) == model.touching(ids)
        query, threshold = rows[rng.integers(len(rows))], float(rng.uniform(-0.5, 0.9))
        near = store.similar(owner, query, threshold, 5)
        assert [n.node.id for n in near] == model.similar(query, threshold, 5)
    assert [store.relations(o) for o in OWNERS] == [kept[o].touching(IDS) for o in OWNERS]
    assert acts == {"nodes", "relations", "drop", "drop nodes", "clear", "reopen"}
    assert any(kept[o].relations for o in OWNERS)  # the life was not all refusals
    store.close()
