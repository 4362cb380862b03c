"""SQLite files: shared by several processes, and those of the stores."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

from memsys.errors import InputError

_PATIENCE_S = 60  # how long to wait while another process holds the file


def open_shared(path: Path, schema: str) -> sqlite3.Connection:
    """A connection to the file at `path`, made if absent, with a write-ahead log.

    It may be used by several threads, one at a time. Raises sqlite3.DatabaseError.
    """
    db = sqlite3.connect(path, timeout=_PATIENCE_S, check_same_thread=False)
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        # Of processes that open a new file at once, SQLite refuses this switch to all but one,
        # whatever their time-out says.
        try:
            db.execute("PRAGMA journal_mode=WAL")
            break
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.05)
    db.execute("PRAGMA synchronous=NORMAL")
    db.execute(schema)
    return db


def open_store(path: str, tables: tuple[str, ...], store: str) -> sqlite3.Connection:
    """The file at `path`, made with its folder and `tables` (SQL) if absent.

    Raises InputError, naming the setting `store`, where it cannot be opened.
    """
    file = Path(path).expanduser()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        db = open_shared(file, tables[0])
        # A commit waits for the disk: what was told outlives a power cut too, not only a kill.
        db.execute("PRAGMA synchronous=FULL")
        for table in tables[1:]:
            db.execute(table)
    except (OSError, sqlite3.Error) as error:
        raise InputError(
            f"{store}.path={path}: {error}; name a file that this program may write"
        ) from error
    return db
