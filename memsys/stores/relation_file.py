"""Nodes and relations in an SQLite file."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from memsys.stores.files import open_store
from memsys.stores.relations import Node, Relation

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


class RelationFile:
    """What a relation store has been told, row by row; each method is one transaction.

    Raises InputError where the file at `path` cannot be opened.
    """

    def __init__(self, path: str) -> None:
        self._db = open_store(path, _TABLES, "relation_store")

    def put_nodes(self, owner: str, nodes: Iterable[Node]) -> None:
        """Write `nodes` over those of the same ids."""
        self._write(
            "REPLACE INTO nodes VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [(owner, *_node_row(node)) for node in nodes],
        )

    def put_relations(self, owner: str, relations: Iterable[Relation]) -> None:
        """Write `relations` over those of the same keys."""
        self._write(
            "REPLACE INTO relations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(owner, *_relation_row(relation)) for relation in relations],
        )

    def drop_relations(self, owner: str, keys: Collection[tuple[str, str, str]]) -> None:
        """Delete the relations of these keys."""
        self._write(
            "DELETE FROM relations WHERE owner = ? AND source = ? AND name = ? AND target = ?",
            [(owner, *key) for key in keys],
        )

    def clear(self, owner: str) -> None:
        """Delete all of `owner`."""
        with self._db:
            self._db.execute("DELETE FROM relations WHERE owner = ?", (owner,))
            self._db.execute("DELETE FROM nodes WHERE owner = ?", (owner,))

    def nodes(self, owner: str) -> list[Node]:
        """All nodes of `owner`."""
        found = self._db.execute(
            "SELECT id, name, kind, vector, mentions, created, last_seen FROM nodes"
            " WHERE owner = ?",
            (owner,),
        )
        return [_node(row) for row in found]

    def relations(self, owner: str) -> list[Relation]:
        """All relations of `owner`."""
        found = self._db.execute(
            "SELECT source, name, target, mentions, created, last_seen, ended, turns"
            " FROM relations WHERE owner = ?",
            (owner,),
        )
        return [_relation(row) for row in found]

    def dimension(self) -> int | None:
        """Of the vectors in the file; None while there are none."""
        found = self._db.execute("SELECT length(vector) / 4 FROM nodes LIMIT 1").fetchone()
        return None if found is None else int(found[0])

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def _write(self, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
        with self._db:
            self._db.executemany(statement, rows)


def _node_row(node: Node) -> tuple[Any, ...]:
    vector = node.vector.astype(np.float32).tobytes()
    times = node.created.isoformat(), node.last_seen.isoformat()
    return node.id, node.name, node.kind, vector, node.mentions, *times


def _node(row: tuple[Any, ...]) -> Node:
    id_, name, kind, vector, mentions, created, last_seen = row
    times = datetime.fromisoformat(created), datetime.fromisoformat(last_seen)
    return Node(id_, name, kind, np.frombuffer(vector, dtype=np.float32), mentions, *times)


def _relation_row(relation: Relation) -> tuple[Any, ...]:
    times = relation.created.isoformat(), relation.last_seen.isoformat()
    ended = None if relation.ended is None else relation.ended.isoformat()
    return *relation.key, relation.mentions, *times, ended, json.dumps(relation.turns)


def _relation(row: tuple[Any, ...]) -> Relation:
    source, name, target, mentions, created, last_seen, ended, turns = row
    return Relation(
        source,
        name,
        target,
        mentions,
        datetime.fromisoformat(created),
        datetime.fromisoformat(last_seen),
        None if ended is None else datetime.fromisoformat(ended),
        tuple(json.loads(turns)),
    )
