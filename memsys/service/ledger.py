"""Records and their history in SQLite: the truth that every index follows."""

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
from memsys.service.records import Change, EventName, Owner, Record
from memsys.service.tables import COLUMNS, TABLES, as_text, fits, now, record_of, where
from memsys.stores.sqlite import open_shared
from memsys.types import Vectors


class Ledger:
    """The file `memories.sqlite` of a folder. Several processes may write it; within one, callers
    take turns (memsys.service.memory holds the lock). A change and its entry in the history are one
    transaction.
    """

    def __init__(self, folder: Path, embedder: str) -> None:
        """`folder` is made if absent, for its owner alone. Raises InputError where the file cannot
        be used, or where its vectors are of another embedder than `embedder`.
        """
        self.path = folder / "memories.sqlite"
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._db = open_shared(self.path, TABLES[0])
            self._db.isolation_level = None  # transactions begin where `writing` says so
            with self.writing():
                for table in TABLES[1:]:
                    self._db.execute(table)
                known = self.state("embedder", embedder)
        except (OSError, sqlite3.DatabaseError) as error:
            raise InputError(
                f"{folder}: not usable as a folder of memories ({error}); name another"
            ) from error
        if known != embedder:
            self._db.close()
            raise InputError(
                f"{self.path}: its memories were embedded by {known}, not {embedder}; set "
                "embedder= to that, or name another folder"
            )

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction, with the file held against other writers from its beginning."""
        self._db.execute("BEGIN IMMEDIATE")
        with self._db:
            yield

    def state(self, name: str, first: str) -> str:
        """The value under `name`, set to `first` where there is none."""
        self._db.execute("INSERT OR IGNORE INTO state VALUES (?, ?)", (name, first))
        return str(self._db.execute("SELECT value FROM state WHERE name=?", (name,)).fetchone()[0])

    def set_state(self, name: str, value: str) -> None:
        """Keep `value` under `name`."""
        self._db.execute("INSERT OR REPLACE INTO state VALUES (?, ?)", (name, value))

    @property
    def last(self) -> int:
        """The number of the last change, be it another process's; 0 before the first."""
        row = self._db.execute("SELECT seq FROM sqlite_sequence WHERE name='changes'").fetchone()
        return int(row[0]) if row else 0

    def put(self, record: Record, vector: Vectors) -> Change:
        """Keep `record` and its `vector`, shape (d,), in the place of what has its id."""
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
        return self._note(record, event, old.memory if old else None, record.memory)

    def drop(self, record: Record) -> Change:
        """Forget `record`; its history stays."""
        self._db.execute("DELETE FROM memories WHERE id=?", (record.id,))
        return self._note(record, "DELETE", record.memory, None)

    def clear(self) -> None:
        """Forget everything, the history too; numbers of changes go on."""
        known = [row[0] for row in self._db.execute("SELECT DISTINCT shelf FROM changes")]
        self.set_state("cleared_shelves", as_text(known))  # until their vectors are gone as well
        for table in ("memories", "changes", "dialogues"):
            self._db.execute(f"DELETE FROM {table}")  # noqa: S608
        self._db.execute("UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'changes'")
        self.set_state("cleared", str(self.last))

    def get(self, id_: str) -> Record | None:
        """The record of this id."""
        return self.of([id_]).get(id_)

    def of(self, ids: Sequence[str]) -> dict[str, Record]:
        """Records by id; unknown ids are left out."""
        rows = self._db.execute(
            f"SELECT {COLUMNS} FROM memories "  # noqa: S608
            "WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(ids)),),
        )
        return {row[0]: record_of(row) for row in rows}

    def owned(self, owner: Owner, filters: Mapping[str, Any] | None = None) -> list[Record]:
        """Records of `owner` whose metadata have the values of `filters`, oldest first."""
        condition, values = where(owner)
        rows = self._db.execute(
            f"SELECT {COLUMNS} FROM memories WHERE {condition} ORDER BY seq",  # noqa: S608
            values,
        )
        return [one for one in map(record_of, rows) if fits(one.metadata, filters or {})]

    def shelves(self, owner: Owner) -> list[str]:
        """The shelves that hold anything of `owner`, sorted."""
        condition, values = where(owner)
        rows = self._db.execute(
            f"SELECT DISTINCT shelf FROM memories WHERE {condition} ORDER BY shelf",  # noqa: S608
            values,
        )
        return [row[0] for row in rows]

    def vectors(self, after: int = 0) -> Iterator[tuple[str, str, Vectors | None]]:
        """Shelf, id and vector (None: gone) of what was changed `after` that number."""
        query = (
            "SELECT DISTINCT c.shelf, c.memory, m.vector FROM changes c "
            "LEFT JOIN memories m ON m.id = c.memory WHERE c.number > ? ORDER BY c.shelf, m.seq"
        )
        for shelf, id_, blob in self._db.execute(query, (after,)):
            yield shelf, id_, None if blob is None else np.frombuffer(blob, dtype=np.float32)

    def by_shelf(self) -> dict[str, set[str]]:
        """All ids, by shelf."""
        found: dict[str, set[str]] = {}
        for shelf, id_ in self._db.execute("SELECT shelf, id FROM memories"):
            found.setdefault(shelf, set()).add(id_)
        return found

    def vectors_of(self, ids: Sequence[str]) -> Vectors:
        """The vectors of known `ids`, shape (len(ids), d)."""
        rows = self._db.execute(
            "SELECT id, vector FROM memories WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(ids)),),
        )
        found = {id_: np.frombuffer(blob, dtype=np.float32) for id_, blob in rows}
        return np.stack([found[id_] for id_ in ids])

    def order(self, ids: Collection[str]) -> dict[str, int]:
        """Which came first, by id."""
        listed = json.dumps(list(ids))
        rows = self._db.execute(
            "SELECT id, seq FROM memories WHERE id IN (SELECT value FROM json_each(?))", (listed,)
        )
        return dict(rows.fetchall())

    def history(self, id_: str) -> list[Change]:
        """Every change of this id, oldest first."""
        rows = self._db.execute(
            "SELECT number, memory, event, old, new, time, user_id, agent_id, run_id "
            "FROM changes WHERE memory=? ORDER BY number",
            (id_,),
        )
        return [
            Change(number, id_, event, old, new, datetime.fromisoformat(time), Owner(*owner))
            for number, id_, event, old, new, time, *owner in rows
        ]

    def touch(self, ids: Sequence[str], time: datetime) -> None:
        """Count one access each."""
        self._db.executemany(
            "UPDATE memories SET accesses = accesses + 1, accessed = ? WHERE id = ?",
            [(time.isoformat(), id_) for id_ in ids],
        )

    def dialogue(self, owner: Owner) -> tuple[list[Any], str]:
        """The last messages of `owner` and the summary, as they were kept."""
        row = self._db.execute(
            "SELECT said, summary FROM dialogues WHERE owner=?", (as_text(owner.named),)
        ).fetchone()
        return (json.loads(row[0]), row[1]) if row else ([], "")

    def keep_dialogue(self, owner: Owner, said: Sequence[Any], summary: str) -> None:
        """Keep the last messages of `owner` and the summary."""
        self._db.execute(
            "INSERT OR REPLACE INTO dialogues VALUES (?, ?, ?)",
            (as_text(owner.named), as_text(said), summary),
        )

    def drop_dialogues(self, owner: Owner) -> None:
        """Forget the messages and summaries of `owner`."""
        for (key,) in self._db.execute("SELECT owner FROM dialogues").fetchall():
            if owner.named.items() <= json.loads(key).items():
                self._db.execute("DELETE FROM dialogues WHERE owner=?", (key,))

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def _note(self, record: Record, event: EventName, old: str | None, new: str | None) -> Change:
        time, owner = now(), record.owner
        row = (record.id, owner.shelf, event, old, new, time.isoformat())
        cursor = self._db.execute(
            "INSERT INTO changes (memory, shelf, event, old, new, time, user_id, agent_id, run_id) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*row, owner.user_id, owner.agent_id, owner.run_id),
        )
        assert cursor.lastrowid is not None  # noqa: S101 - for the type checker
        return Change(cursor.lastrowid, record.id, event, old, new, time, owner)
