"""Records and their history in SQLite: the single source from which every index is built."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from memsys.errors import InputError
from memsys.service.records import EventName, MemoryChange, MemoryRecord, Owner
from memsys.service.tables import COLUMNS, TABLES, as_text, fits, now, record_of, where
from memsys.stores.sqlite import open_shared
from memsys.types import Vectors


class MemoryDatabase:
    """The file `memories.sqlite` of a folder. Several processes may write it; within one process,
    callers hold the lock of memsys.service.writing.Writer. A change and its entry in the history
    are one transaction.
    """

    def __init__(self, folder: Path, embedder: str) -> None:
        """Create `folder` (mode 700) if absent. Raises InputError if the file cannot be used, or if
        its vectors are those of another embedder than `embedder`.
        """
        self.path = folder / "memories.sqlite"
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._db = open_shared(self.path, TABLES[0])
            self._db.isolation_level = None  # transactions are begun by `writing`
            with self.writing():
                for table in TABLES[1:]:
                    self._db.execute(table)
                stored = self.state("embedder", embedder)
        except (OSError, sqlite3.DatabaseError) as error:
            raise InputError(
                f"{folder}: not usable as a folder of memories ({error}); name another"
            ) from error
        if stored != embedder:
            self._db.close()
            raise InputError(
                f"{self.path}: its memories were embedded by {stored}, not {embedder}; set "
                "embedder= to that, or name another folder"
            )

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Open one transaction that locks out other writers from its beginning."""
        self._db.execute("BEGIN IMMEDIATE")
        with self._db:
            yield

    def state(self, name: str, first: str) -> str:
        """Return the value under `name`, set to `first` if there is none."""
        self._db.execute("INSERT OR IGNORE INTO state VALUES (?, ?)", (name, first))
        return str(self._db.execute("SELECT value FROM state WHERE name=?", (name,)).fetchone()[0])

    def set_state(self, name: str, value: str) -> None:
        """Store `value` under `name`."""
        self._db.execute("INSERT OR REPLACE INTO state VALUES (?, ?)", (name, value))

    @property
    def last(self) -> int:
        """The number of the last change by any process; 0 before the first."""
        row = self._db.execute("SELECT seq FROM sqlite_sequence WHERE name='changes'").fetchone()
        return int(row[0]) if row else 0

    def put(self, record: MemoryRecord, vector: Vectors) -> MemoryChange:
        """Insert or replace `record` and its `vector`, shape (d,)."""
        old = self.get(record.id)
        names = ("user_id", "agent_id", "run_id")
        values: dict[str, Any] = {
            "id": record.id,
            "shelf": record.owner.shelf,
            **{name: getattr(record.owner, name) for name in names},
            "content": record.memory,
            "index_text": record.index_text,
            "kind": record.kind,
            "time": record.time.isoformat(),
            "speaker": record.speaker,
            "turns": as_text(record.turns),
            "importance": record.importance,
            "metadata": as_text(record.metadata),
            "vector": vector.astype(np.float32).tobytes(),
            "created": record.created.isoformat(),
            "updated": record.updated.isoformat(),
        }
        sets = ", ".join(f"{name}=excluded.{name}" for name in values if name != "id")
        marks = ", ".join("?" * len(values))
        self._db.execute(
            f"INSERT INTO memories ({', '.join(values)}) VALUES ({marks}) "  # noqa: S608
            f"ON CONFLICT (id) DO UPDATE SET {sets}",
            tuple(values.values()),
        )
        event: EventName = "UPDATE" if old else "ADD"
        return self._log_change(record, event, old.memory if old else None, record.memory)

    def drop(self, record: MemoryRecord) -> MemoryChange:
        """Delete `record`; its history remains."""
        self._db.execute("DELETE FROM memories WHERE id=?", (record.id,))
        return self._log_change(record, "DELETE", record.memory, None)

    def clear(self) -> None:
        """Delete everything including the history; the numbers of changes continue."""
        shelves = [row[0] for row in self._db.execute("SELECT DISTINCT shelf FROM changes")]
        self.set_state("cleared_shelves", as_text(shelves))  # until their vectors are deleted too
        for table in ("memories", "changes", "dialogues"):
            self._db.execute(f"DELETE FROM {table}")  # noqa: S608
        self._db.execute("UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'changes'")
        self.set_state("cleared", str(self.last))

    def get(self, id_: str) -> MemoryRecord | None:
        """Return the record of this id, or None."""
        return self.of([id_]).get(id_)

    def of(self, ids: Sequence[str]) -> dict[str, MemoryRecord]:
        """Return records by id, without unknown ids."""
        rows = self._db.execute(
            f"SELECT {COLUMNS} FROM memories "  # noqa: S608
            "WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(ids)),),
        )
        return {row[0]: record_of(row) for row in rows}

    def owned(self, owner: Owner, filters: Mapping[str, Any] | None = None) -> list[MemoryRecord]:
        """Return records of `owner` whose metadata match `filters`, oldest first."""
        condition, values = where(owner)
        rows = self._db.execute(
            f"SELECT {COLUMNS} FROM memories WHERE {condition} ORDER BY seq",  # noqa: S608
            values,
        )
        return [one for one in map(record_of, rows) if fits(one.metadata, filters or {})]

    def shelves(self, owner: Owner) -> list[str]:
        """Return the shelves with memories of `owner`, sorted."""
        condition, values = where(owner)
        rows = self._db.execute(
            f"SELECT DISTINCT shelf FROM memories WHERE {condition} ORDER BY shelf",  # noqa: S608
            values,
        )
        return [row[0] for row in rows]

    def vectors(self, after: int = 0) -> Iterator[tuple[str, str, Vectors | None]]:
        """Yield shelf, id and vector (None: deleted) of changes with a number above `after`."""
        query = (
            "SELECT DISTINCT c.shelf, c.memory, m.vector FROM changes c "
            "LEFT JOIN memories m ON m.id = c.memory WHERE c.number > ? ORDER BY c.shelf, m.seq"
        )
        for shelf, id_, blob in self._db.execute(query, (after,)):
            yield shelf, id_, None if blob is None else np.frombuffer(blob, dtype=np.float32)

    def by_shelf(self) -> dict[str, set[str]]:
        """Return all ids by shelf."""
        shelves: dict[str, set[str]] = {}
        for shelf, id_ in self._db.execute("SELECT shelf, id FROM memories"):
            shelves.setdefault(shelf, set()).add(id_)
        return shelves

    def vectors_of(self, ids: Sequence[str]) -> Vectors:
        """Return the vectors of stored `ids`, shape (len(ids), d)."""
        rows = self._db.execute(
            "SELECT id, vector FROM memories WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(ids)),),
        )
        vectors = {id_: np.frombuffer(blob, dtype=np.float32) for id_, blob in rows}
        return np.stack([vectors[id_] for id_ in ids])

    def order(self, ids: Collection[str]) -> dict[str, int]:
        """Return the order of insertion by id."""
        listed = json.dumps(list(ids))
        rows = self._db.execute(
            "SELECT id, seq FROM memories WHERE id IN (SELECT value FROM json_each(?))", (listed,)
        )
        return dict(rows.fetchall())

    def history(self, id_: str) -> list[MemoryChange]:
        """Return every change of this id, oldest first."""
        rows = self._db.execute(
            "SELECT number, memory, event, old, new, time, user_id, agent_id, run_id "
            "FROM changes WHERE memory=? ORDER BY number",
            (id_,),
        )
        return [
            MemoryChange(number, id_, event, old, new, datetime.fromisoformat(time), Owner(*owner))
            for number, id_, event, old, new, time, *owner in rows
        ]

    def touch(self, ids: Sequence[str], time: datetime) -> None:
        """Count one access of each memory."""
        self._db.executemany(
            "UPDATE memories SET accesses = accesses + 1, accessed = ? WHERE id = ?",
            [(time.isoformat(), id_) for id_ in ids],
        )

    def dialogue(self, owner: Owner) -> tuple[list[Any], str]:
        """Return the stored last messages of `owner` and their summary."""
        row = self._db.execute(
            "SELECT said, summary FROM dialogues WHERE owner=?", (as_text(owner.named),)
        ).fetchone()
        return (json.loads(row[0]), row[1]) if row else ([], "")

    def set_dialogue(self, owner: Owner, messages: Sequence[Any], summary: str) -> None:
        """Store the last messages of `owner` and their summary."""
        self._db.execute(
            "INSERT OR REPLACE INTO dialogues VALUES (?, ?, ?)",
            (as_text(owner.named), as_text(messages), summary),
        )

    def drop_dialogues(self, owner: Owner) -> None:
        """Delete the messages and summaries of `owner`."""
        for (key,) in self._db.execute("SELECT owner FROM dialogues").fetchall():
            if owner.named.items() <= json.loads(key).items():
                self._db.execute("DELETE FROM dialogues WHERE owner=?", (key,))

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _log_change(
        self, record: MemoryRecord, event: EventName, old: str | None, new: str | None
    ) -> MemoryChange:
        time, owner = now(), record.owner
        row = (record.id, owner.shelf, event, old, new, time.isoformat())
        cursor = self._db.execute(
            "INSERT INTO changes (memory, shelf, event, old, new, time, user_id, agent_id, run_id) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*row, owner.user_id, owner.agent_id, owner.run_id),
        )
        assert cursor.lastrowid is not None  # noqa: S101 - for the type checker
        return MemoryChange(cursor.lastrowid, record.id, event, old, new, time, owner)
