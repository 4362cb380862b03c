"""The form of a relation store's file, to the byte: one that was written before still opens."""

import gc
import json
import sqlite3
import struct
from contextlib import closing
from datetime import datetime

import numpy as np
import pytest

from memsys.stores.faiss_vectors import FaissVectors
from memsys.stores.networkx_relations import NetworkxRelations
from memsys.stores.relations import Node, Relation

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
        assert store.relations("ann") == RELATIONS
        assert store.relations("bob") == []


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
