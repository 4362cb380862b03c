"""Every vector store keeps the same promises, and ranks the same."""

from contextlib import closing

import numpy as np
import pytest

from memsys.core.errors import InputError
from memsys.stores.vectors import Near
from tests.memsys.stores.conftest import LASTING_VECTOR_PLACES, VECTOR_PLACES, VECTORS, Place
from tests.memsys.stores.made import DIMENSION, IDS, LIVES, ODD, OWNERS, cosine, near_copies, pool

# What the imitation of a server says of itself.
pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes", "ignore:Local mode performs")


@pytest.fixture(params=VECTOR_PLACES)
def place(request, tmp_path) -> Place:
    return VECTORS[request.param](tmp_path)


def expected(kept, vector, most, among=None):
    """The ranking by definition."""
    scored = [(i, cosine(v, vector)) for i, v in kept.items() if among is None or i in among]
    return [i for i, _ in sorted(scored, key=lambda pair: (-pair[1], pair[0]))[:most]]


def found(near: list[Near]) -> list[str]:
    return [one.id for one in near]


def test_ties_are_in_order_of_ids_though_the_cut_goes_through_them(store):
    one, other = pool(1, 2)
    store.put("ann", IDS[::-1], np.stack([one] * len(IDS)))
    store.put("ann", ["zz"], other[None])
    for most in (1, 3, 25, 39, 40):
        assert found(store.nearest("ann", one, most)) == sorted(IDS)[:most]


def test_ranks_by_cosine_alike_beyond_single_precision_and_gives_it(store):
    rows = near_copies(7, len(IDS))
    store.put("ann", IDS, rows)
    kept = dict(zip(IDS, rows, strict=True))
    for question in (*rows[:3], *pool(8, 3, 384)):
        near = store.nearest("ann", question, 5)
        assert found(near) == expected(kept, question, 5)
        for one in near:
            assert one.cosine == pytest.approx(cosine(kept[one.id], question), abs=1e-6)


def test_ids_are_listed_page_by_page(store, monkeypatch):
    for engine in ("qdrant_vectors", "qdrant_edge_vectors"):
        monkeypatch.setattr(f"memsys.stores.{engine}.PAGE", 7)
    store.put("ann", IDS, pool(0, len(IDS)))
    assert store.ids("ann") == sorted(IDS)


def test_an_empty_store_finds_nothing(store):
    (vector,) = pool(4, 1)
    assert store.nearest("ann", vector, 3) == store.ids("ann") == []
    store.drop("ann", ["unknown"])
    store.clear("ann")
    store.put("ann", [], np.empty((0, DIMENSION), dtype=np.float32))
    store.put("ann", ["a"], vector[None])
    assert store.nearest("ann", vector, 0) == []
    assert store.nearest("ann", vector, 3, among=[]) == []
    assert store.nearest("ann", vector, 3, among=["unknown"]) == []


def test_a_vector_of_another_dimension_is_refused(store):
    row, short = pool(5, 1), pool(5, 1, dimension=5)
    store.put("ann", ["a"], row)
    nan = np.full((1, DIMENSION), np.nan, dtype=np.float32)
    for message, use, given in (
        ("5 dimensions", store.put, ("bob", ["b"], short)),
        ("5 dimensions", store.nearest, ("ann", short[0], 1)),
        ("2 ids need", store.put, ("ann", ["b", "c"], row)),
        ("finite", store.put, ("ann", ["b"], nan)),
    ):
        with pytest.raises(InputError, match=message):
            use(*given)
    assert (store.ids("ann"), store.ids("bob")) == (["a"], [])


@pytest.mark.parametrize("seed", LIVES)
def test_does_as_a_dict_would_over_a_long_life(place, seed):
    rng, rows = np.random.default_rng(seed), pool(seed, 12)  # few vectors: many ties
    kept: dict[str, dict] = {owner: {} for owner in OWNERS}
    store, acts = place.open(), set()
    for _ in range(120):
        owner = OWNERS[rng.integers(len(OWNERS))]
        ids = [IDS[i] for i in rng.choice(len(IDS), rng.integers(1, 9), replace=False)]
        act = rng.choice(["put", "put", "drop", "clear", "reopen"], p=[0.4, 0.2, 0.3, 0.02, 0.08])
        acts.add(str(act))
        if act == "put":
            vectors = rows[rng.integers(len(rows), size=len(ids))]
            store.put(owner, ids, vectors)
            kept[owner].update(zip(ids, vectors, strict=True))
        elif act == "drop":
            store.drop(owner, ids)
            kept[owner] = {i: v for i, v in kept[owner].items() if i not in ids}
        elif act == "clear":
            store.clear(owner)
            kept[owner] = {}
        elif place.lasting:
            store.close()
            store = place.open()
        query, most = rows[rng.integers(len(rows))], int(rng.integers(1, 20))
        assert store.ids(owner) == sorted(kept[owner])
        assert found(store.nearest(owner, query, most)) == expected(kept[owner], query, most)
        some = [IDS[i] for i in rng.choice(len(IDS), 15, replace=False)]
        near = store.nearest(owner, query, most, among=some)
        assert found(near) == expected(kept[owner], query, most, some)
    assert acts == {"put", "drop", "clear", "reopen"}
    store.close()


@pytest.mark.parametrize("name", LASTING_VECTOR_PLACES)
def test_vectors_and_their_dimension_are_there_after_closing_and_opening(name, tmp_path):
    place = VECTORS[name](tmp_path)
    with closing(place.open()) as store:
        store.put("ann", ODD, pool(6, len(ODD)))
    with closing(place.open()) as store:
        assert store.ids("ann") == sorted(ODD)
        with pytest.raises(InputError, match="5 dimensions"):
            store.put("bob", ["b"], pool(5, 1, dimension=5))
