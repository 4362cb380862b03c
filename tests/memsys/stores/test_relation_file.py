"""A relation store's file: its form, to the byte, so that one that was written before still opens;
several processes write one owner, and lose nothing of each other; and sizes are those of files.
"""

import gc
import json
import sqlite3
import struct
import subprocess
import sys
from contextlib import closing
from dataclasses import asdict
from datetime import datetime

import numpy as np
import pytest

from memsys.core.errors import InputError
from memsys.core.types import Memory
from memsys.knowledge.relations.relation_graph import RelationGraph
from memsys.stores.faiss_vectors import FaissVectors
from memsys.stores.networkx_relations import NetworkxRelations
from memsys.stores.relations import Node, Relation, RelationStore
from memsys.stores.size import line, lines, singles, together
from tests.memsys.build import memory
from tests.memsys.knowledge.relations.models import settings
from tests.memsys.stores.made import keys, node, pool, relation
from tests.memsys.stores.writer import ROWS, SHARED

# Spelt out here, and not taken from the code: a file of the form of today has to open for ever.
TABLES = """
CREATE TABLE nodes (
    owner TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL,
    vector BLOB NOT NULL, mentions INTEGER NOT NULL, created TEXT NOT NULL,
    last_seen TEXT NOT NULL, PRIMARY KEY (owner, id));
CREATE TABLE relations (
    owner TEXT NOT NULL, source TEXT NOT NULL, name TEXT NOT NULL, target TEXT NOT NULL,
    mentions INTEGER NOT NULL, created TEXT NOT NULL, last_seen TEXT NOT NULL, ended TEXT,
    turns TEXT NOT NULL, PRIMARY KEY (owner, source, name, target));
"""
FIRST, SECOND = "2023-05-08T13:56:00", "2023-05-20T09:00:00.000250"
NODE_ROWS = [
    ("ann", "mara", "Mara", "person", struct.pack("<3f", 1, 0, 0), 2, FIRST, SECOND),
    ("ann", "上海", "上海", "place", struct.pack("<3f", 0, 0.6, -0.8), 1, FIRST, FIRST),
    ("bob", "mara", "Mara", "other", struct.pack("<3f", 0, 0, 1), 1, SECOND, SECOND),
]
RELATION_ROWS = [
    ("ann", "mara", "has left", "上海", 1, SECOND, SECOND, None, "[]"),
    ("ann", "mara", "lives in", "上海", 2, FIRST, SECOND, SECOND, '["D1:1", "D2:3 \\"\\u4e0a"]'),
]
BEFORE, AFTER = datetime(2023, 5, 8, 13, 56), datetime(2023, 5, 20, 9, 0, 0, 250)
NODES = {
    "ann": [
        Node("mara", "Mara", "person", np.array([1, 0, 0]), 2, BEFORE, AFTER),
        Node("上海", "上海", "place", np.array([0, 0.6, -0.8]), 1, BEFORE, BEFORE),
    ],
    "bob": [Node("mara", "Mara", "other", np.array([0, 0, 1]), 1, AFTER, AFTER)],
}
RELATIONS = [
    Relation("mara", "has left", "上海", 1, AFTER, AFTER),
    Relation("mara", "lives in", "上海", 2, BEFORE, AFTER, AFTER, ("D1:1", 'D2:3 "上')),
]


def test_a_file_of_today_s_form_opens(tmp_path):
    path = tmp_path / "kept.sqlite"
    with closing(sqlite3.connect(path)) as db, db:
        db.executescript(TABLES)
        db.executemany("INSERT INTO nodes VALUES (?, ?, ?, ?, ?, ?, ?, ?)", NODE_ROWS)
        db.executemany("INSERT INTO relations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", RELATION_ROWS)
    with closing(NetworkxRelations(str(path))) as store:
        for owner, nodes in NODES.items():
            found = store.nodes(owner)
            assert found == nodes
            for one, other in zip(found, nodes, strict=True):
                assert one.vector.dtype == np.float32
                assert np.array_equal(one.vector, other.vector.astype(np.float32))
        assert [store.relations(owner) for owner in NODES] == [RELATIONS, []]


@pytest.mark.parametrize("kind", [NetworkxRelations, FaissVectors])
def test_a_store_that_is_no_longer_used_closes_its_file(tmp_path, kind):
    db = kind(str(tmp_path / "kept.sqlite"))._db
    gc.collect()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        db.execute("SELECT 1")


def test_a_store_writes_that_form(tmp_path):
    path = tmp_path / "kept.sqlite"
    with closing(NetworkxRelations(str(path))) as store:
        for owner, nodes in NODES.items():
            store.put_nodes(owner, nodes)
        store.put_relations("ann", RELATIONS)
    with closing(sqlite3.connect(path)) as db:
        assert list(db.execute("SELECT * FROM nodes ORDER BY owner, id")) == NODE_ROWS
        assert list(db.execute("SELECT * FROM relations ORDER BY owner, name")) == RELATION_ROWS
    assert json.loads(RELATION_ROWS[1][-1]) == list(RELATIONS[1].turns)


WRITES = 25


def start(path: str, name: str, writes: int) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.memsys.stores.writer", "networkx_shared"]
    given = [path, name, str(writes)]
    return subprocess.Popen([*command, *given], stdout=subprocess.PIPE, text=True)


def check(store: RelationStore, written: dict[str, int], unsure: int = 0) -> None:
    """Every write of each writer is there, and each counted one mention of the shared node."""
    (shared,) = store.nodes("ann", [SHARED])
    total = sum(written.values())
    assert total <= shared.mentions <= total + unsure
    ids = {one.id for one in store.nodes("ann")}
    targets = {one.target for one in store.relations("ann", [SHARED])}
    for name, count in written.items():
        assert {f"{name}{n}" for n in range(count)} <= ids & targets
    assert len(store.relations("ann")) == len(ids) - 1 == shared.mentions


def test_processes_that_write_one_owner_lose_nothing(tmp_path):
    path = str(tmp_path / "shared.sqlite")
    with closing(NetworkxRelations(path)) as store:
        assert store.nodes("ann") == []  # read before the others write
        writers = {name: start(path, name, WRITES) for name in ("p", "q", "r")}
        for writer in writers.values():
            writer.communicate(timeout=60)
            assert writer.returncode == 0
        check(store, dict.fromkeys(writers, WRITES))
        found = store.similar("ann", ROWS[0], 0.99, 200)
        assert {near.node.id for near in found} >= {f"p{n}" for n in range(WRITES) if n % 3 == 0}
    with closing(NetworkxRelations(path)) as store:
        check(store, dict.fromkeys(writers, WRITES))


def test_a_killed_writer_loses_nothing_acknowledged_and_stops_no_other(tmp_path):
    path = str(tmp_path / "shared.sqlite")
    killed, other = start(path, "p", 100_000), start(path, "q", WRITES)
    acknowledged = [int(killed.stdout.readline()) for _ in range(WRITES)]
    killed.kill()
    acknowledged += [int(line) for line in killed.stdout]  # also what is read ahead
    killed.communicate(timeout=60)
    other.communicate(timeout=60)
    assert other.returncode == 0
    with closing(NetworkxRelations(path)) as store:
        check(store, {"p": len(acknowledged), "q": WRITES}, unsure=1)


@pytest.fixture
def two(tmp_path):
    path = str(tmp_path / "two.sqlite")
    with closing(NetworkxRelations(path)) as one, closing(NetworkxRelations(path)) as other:
        yield one, other


def test_a_store_sees_what_another_has_changed(two):
    one, other = two
    rows = pool(0, 2)
    one.put_nodes("ann", [node("a", rows[0]), node("b", rows[1])])
    assert [found.id for found in other.nodes("ann")] == ["a", "b"]
    other.put_relations("ann", [relation("a", "knows", "b")])
    other.put_nodes("bob", [node("c", rows[0])])
    assert one.relations("ann") == [relation("a", "knows", "b")]
    assert [found.node.id for found in one.similar("bob", rows[0], 0.9, 5)] == ["c"]
    one.drop_relations("ann", [("a", "knows", "b")])
    assert other.relations("ann") == []
    one.clear("ann")
    assert other.nodes("ann") == other.similar("ann", rows[0], -1, 5) == []
    other.put_nodes("ann", [node("d", rows[0])])
    assert [found.id for found in one.nodes("ann")] == ["d"]
    other.drop_nodes("ann", ["d"])  # the last one
    assert one.nodes("ann") == []


def test_a_failed_transaction_changes_nothing(two):
    one, rows = two[0], pool(0, 2)
    one.put_nodes("ann", [node("a", rows[0])])
    with pytest.raises(ZeroDivisionError), one.writing():  # noqa: PT012
        one.put_nodes("ann", [node("a", rows[1], mentions=7), node("b", rows[1])])
        one.put_relations("ann", [relation("a", "knows", "b")])
        assert [len(store.nodes("ann")) for store in two] == [2, 1]  # not before the end
        raise ZeroDivisionError
    for store in two:
        assert store.nodes("ann") == [node("a", rows[0])]
        assert store.relations("ann") == store.similar("ann", rows[1], 0.999, 5) == []


def test_a_failed_transaction_in_memory_changes_nothing_either():
    rows = pool(0, 2)
    with closing(NetworkxRelations()) as store:
        store.put_nodes("ann", [node("a", rows[0])])
        with pytest.raises(InputError, match="'nobody'"), store.writing():  # noqa: PT012
            store.put_nodes("ann", [node("b", rows[1])])
            store.put_relations("ann", [relation("a", "knows", "nobody")])
        assert store.nodes("ann") == [node("a", rows[0])]
        assert store.similar("ann", rows[1], 0.999, 5) == []


def test_a_cleared_owner_leaves_no_name_in_the_file(two, tmp_path):
    one, _ = two
    one.put_nodes("somebody", [node("a", pool(0, 1)[0])])
    one.clear("somebody")
    one.put_nodes("ann", [node("a", pool(0, 1)[0])])
    rows = one._db.execute("SELECT owner FROM owners").fetchall()
    assert [row["owner"] for row in rows] == ["ann"]


OWNER = "0123456789abcdef0123456789abcdef"


def test_memories_are_the_lines_of_a_file_from_which_they_come_back(tmp_path):
    kept = [
        memory("D1:1", 'She said "so"\n\tand left', index_text="before\nafter", event="2024-03"),
        memory("上海", "陶艺课在上海，🐈", speaker="小玛", turns=("a", "b"), importance=1 / 3),
    ]
    file = tmp_path / "memories.jsonl"
    file.write_text("".join(line(one) for one in kept), encoding="utf-8")
    assert lines(kept) == file.stat().st_size
    rows = [json.loads(text) for text in file.read_text(encoding="utf-8").splitlines()]
    back = [
        Memory(**row | {"time": datetime.fromisoformat(row["time"]), "turns": tuple(row["turns"])})
        for row in rows
    ]
    assert back == kept
    assert [row.keys() for row in rows] == [(every := asdict(kept[0]).keys()), every - {"event"}]


def test_the_lines_of_many_rows_add_up_and_half_a_surrogate_pair_does_no_harm():
    rows = [[number, "陶", {"a": number / 7}] for number in range(2_345)]
    assert lines(rows) == sum(len(line(row).encode()) for row in rows)
    assert lines([]) == 0
    assert lines([memory("a", "x\ud83d")]) == lines([memory("a", "x陶")])


def test_vectors_are_of_four_bytes_a_number_and_sums_are_by_unit():
    rows = pool(1, 200, 64)
    assert singles(rows) == singles([rows]) == 200 * 64 * 4
    assert together({"a": 1, "b": 2}, {"b": 3, "c": 0}) == {"a": 1, "b": 5, "c": 0}


def test_a_graph_of_relations_is_near_the_file_of_the_relation_store(tmp_path, bag_of_words):
    file, ids = tmp_path / "relations.sqlite", [f"somebody {i}" for i in range(200)]
    with closing(NetworkxRelations(str(file))) as store:
        rows = pool(2, 200, 384)
        store.put_nodes(OWNER, [node(i, row) for i, row in zip(ids, rows, strict=True)])
        linked = [keys([ids[i % 200], ids[i * 7 % 200]])[i % 12] for i in range(300)]
        store.put_relations(OWNER, [relation(*key) for key in dict.fromkeys(linked)])
        size = RelationGraph(store, OWNER, bag_of_words, settings()).size()
        other = RelationGraph(store, "nobody", bag_of_words, settings()).size()
    assert other == {"tokens": 0, "nodes": 0, "edges": 0, "bytes": 0}
    assert (size["nodes"], size["edges"]) == (200, len(set(linked)))
    with closing(sqlite3.connect(file)) as db:
        (vectors,) = db.execute("SELECT sum(length(vector)) FROM nodes").fetchone()
    assert vectors == 200 * 384 * 4 < size["bytes"]
    assert size["bytes"] < file.stat().st_size < 1.5 * size["bytes"]
