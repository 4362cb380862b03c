"""SQLite files that several processes write at once."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

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
