"""The SQLite file of a relation store, which several processes may write."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager

import numpy as np

from memsys.stores.relations import Node, Relation, node_of, relation_of, row_of
from memsys.stores.sqlite import open_store, rewrite

_TABLES = (
    """CREATE TABLE IF NOT EXISTS nodes (
    owner TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL,
    vector BLOB NOT NULL, mentions INTEGER NOT NULL, created TEXT NOT NULL,
    last_seen TEXT NOT NULL, PRIMARY KEY (owner, id))""",
    """CREATE TABLE IF NOT EXISTS relations (
    owner TEXT NOT NULL, source TEXT NOT NULL, name TEXT NOT NULL, target TEXT NOT NULL,
    mentions INTEGER NOT NULL, created TEXT NOT NULL, last_seen TEXT NOT NULL, ended TEXT,
    turns TEXT NOT NULL, PRIMARY KEY (owner, source, name, target))""",
    # One row for each owner with nodes. A change gives it a number that was never used before.
    """CREATE TABLE IF NOT EXISTS owners (
    version INTEGER PRIMARY KEY AUTOINCREMENT, owner TEXT NOT NULL UNIQUE)""",
)


class RelationFile:
    """The rows of a relation store. Changes are made within `writing`, several reads of one state
    within `reading`; a caller uses it from one thread at a time. Raises InputError if the file at
    `path` cannot be opened.
    """

    def __init__(self, path: str) -> None:
        self._db = open_store(path, _TABLES, "relation_store")
        self._db.row_factory = sqlite3.Row
        self._db.isolation_level = None  # transactions are begun here only
        self._seen = -1

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Open a transaction that locks out other writers; an error undoes its changes."""
        self._db.execute("BEGIN IMMEDIATE")
        with self._db:
            yield

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read one state of the file, that of the open transaction if there is one."""
        if self._db.in_transaction:
            yield
            return
        self._db.execute("BEGIN")
        with self._db:
            yield

    def changed_by_others(self) -> bool:
        """Return whether another connection may have changed the file since the last call."""
        before, self._seen = self._seen, self._db.execute("PRAGMA data_version").fetchone()[0]
        return before != self._seen

    def version(self, owner: str) -> int:
        """Return the number of the owner's last change; 0 if it has no nodes."""
        row = self._db.execute("SELECT version FROM owners WHERE owner = ?", (owner,)).fetchone()
        return 0 if row is None else int(row[0])

    def renew_version(self, owner: str) -> int:
        """Number a change of the owner, which has nodes; return the number."""
        cursor = self._db.execute("REPLACE INTO owners (owner) VALUES (?)", (owner,))
        return int(cursor.lastrowid or 0)

    def put_nodes(self, owner: str, nodes: Iterable[Node]) -> None:
        """Insert or replace `nodes`."""
        self._db.executemany(
            "REPLACE INTO nodes VALUES"
            " (:owner, :id, :name, :kind, :vector, :mentions, :created, :last_seen)",
            [
                {**row_of(node), "owner": owner, "vector": node.vector.astype(np.float32).tobytes()}
                for node in nodes
            ],
        )

    def put_relations(self, owner: str, relations: Iterable[Relation]) -> None:
        """Insert or replace `relations`."""
        self._db.executemany(
            "REPLACE INTO relations VALUES"
            " (:owner, :source, :name, :target, :mentions, :created, :last_seen, :ended, :turns)",
            [{**row_of(one), "owner": owner, "turns": json.dumps(one.turns)} for one in relations],
        )

    def drop_relations(self, owner: str, keys: Collection[tuple[str, str, str]]) -> None:
        """Delete the relations with these keys."""
        self._db.executemany(
            "DELETE FROM relations WHERE owner = ? AND source = ? AND name = ? AND target = ?",
            [(owner, *key) for key in keys],
        )

    def drop_nodes(self, owner: str, ids: Collection[str]) -> None:
        """Delete the nodes with these ids, and their relations."""
        for statement in (
            "DELETE FROM relations WHERE owner = :owner AND :id IN (source, target)",
            "DELETE FROM nodes WHERE owner = :owner AND id = :id",
        ):
            self._db.executemany(statement, [{"owner": owner, "id": id_} for id_ in ids])

    def clear(self, owner: str) -> None:
        """Delete all rows of the owner."""
        for table in ("relations", "nodes", "owners"):
            self._db.execute(f"DELETE FROM {table} WHERE owner = ?", (owner,))  # noqa: S608

    def nodes(self, owner: str) -> list[Node]:
        """Return the owner's nodes."""
        rows = self._db.execute("SELECT * FROM nodes WHERE owner = ?", (owner,))
        return [node_of(row, np.frombuffer(row["vector"], dtype=np.float32)) for row in rows]

    def relations(self, owner: str) -> list[Relation]:
        """Return the owner's relations."""
        rows = self._db.execute("SELECT * FROM relations WHERE owner = ?", (owner,))
        return [
            relation_of(row["source"], {**row, "turns": json.loads(row["turns"])}, row["target"])
            for row in rows
        ]

    def dimension(self) -> int | None:
        """Return the dimension of the vectors, None if there are none."""
        row = self._db.execute("SELECT length(vector) / 4 FROM nodes LIMIT 1").fetchone()
        return None if row is None else int(row[0])

    def compact(self) -> None:
        """Write the file anew; see memsys.stores.sqlite.rewrite."""
        rewrite(self._db)

    def close(self) -> None:
        """Close the file."""
        self._db.close()
