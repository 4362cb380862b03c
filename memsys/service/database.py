"""Records and their history in SQLite: the single source from which every index is built."""

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, astuple
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from memsys.core.errors import InputError
from memsys.core.files import shown
from memsys.core.types import Vectors
from memsys.service.arguments import Owner, now
from memsys.service.results import EventName, MemoryChange, MemoryRecord
from memsys.stores.sqlite import open_shared

_SCHEMA = Path(__file__).with_name("schema.sql").read_text(encoding="utf-8").strip().split(";\n")
# The column of each field of a record; `touch` alone changes the last two.
_IDS = "user_id agent_id run_id".split()
_WORDS = "id title index_text kind time event_time speaker importance metadata created updated"
_SAME = _WORDS.split() + _IDS
_CHANGED = {"memory": "content", "turn_keys": "turns", **{name: name for name in _SAME}}
_FIELDS = {**_CHANGED, "accesses": "accesses", "accessed": "accessed"}
_COLUMNS = ", ".join(f"{column} AS {name}" for name, column in _FIELDS.items())
IN_LIST = "IN (SELECT value FROM json_each(?))"


class MemoryDatabase:
    """The file `memories.sqlite` of a folder. Several processes may write it; within one, callers
    hold the lock of Writer. A change and its entry in the history are one transaction.
    """

    def __init__(self, folder: Path, embedder: str) -> None:
        """Create `folder` (mode 700) if absent. Raises InputError if the file cannot be used, or if
        its vectors are those of another embedder than `embedder`.
        """
        self.path = folder / "memories.sqlite"
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._open: sqlite3.Connection | None = open_shared(self.path, _SCHEMA[0])
            self.connection.row_factory = sqlite3.Row
            self.connection.isolation_level = None  # transactions are begun by `writing`
            with self.writing():
                for statement in _SCHEMA[1:]:
                    self.execute(statement)
                columns = self.execute("PRAGMA table_info(memories)").fetchall()
                if "event_time" not in {row[1] for row in columns}:  # of an earlier version
                    self.execute("ALTER TABLE memories ADD COLUMN event_time TEXT")
                self.execute(f"SELECT {_COLUMNS} FROM memories LIMIT 0")  # noqa: S608
                stored = self.state("embedder", embedder)
        except (OSError, ValueError, sqlite3.DatabaseError) as error:  # ValueError: a NUL
            raise InputError(
                f"{shown(folder)}: not usable as a folder of memories ({error}); name another"
            ) from error
        if stored != embedder:
            self.close()
            raise InputError(
                f"{self.path}: its memories were embedded by {stored}, not {embedder}; set "
                "embedder= to that, or name another folder"
            )

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Open one transaction that locks out other writers from its beginning."""
        self.execute("BEGIN IMMEDIATE")
        with self.connection:
            yield

    def state(self, name: str, first: str) -> str:
        """Return the value under `name`, set to `first` if there is none."""
        self.execute("INSERT OR IGNORE INTO state VALUES (?, ?)", (name, first))
        return str(self.execute("SELECT value FROM state WHERE name=?", (name,)).fetchone()[0])

    def set_state(self, name: str, value: str) -> None:
        """Store `value` under `name`."""
        self.execute("INSERT OR REPLACE INTO state VALUES (?, ?)", (name, value))

    @property
    def last(self) -> int:
        """The number of the last change by any process; 0 before the first."""
        row = self.execute("SELECT seq FROM sqlite_sequence WHERE name='changes'").fetchone()
        return int(row[0]) if row else 0

    def put(self, record: MemoryRecord, vector: Vectors) -> MemoryChange:
        """Insert or replace `record` and its `vector`, shape (d,)."""
        old = self.get(record.id)
        row = {column: _column_value(getattr(record, name)) for name, column in _CHANGED.items()}
        row["shelf"] = record.owner.shelf
        row["vector"] = vector.astype(np.float32).tobytes()
        sets = ", ".join(f"{name}=excluded.{name}" for name in row if name != "id")
        self.execute(
            f"INSERT INTO memories ({', '.join(row)}) "  # noqa: S608
            f"VALUES (:{', :'.join(row)}) ON CONFLICT (id) DO UPDATE SET {sets}",
            row,
        )
        event: EventName = "UPDATE" if old else "ADD"
        return self._log_change(record, event, old.memory if old else None, record.memory)

    def drop(self, record: MemoryRecord) -> MemoryChange:
        """Delete `record`; its history remains."""
        self.execute("DELETE FROM memories WHERE id=?", (record.id,))
        return self._log_change(record, "DELETE", record.memory, None)

    def clear(self) -> None:
        """Delete all memories and their history; the numbers of changes continue."""
        shelves = [row[0] for row in self.execute("SELECT DISTINCT shelf FROM changes")]
        self.set_state("cleared_shelves", as_json(shelves))  # until their vectors are deleted too
        for table in ("memories", "changes"):
            self.execute(f"DELETE FROM {table}")  # noqa: S608
        self.execute("UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'changes'")
        self.set_state("cleared", str(self.last))

    def forget(self, owner: Owner) -> None:
        """Delete all memories of `owner` and the texts of their history; entries without text
        remain, from which other processes learn what is deleted.
        """
        for record in self.owned(owner):
            self.drop(record)
        self._forget_history(*owner_condition(owner))

    def erase(self, id_: str, owner: Owner) -> MemoryChange | None:
        """Delete the memory `id_` of `owner`, the texts of its history, and the summaries from
        which a model writes memories of the owner. Return the change of the memory, None if it was
        deleted before.
        """
        summaries = [row for row in self._records("kind='summary'", []) if owner.shares(row.owner)]
        records = self.of([id_]) | {record.id: record for record in summaries}
        changes = {record.id: self.drop(record) for record in records.values()}
        self._forget_history(f"memory {IN_LIST}", [json.dumps([id_, *records])])
        return changes.get(id_)

    def with_words(self, text: str, owner: Owner) -> list[MemoryRecord]:
        """Return the memories on the shelf of `owner` that lexical search matches with the lines
        `text`, although their own texts do not contain it.
        """
        lines = "instr(char(10) || index_text || char(10), char(10) || ? || char(10)) > 0"
        condition = f"shelf=? AND {lines} AND instr(content, ?) = 0"
        return list(self._records(condition, [owner.shelf, text, text]))

    def get(self, id_: str) -> MemoryRecord | None:
        """Return the record of this id, or None."""
        return self.of([id_]).get(id_)

    def of(self, ids: Sequence[str]) -> dict[str, MemoryRecord]:
        """Return records by id, oldest first, without unknown ids."""
        return {row.id: row for row in self._records(f"id {IN_LIST}", [json.dumps(list(ids))])}

    def owned(
        self, owner: Owner | None, filters: Mapping[str, Any] | None = None
    ) -> list[MemoryRecord]:
        """Return records of `owner` (None: of all) whose metadata match `filters`, oldest first."""
        records = self._records(*owner_condition(owner))
        return [record for record in records if _fits(record.metadata, filters or {})]

    def shelves(self, owner: Owner) -> list[str]:
        """Return the shelves (see Owner.shelf) with memories of `owner`, sorted; a user has one."""
        if owner.user_id is not None:
            return [owner.shelf]
        condition, values = owner_condition(owner)
        query = f"SELECT DISTINCT shelf FROM memories WHERE {condition} ORDER BY shelf"  # noqa: S608
        return [row[0] for row in self.execute(query, values)]

    def vectors(self, after: int = 0) -> Iterator[tuple[str, str, Vectors | None]]:
        """Yield shelf, id and vector (None: deleted) of changes with a number above `after`."""
        query = (
            "SELECT DISTINCT c.shelf, c.memory, m.vector FROM changes c "
            "LEFT JOIN memories m ON m.id = c.memory WHERE c.number > ? ORDER BY c.shelf, m.seq"
        )
        for shelf, id_, blob in self.execute(query, (after,)):
            yield shelf, id_, None if blob is None else np.frombuffer(blob, dtype=np.float32)

    def by_shelf(self) -> dict[str, set[str]]:
        """Return the ids of all memories by shelf (see Owner.shelf)."""
        shelves: dict[str, set[str]] = {}
        for shelf, id_ in self.execute("SELECT shelf, id FROM memories"):
            shelves.setdefault(shelf, set()).add(id_)
        return shelves

    def vectors_of(self, ids: Sequence[str]) -> Vectors:
        """Return the vectors of stored `ids`, at least one, in their order, shape (len(ids), d)."""
        query = "SELECT vector FROM json_each(?) i JOIN memories m ON m.id=i.value ORDER BY i.key"
        vectors = b"".join(blob for (blob,) in self.execute(query, (json.dumps(list(ids)),)))
        return np.frombuffer(vectors, dtype=np.float32).reshape(len(ids), -1)

    def history(self, id_: str) -> list[MemoryChange]:
        """Return every change of this id, oldest first."""
        rows = self.execute(
            "SELECT user_id, agent_id, run_id, number, memory AS id, event, old, new, time "
            "FROM changes WHERE memory=? AND coalesce(old, new) IS NOT NULL ORDER BY number",
            (id_,),
        )
        return [MemoryChange(**row) for row in rows]

    def turn_keys(self, id_: str) -> tuple[str, ...]:
        """Return the keys of the messages of a memory, also of a deleted one with a history; ()
        if they are unknown.
        """
        query = (
            "SELECT turns FROM memories WHERE id=? "
            "UNION ALL SELECT turns FROM changes WHERE memory=? AND turns IS NOT NULL"
        )
        row = self.execute(query, (id_, id_)).fetchone()
        return tuple(json.loads(row[0])) if row else ()

    def touch(self, ids: Sequence[str], time: datetime) -> None:
        """Count one access of each memory."""
        self.connection.executemany(
            "UPDATE memories SET accesses = accesses + 1, accessed = ? WHERE id = ?",
            [(time.isoformat(), id_) for id_ in ids],
        )

    def accesses(self, ids: Sequence[str]) -> dict[str, tuple[int, datetime | None]]:
        """Return, by id, how often a memory was accessed and when last."""
        query = f"SELECT id, accesses, accessed FROM memories WHERE id {IN_LIST}"  # noqa: S608
        rows = self.execute(query, (json.dumps(list(ids)),))
        return {id_: (count, time and datetime.fromisoformat(time)) for id_, count, time in rows}

    def close(self) -> None:
        """Close the file; closing it again does nothing."""
        if self._open is not None:
            self._open.close()
        self._open = None

    def execute(self, query: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> sqlite3.Cursor:
        """Run one statement, also on a table of others. Raises InputError after close()."""
        return self.connection.execute(query, values)

    @property
    def connection(self) -> sqlite3.Connection:
        """The open connection; raises InputError after close()."""
        if self._open is None:
            raise InputError(f"{self.path}: this memory is closed; open it again with Memory(...)")
        return self._open

    def _records(self, condition: str, values: Sequence[str]) -> Iterator[MemoryRecord]:
        query = f"SELECT {_COLUMNS} FROM memories WHERE {condition} ORDER BY seq"  # noqa: S608
        for row in self.execute(query, values):
            fields = dict(zip(_FIELDS, row, strict=True))  # faster than by the names of a Row
            fields |= {name: json.loads(fields[name]) for name in ("metadata", "turn_keys")}
            yield MemoryRecord(**fields)

    def _forget_history(self, condition: str, values: Sequence[str]) -> None:
        """Delete the texts of the changes that meet `condition`, and all but the last of each."""
        latest = f"SELECT max(number) FROM changes WHERE {condition} GROUP BY memory"  # noqa: S608
        earlier = f"DELETE FROM changes WHERE {condition} AND number NOT IN ({latest})"  # noqa: S608
        self.execute(earlier, [*values, *values])
        texts = f"UPDATE changes SET old=NULL, new=NULL, turns=NULL WHERE {condition}"  # noqa: S608
        self.execute(texts, values)

    def _log_change(
        self, record: MemoryRecord, event: EventName, old: str | None, new: str | None
    ) -> MemoryChange:
        time, owner = now(), record.owner
        turns = as_json(record.turn_keys) if event == "DELETE" else None  # unknown afterwards
        values = (event, old, new, time.isoformat(), *astuple(owner), turns)
        number = self.execute(
            "INSERT INTO changes (memory, shelf, event, old, new, time, user_id, agent_id, run_id, "
            "turns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (record.id, owner.shelf, *values),
        ).lastrowid
        change: dict[str, Any] = {"id": record.id, "number": number, "time": time}
        return MemoryChange(event=event, old=old, new=new, **change, **asdict(owner))


def as_json(value: Any) -> str:
    """Return `value` as JSON. Raises ValueError on NaN and infinity."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _column_value(value: Any) -> Any:
    """Return a field of a record as a value of its column."""
    if isinstance(value, datetime):
        return value.isoformat()
    return value if isinstance(value, str | float | int | None) else as_json(value)


def owner_condition(owner: Owner | None) -> tuple[str, list[str]]:
    """Return the SQL condition for memories of `owner` (None: of all), and its values. Raises
    InputError like Owner.check.
    """
    if owner is None:
        return "1", []
    named = owner.check().named
    return " AND ".join(f"{name}=?" for name in named), list(named.values())


def _fits(metadata: Mapping[str, Any], filters: Mapping[str, Any]) -> bool:
    """Return whether `metadata` has the values of `filters`; as in JSON, true is not 1."""
    return all(
        name in metadata
        and metadata[name] == value
        and isinstance(metadata[name], bool) == isinstance(value, bool)
        for name, value in filters.items()
    )
