"""SQLite files of the stores that keep their own: each write is on disk when it returns."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from memsys.errors import InputError
from memsys.stores.sqlite import open_shared


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
