"""The database schema, and the conversion of rows to records."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from memsys.service.records import MemoryRecord, Owner

COLUMNS = (
    "id, content, user_id, agent_id, run_id, metadata, kind, time, speaker, turns, importance, "
    "created, updated, accesses, accessed, index_text"
)
TABLES = (
    """CREATE TABLE IF NOT EXISTS memories (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, shelf TEXT NOT NULL,
    user_id TEXT, agent_id TEXT, run_id TEXT, content TEXT NOT NULL, index_text TEXT NOT NULL,
    kind TEXT NOT NULL, time TEXT NOT NULL, speaker TEXT NOT NULL, turns TEXT NOT NULL,
    importance REAL NOT NULL, metadata TEXT NOT NULL, vector BLOB NOT NULL, created TEXT NOT NULL,
    updated TEXT NOT NULL, accesses INTEGER NOT NULL DEFAULT 0, accessed TEXT)""",
    # AUTOINCREMENT: numbers are never reused, so each process knows which changes it has applied.
    """CREATE TABLE IF NOT EXISTS changes (
    number INTEGER PRIMARY KEY AUTOINCREMENT, memory TEXT NOT NULL, shelf TEXT NOT NULL,
    event TEXT NOT NULL, old TEXT, new TEXT, time TEXT NOT NULL,
    user_id TEXT, agent_id TEXT, run_id TEXT)""",
    "CREATE TABLE IF NOT EXISTS state (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS dialogues (owner TEXT PRIMARY KEY, said TEXT, summary TEXT)",
    "CREATE INDEX IF NOT EXISTS by_user ON memories (user_id)",
    "CREATE INDEX IF NOT EXISTS by_agent ON memories (agent_id)",
    "CREATE INDEX IF NOT EXISTS by_run ON memories (run_id)",
    "CREATE INDEX IF NOT EXISTS by_memory ON changes (memory)",
)


def now() -> datetime:
    """Return the wall-clock time, naive UTC."""
    return datetime.now(UTC).replace(tzinfo=None)


def as_text(value: Any) -> str:
    """Return `value` as JSON. Raises ValueError on NaN and infinity."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def where(owner: Owner) -> tuple[str, list[str]]:
    """Return the SQL condition for memories of `owner`, and its values. Raises InputError."""
    named = owner.check().named
    return " AND ".join(f"{name}=?" for name in named), list(named.values())


def fits(metadata: Mapping[str, Any], filters: Mapping[str, Any]) -> bool:
    """Return whether `metadata` has the values of `filters`; as in JSON, true is not 1."""
    return all(
        name in metadata
        and metadata[name] == value
        and isinstance(metadata[name], bool) == isinstance(value, bool)
        for name, value in filters.items()
    )


def record_of(row: Sequence[Any]) -> MemoryRecord:
    """Return the record of a row of COLUMNS."""
    return MemoryRecord(
        id=row[0],
        memory=row[1],
        owner=Owner(*row[2:5]),
        metadata=json.loads(row[5]),
        kind=row[6],
        time=datetime.fromisoformat(row[7]),
        speaker=row[8],
        turns=tuple(json.loads(row[9])),
        importance=row[10],
        created=datetime.fromisoformat(row[11]),
        updated=datetime.fromisoformat(row[12]),
        accesses=row[13],
        accessed=None if row[14] is None else datetime.fromisoformat(row[14]),
        index_text=row[15],
    )
