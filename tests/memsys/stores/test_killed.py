"""What was written outlives a kill, and what was deleted is in no file of a compacted store."""

import subprocess
import sys
from contextlib import closing
from typing import Any

import pytest

from memsys.stores.faiss_vectors import FaissVectors
from memsys.stores.neo4j_relations import Neo4jRelations
from memsys.stores.networkx_relations import NetworkxRelations
from memsys.stores.qdrant_edge_vectors import QdrantEdgeVectors
from memsys.stores.qdrant_vectors import QdrantVectors
from memsys.stores.relations import RelationStore
from memsys.stores.vectors import VectorStore
from tests.memsys.left import files_with
from tests.memsys.stores.conftest import PASSWORD_VARIABLE, RELATIONS, VECTORS, Place, on_arcadedb
from tests.memsys.stores.made import cosine, node, pool, relation
from tests.memsys.stores.writer import ROWS


def killed_after(writes: int, kind: str, *where: str) -> int:
    """Start the writer, kill -9 it after so many writes; how many it had reported in all."""
    command = [sys.executable, "-m", "tests.memsys.stores.writer", kind, *where]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        written = [int(writer.stdout.readline()) for _ in range(writes)]
        writer.kill()
        written += [int(line) for line in writer.stdout if line.endswith("\n")]
    assert writer.returncode == -9
    return len(written)


def check_vectors(store: VectorStore, writes: int) -> None:
    """All of the writes reported; of the one under way, any part."""
    kept = store.ids("ann")
    assert (
        {f"b{n}" for n in range(writes)}
        <= set(kept)
        <= {f"b{n}" for n in range(writes + 1)} | {f"a{n}" for n in range(writes - 3, writes + 1)}
    )
    assert {f"a{writes - 1}"} <= set(kept)
    assert not {f"a{n}" for n in range(writes - 2)} & set(kept)
    near = store.nearest("ann", ROWS[0], len(kept))
    assert {one.id for one in near} == set(kept)
    for one in near:
        n = int(one.id[1:]) + (one.id[0] == "b")
        assert one.cosine == pytest.approx(cosine(ROWS[n % 3], ROWS[0]), abs=1e-6)
    store.put("ann", ["new"], ROWS[:1])  # and it can be gone on with
    assert store.nearest("ann", ROWS[0], 1, among=["new"])[0].cosine == pytest.approx(1, abs=1e-6)


def check_relations(store: RelationStore, writes: int) -> None:
    expected = {str(n): node(str(n), ROWS[n % 3]) for n in range(-1, writes + 1)}
    kept = {one.id: one for one in store.nodes("ann")}
    kept.pop(str(writes), None)  # under way
    expected.pop(str(writes))
    assert kept == {**expected, "-1": node("-1", ROWS[0])}
    relations = store.relations("ann")
    maybe = [relation(str(n - 1), "before", str(n)) for n in (writes - 2, writes - 1, writes)]
    assert maybe[1] in relations
    assert all(one in maybe for one in relations)
    store.put_relations("ann", [relation("0", "after", "1")])  # and it can be gone on with
    assert relation("0", "after", "1") in store.relations("ann", ["0"])


WRITES = [pytest.param(3, marks=pytest.mark.soak), 40]


@pytest.mark.parametrize("writes", WRITES)
@pytest.mark.parametrize(
    ("kind", "store", "check"),
    [
        ("faiss", FaissVectors, check_vectors),
        ("qdrant_edge", QdrantEdgeVectors, check_vectors),
        ("networkx", NetworkxRelations, check_relations),
    ],
)
def test_a_store_outlives_a_kill(kind, store, check, writes, tmp_path):
    path = str(tmp_path / "store")
    written = killed_after(writes, kind, path)
    with closing(store(path)) as opened:
        check(opened, written)


@pytest.mark.slow
def test_relations_in_a_server_outlive_the_kill_of_their_client(bolt_url):
    where = (bolt_url, PASSWORD_VARIABLE, "Killed")
    written = killed_after(20, "neo4j", *where)
    with closing(on_arcadedb(bolt_url, "Killed")) as store:
        check_relations(store, written)


KEPT = pool(1, 60, 32)
GONE, CHANGED, CLEARED = "memo-7-zebra", "memo-8", "memo-0-yak"
IDS = [f"memo-{i}" for i in range(60)]
IDS[7] = GONE


def filled(place: Place) -> Any:
    """A store from which one vector was deleted, one replaced, and one owner cleared."""
    store = place.open()
    store.put("ann", IDS, KEPT)
    store.put("bo", [CLEARED], -KEPT[:1])
    store.drop("ann", [GONE])
    store.put("ann", [CHANGED], -KEPT[9:10])
    store.clear("bo")
    return store


@pytest.mark.parametrize("name", ["faiss_file", "qdrant_edge_folder"])
def test_a_vector_store_leaves_nothing(name, tmp_path):
    place = VECTORS[name](tmp_path)
    gone = (GONE, CLEARED, KEPT[7], KEPT[8], -KEPT[0])
    with closing(filled(place)) as store:
        for needle in (GONE, KEPT[7]):
            assert files_with(tmp_path, needle), "what is searched for has to be found before"
        before = store.nearest("ann", KEPT[3], 59)
        assert store.compact() is True
        assert not files_with(tmp_path, *gone)
        assert files_with(tmp_path, KEPT[3])
        assert store.nearest("ann", KEPT[3], 59) == before
        store.put("ann", ["memo-60"], KEPT[7:8])
        assert len(store.ids("ann")) == 60
    with closing(place.open()) as store:
        assert store.nearest("ann", KEPT[3], 59)[0].id == "memo-3"
        assert len(store.ids("ann")) == 60
        assert store.compact() is True  # of nothing


@pytest.mark.parametrize("name", ["faiss_memory", "qdrant_edge_temporary"])
def test_an_empty_store_and_one_in_memory_are_compact(name, tmp_path):
    with closing(VECTORS[name](tmp_path).open()) as store:
        assert store.compact() is True
        store.put("ann", IDS, KEPT)
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
