"""Nodes and relations in an SQLite file."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from memsys.stores.relations import Node, Relation, node_of, node_row, relation_of, relation_row
from memsys.stores.sqlite import open_store

_TABLES = (
    """CREATE TABLE IF NOT EXISTS nodes (
    owner TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL,
    vector BLOB NOT NULL, mentions INTEGER NOT NULL, created TEXT NOT NULL,
    last_seen TEXT NOT NULL, PRIMARY KEY (owner, id))""",
    """CREATE TABLE IF NOT EXISTS relations (
    owner TEXT NOT NULL, source TEXT NOT NULL, name TEXT NOT NULL, target TEXT NOT NULL,
    mentions INTEGER NOT NULL, created TEXT NOT NULL, last_seen TEXT NOT NULL, ended TEXT,
    turns TEXT NOT NULL, PRIMARY KEY (owner, source, name, target))""",
)
_FLOAT = np.float32  # of the numbers of a vector, in sequence


class RelationFile:
    """The rows of a relation store; each method is one transaction.

    Raises InputError if the file at `path` cannot be opened.
    """

    def __init__(self, path: str) -> None:
        self._db = open_store(path, _TABLES, "relation_store")
        self._db.row_factory = sqlite3.Row

    def put_nodes(self, owner: str, nodes: Iterable[Node]) -> None:
        """Insert or replace `nodes`."""
        self._write(
            "REPLACE INTO nodes VALUES"
            " (:owner, :id, :name, :kind, :vector, :mentions, :created, :last_seen)",
            [
                {**node_row(node), "owner": owner, "vector": node.vector.astype(_FLOAT).tobytes()}
                for node in nodes
            ],
        )

    def put_relations(self, owner: str, relations: Iterable[Relation]) -> None:
        """Insert or replace `relations`."""
        self._write(
            "REPLACE INTO relations VALUES"
            " (:owner, :source, :name, :target, :mentions, :created, :last_seen, :ended, :turns)",
            [
                {**relation_row(one), "owner": owner, "turns": json.dumps(one.turns)}
                for one in relations
            ],
        )

    def drop_relations(self, owner: str, keys: Collection[tuple[str, str, str]]) -> None:
        """Delete the relations with these keys."""
        self._write(
            "DELETE FROM relations WHERE owner = ? AND source = ? AND name = ? AND target = ?",
            [(owner, *key) for key in keys],
        )

    def clear(self, owner: str) -> None:
        """Delete everything of `owner`."""
        with self._db:
            self._db.execute("DELETE FROM relations WHERE owner = ?", (owner,))
            self._db.execute("DELETE FROM nodes WHERE owner = ?", (owner,))

    def nodes(self, owner: str) -> list[Node]:
        """Return all nodes of `owner`."""
        rows = self._db.execute("SELECT * FROM nodes WHERE owner = ?", (owner,))
        return [node_of(row, np.frombuffer(row["vector"], dtype=_FLOAT)) for row in rows]

    def relations(self, owner: str) -> list[Relation]:
        """Return all relations of `owner`."""
        rows = self._db.execute("SELECT * FROM relations WHERE owner = ?", (owner,))
        return [
            relation_of(row["source"], {**row, "turns": json.loads(row["turns"])}, row["target"])
            for row in rows
        ]

    def dimension(self) -> int | None:
        """Return the dimension of the vectors in the file; None without vectors."""
        row = self._db.execute("SELECT length(vector) / 4 FROM nodes LIMIT 1").fetchone()
        return None if row is None else int(row[0])

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _write(self, statement: str, rows: Sequence[tuple[Any, ...] | Mapping[str, Any]]) -> None:
        with self._db:
            self._db.executemany(statement, rows)
