"""Answers on disk: what a server answered once is never asked of it again."""

from __future__ import annotations

import fcntl
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from memsys.errors import InputError
from memsys.stores.sqlite import open_shared

Mode = Literal["auto", "off", "replay"]
CALLS = "calls.sqlite"
_SCHEMA = """CREATE TABLE IF NOT EXISTS calls (
    key TEXT PRIMARY KEY, path TEXT NOT NULL, model TEXT NOT NULL, status INTEGER NOT NULL,
    body TEXT NOT NULL, latency_ms REAL NOT NULL, input_tokens INTEGER, output_tokens INTEGER,
    created TEXT NOT NULL)"""
_POLL_S = 0.01
_BATCH = 500  # keys a look-up; SQLite takes at least 999


class Recorded(NamedTuple):
    """One recorded answer. `body` is the server's JSON; tokens are None where it told none.

    The request is not kept: its key is enough to find the answer. A failure is kept in the same
    form: `status` is not 2xx but the server's, or 0 where nothing whole came, and `body` is
    {"error": {"message": ...}} with the words of the error.
    """

    key: str
    path: str
    model: str
    status: int
    body: str
    latency_ms: float
    input_tokens: int | None
    output_tokens: int | None
    created: str

    @property
    def answered(self) -> bool:
        """Whether the server answered; else it is a failure."""
        return 200 <= self.status < 300


class Recording:
    """The answers in `<folder>/calls.sqlite` (write-ahead log: safe for several processes).

    Modes: `auto` replays what is known and records the rest, `off` does neither, `replay` replays
    and never asks a server.
    """

    def __init__(self, folder: str | Path, mode: Mode = "auto") -> None:
        """`folder` is made if absent; in mode `off` nothing is opened. Raises InputError."""
        if mode not in get_args(Mode):
            raise InputError(f"llm.cache={mode}: give one of {', '.join(get_args(Mode))}")
        self.mode = mode
        self._path = Path(folder) / CALLS
        self._guard = threading.Lock()
        self._waiting: dict[str, tuple[threading.Lock, int]] = {}
        if mode == "off":
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # Never closed: closing gives up every lock that this process holds on the file.
            self._claims = self._path.with_suffix(".lock").open("w")
        except OSError as error:
            raise InputError(f"cache={folder}: not a usable folder ({error}); name another") from (
                error
            )
        with self._blamed():
            self._db = open_shared(self._path, _SCHEMA)

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    def find(self, key: str) -> Recorded | None:
        """The answer kept under `key`; None in mode `off`."""
        if self.mode == "off":
            return None
        return next(iter(self.find_all([key])), None)

    def find_all(self, keys: Sequence[str]) -> list[Recorded]:
        """The answers kept under `keys`, each once, in order of key; unknown ones are left out."""
        rows: list[Recorded] = []
        for start in range(0, len(keys), _BATCH):
            part = keys[start : start + _BATCH]
            marks = ",".join("?" * len(part))
            select = f"SELECT * FROM calls WHERE key IN ({marks})"  # noqa: S608
            with self._blamed(), self._guard:
                rows.extend(map(Recorded._make, self._db.execute(select, part)))
        return sorted(set(rows))

    def keep(self, answers: Iterable[Recorded]) -> int:
        """Keep all of `answers` or, on a failure, none; returns how many were new.

        Who comes first wins: an answer that is known already stays as it is. Raises InputError.
        """
        insert = "INSERT OR IGNORE INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
        with self._blamed(), self._guard, self._db:
            return self._db.executemany(insert, answers).rowcount

    def keep_failed(self, row: Recorded) -> Recorded:
        """Keep how a request failed last, and return what is kept now: of unusable answers who
        comes first stays, as ever, but a failure takes the place of anything and gives way to
        anything. Raises InputError.
        """
        first = self.find(row.key)
        if first is not None and first.answered and row.answered:
            return first
        with self._blamed(), self._guard, self._db:
            self._db.execute("INSERT OR REPLACE INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        return row

    def totals(self) -> list[tuple[str, str, int, int, int, str, str]]:
        """By path and model: answers, input and output tokens, dates of the first and the last.
        Failures are none.
        """
        select = """SELECT path, model, count(*), total(input_tokens), total(output_tokens),
            min(created), max(created) FROM calls
            WHERE status BETWEEN 200 AND 299 GROUP BY path, model ORDER BY path, model"""
        with self._blamed(), self._guard:
            rows = self._db.execute(select).fetchall()
        return [(path, model, n, int(i), int(o), a, b) for path, model, n, i, o, a, b in rows]

    @contextmanager
    def claim(self, key: str) -> Iterator[None]:
        """Hold `key` for this thread, among all threads and processes that share the file: of equal
        requests at once, one goes to the server and the others find its answer.
        """
        if self.mode == "off":
            yield
            return
        with self._guard:
            lock, users = self._waiting.get(key, (threading.Lock(), 0))
            self._waiting[key] = lock, users + 1
        try:
            with lock, self._claimed(int(key[:12], 16)):
                yield
        finally:
            with self._guard:
                lock, users = self._waiting.pop(key)
                if users > 1:
                    self._waiting[key] = lock, users - 1

    @contextmanager
    def _claimed(self, place: int) -> Iterator[None]:
        """Hold a byte of the lock file; the system frees it if this process dies."""
        while True:
            # Never a wait inside the system: it takes two processes whose threads wait for one
            # another for a deadlock, though every thread holds one claim alone.
            try:
                fcntl.lockf(self._claims, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
                break
            except (BlockingIOError, PermissionError):  # which of them depends on the system
                time.sleep(_POLL_S)
        try:
            yield
        finally:
            fcntl.lockf(self._claims, fcntl.LOCK_UN, 1, place)

    @contextmanager
    def _blamed(self) -> Iterator[None]:
        """Name the file where SQLite cannot use it."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise InputError(
                f"{self._path}: not usable as a record of calls ({error}); "
                "delete it, or set cache= to another folder"
            ) from error
