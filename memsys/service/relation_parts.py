"""Which parts of a relation store belong to whom."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from uuid import uuid4

from memsys.service.database import IN_LIST, MemoryDatabase, owner_condition
from memsys.service.owners import Owner

_IDS = "user_id", "agent_id", "run_id"


class RelationParts:
    """A table of the database: a part of a relation store per user, agent and run, its random key,
    and a version that changes with its relations. Callers hold the lock of the database, and a
    transaction for changes.
    """

    def __init__(self, database: MemoryDatabase) -> None:
        self._database = database

    @property
    def _db(self) -> sqlite3.Connection:
        return self._database.connection

    def of(self, owner: Owner | None) -> list[tuple[str, int]]:
        """Return key and version of every part that belongs to `owner` (None: to anybody), sorted
        by key.
        """
        condition, values = owner_condition(owner)
        query = f"SELECT key, version FROM relation_parts WHERE {condition} ORDER BY key"  # noqa: S608
        return [(key, version) for key, version in self._db.execute(query, values)]

    def open(self, owner: Owner) -> list[str]:
        """Return the key of the part of exactly `owner`, which is created if absent, and those of
        the other parts that belong to `owner`.
        """
        ids = (owner.user_id, owner.agent_id, owner.run_id)
        query = "SELECT key FROM relation_parts WHERE (user_id, agent_id, run_id) IS (?, ?, ?)"
        row = self._db.execute(query, ids).fetchone()
        key = row[0] if row else uuid4().hex
        if row is None:
            self._db.execute("INSERT INTO relation_parts VALUES (?, ?, ?, ?, 0)", (key, *ids))
        return [key, *(other for other, _ in self.of(owner) if other != key)]

    def behind(self, owner: Owner) -> list[str]:
        """Return the keys of the parts of exactly `owner`, or of some of its ids and no other: of
        the messages from which a memory of `owner` may be written.
        """
        ids = (owner.user_id, owner.agent_id, owner.run_id)
        condition = " AND ".join(f"({name} IS NULL OR {name}=?)" for name in _IDS)
        query = f"SELECT key FROM relation_parts WHERE {condition} ORDER BY key"  # noqa: S608
        return [key for (key,) in self._db.execute(query, ids)]

    def changed(self, owner: Owner, keys: Sequence[str]) -> None:
        """Count a change of the parts `keys`, the first that of exactly `owner`; one that was
        deleted meanwhile is created again.
        """
        ids = (owner.user_id, owner.agent_id, owner.run_id)
        insert = "INSERT OR IGNORE INTO relation_parts VALUES (?, ?, ?, ?, 0)"
        self._db.execute(insert, (keys[0], *ids))
        self.count(keys)

    def count(self, keys: Sequence[str]) -> None:
        """Count a change of the parts `keys`, of those that exist still."""
        update = f"UPDATE relation_parts SET version = version + 1 WHERE key {IN_LIST}"  # noqa: S608
        self._db.execute(update, (json.dumps(list(keys)),))

    def drop(self, keys: Sequence[str]) -> None:
        """Delete the rows of the parts `keys`."""
        query = f"DELETE FROM relation_parts WHERE key {IN_LIST}"  # noqa: S608
        self._db.execute(query, (json.dumps(list(keys)),))
