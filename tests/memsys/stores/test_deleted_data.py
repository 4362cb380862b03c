"""What was deleted is in no file of a store, once the store is compacted."""

from contextlib import closing
from typing import Any

import pytest

from memsys.stores.neo4j_relations import Neo4jRelations
from memsys.stores.qdrant_vectors import QdrantVectors
from tests.memsys.left import files_with
from tests.memsys.stores.made import node, pool, relation
from tests.memsys.stores.places import RELATIONS, VECTORS, VectorPlace

ROWS = pool(1, 60, 32)
GONE, CHANGED, CLEARED = "memo-7-zebra", "memo-8", "memo-0-yak"
IDS = [f"memo-{i}" for i in range(60)]
IDS[7] = GONE


def filled(place: VectorPlace) -> Any:
    """A store from which one vector was deleted, one replaced, and one owner cleared."""
    store = place.open()
    store.put("ann", IDS, ROWS)
    store.put("bo", [CLEARED], -ROWS[:1])
    store.drop("ann", [GONE])
    store.put("ann", [CHANGED], -ROWS[9:10])
    store.clear("bo")
    return store


@pytest.mark.parametrize("name", ["faiss_file", "qdrant_edge_folder"])
def test_a_vector_store_leaves_nothing(name, tmp_path):
    place = VECTORS[name](tmp_path)
    gone = (GONE, CLEARED, ROWS[7], ROWS[8], -ROWS[0])
    with closing(filled(place)) as store:
        for needle in (GONE, ROWS[7]):
            assert files_with(tmp_path, needle), "what is searched for has to be found before"
        before = store.nearest("ann", ROWS[3], 59)
        assert store.compact() is True
        assert not files_with(tmp_path, *gone)
        assert files_with(tmp_path, ROWS[3])
        assert store.nearest("ann", ROWS[3], 59) == before
        store.put("ann", ["memo-60"], ROWS[7:8])
        assert len(store.ids("ann")) == 60
    with closing(place.open()) as store:
        assert store.nearest("ann", ROWS[3], 59)[0].id == "memo-3"
        assert len(store.ids("ann")) == 60
        assert store.compact() is True  # of nothing


@pytest.mark.parametrize("name", ["faiss_memory", "qdrant_edge_temporary"])
def test_an_empty_store_and_one_in_memory_are_compact(name, tmp_path):
    with closing(VECTORS[name](tmp_path).open()) as store:
        assert store.compact() is True
        store.put("ann", IDS, ROWS)
        assert (store.compact(), len(store.ids("ann"))) == (True, 60)


@pytest.mark.parametrize("moved", [False, True])
def test_an_interrupted_compaction_loses_nothing(tmp_path, moved):
    place, shard = VECTORS["qdrant_edge_folder"](tmp_path), tmp_path / "new" / "shard"
    filled(place).close()
    old = shard.with_name("shard.old")
    if moved:  # killed before the old shard was removed, or else before the second move
        old.mkdir()
        (old / "data").write_text(GONE)
    else:
        shard.rename(old)
    with closing(place.open()) as store:
        assert len(store.ids("ann")) == 59
    assert [path.name for path in shard.parent.iterdir()] == ["shard"]


def test_a_relation_file_leaves_nothing(tmp_path):
    place, rows = RELATIONS["networkx_file"](tmp_path), pool(1, 20)
    names = [f"zebra{i}x" for i in range(20)]
    with closing(place.open()) as store:
        store.put_nodes("ann", [node(*one) for one in zip(names, rows, strict=True)])
        store.put_relations("ann", [relation("zebra7x", "has met", "zebra8x")])
        store.put_relations("ann", [relation("zebra1x", "has left", "zebra2x")])
        store.drop_nodes("ann", ["zebra7x"])
        store.drop_relations("ann", [("zebra1x", "has left", "zebra2x")])
        gone = ("zebra7x", "has met", "has left", rows[7])
        for needle in gone:
            assert files_with(tmp_path, needle)
        assert store.compact() is True
        assert not files_with(tmp_path, *gone)
        assert files_with(tmp_path, "zebra8x")
        assert len(store.nodes("ann")) == 19


def test_a_server_says_that_it_alone_decides():
    assert QdrantVectors("http://127.0.0.1:1").compact() is False
    assert Neo4jRelations("bolt://127.0.0.1:1", password_variable=None).compact() is False
