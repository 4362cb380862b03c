"""Recorded answers on disk: no request is sent twice."""

from __future__ import annotations

import fcntl
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from memsys.errors import InputError
from memsys.stores.sqlite import cache_errors, open_shared

Mode = Literal["auto", "off", "replay"]
CALLS = "calls.sqlite"
_SCHEMA = """CREATE TABLE IF NOT EXISTS calls (
    key TEXT PRIMARY KEY, path TEXT NOT NULL, model TEXT NOT NULL, status INTEGER NOT NULL,
    body TEXT NOT NULL, latency_ms REAL NOT NULL, input_tokens INTEGER, output_tokens INTEGER,
    created TEXT NOT NULL)"""
_POLL_S = 0.01
_BATCH = 500  # keys per look-up; SQLite takes at least 999


class RecordedAnswer(NamedTuple):
    """One recorded answer. `body` is the server's JSON; tokens are None if it reported none.

    The request is not stored: its key is enough to find the answer. A failure has the same form:
    `status` is the server's (not 2xx), or 0 without a complete answer, and `body` is
    {"error": {"message": ...}}.
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
        """Whether it is an answer and not a failure."""
        return 200 <= self.status < 300


class Recording:
    """The answers in `path`, `<folder>/calls.sqlite` (write-ahead log: safe for several processes).

    Modes: `auto` replays recorded answers and records new ones, `off` does neither, `replay`
    replays and never asks a server.
    """

    def __init__(self, folder: str | Path, mode: Mode = "auto") -> None:
        """`folder` is created if absent; in mode `off` nothing is opened. Raises InputError if the
        file cannot be used.
        """
        if mode not in get_args(Mode):
            raise InputError(f"llm.cache={mode}: give one of {', '.join(get_args(Mode))}")
        self.mode = mode
        self.path = Path(folder) / CALLS
        self._guard = threading.Lock()
        self._waiting: dict[str, tuple[threading.Lock, int]] = {}
        if mode == "off":
            return
        with self._errors():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # Never closed: closing releases every lock of this process on the file.
            self._claims = self.path.with_suffix(".lock").open("w")
            self._db = open_shared(self.path, _SCHEMA)

    def find(self, key: str) -> RecordedAnswer | None:
        """Return the answer recorded under `key`, or None; always None in mode `off`."""
        if self.mode == "off":
            return None
        return next(iter(self.find_all([key])), None)

    def find_all(self, keys: Sequence[str]) -> list[RecordedAnswer]:
        """Return the answers recorded under `keys`, each once, by key; unknown keys are skipped."""
        rows: list[RecordedAnswer] = []
        for start in range(0, len(keys), _BATCH):
            part = keys[start : start + _BATCH]
            marks = ",".join("?" * len(part))
            select = f"SELECT * FROM calls WHERE key IN ({marks})"  # noqa: S608
            with self._errors(), self._guard:
                rows.extend(map(RecordedAnswer._make, self._db.execute(select, part)))
        return sorted(set(rows))

    def keep(self, answers: Iterable[RecordedAnswer]) -> int:
        """Record all of `answers` or, on an error, none; return how many were new. The first answer
        of a key wins: one already recorded stays. Raises InputError if the file cannot be written.
        """
        insert = "INSERT OR IGNORE INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
        with self._errors(), self._guard, self._db:
            return self._db.executemany(insert, answers).rowcount

    def keep_failed(self, row: RecordedAnswer) -> RecordedAnswer:
        """Record the last failure of a request; return the row that is recorded now. Of several
        unusable answers the first stays; a failure without an answer replaces any row and is
        replaced by any. Raises InputError if the file cannot be written.
        """
        first = self.find(row.key)
        if first is not None and first.answered and row.answered:
            return first
        with self._errors(), self._guard, self._db:
            self._db.execute("INSERT OR REPLACE INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        return row

    def totals(self) -> list[tuple[str, str, int, int, int, str, str]]:
        """Return per path and model: number of answers, input and output tokens, first and last
        date. Failures do not count.
        """
        select = """SELECT path, model, count(*), total(input_tokens), total(output_tokens),
            min(created), max(created) FROM calls
            WHERE status BETWEEN 200 AND 299 GROUP BY path, model ORDER BY path, model"""
        with self._errors(), self._guard:
            rows = self._db.execute(select).fetchall()
        return [(path, model, n, int(i), int(o), a, b) for path, model, n, i, o, a, b in rows]

    @contextmanager
    def claim(self, key: str) -> Iterator[None]:
        """Claim `key` for this thread, among all threads and processes that share the file. Of
        equal requests at the same time, one goes to the server; the others find its answer.
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
        """Lock a byte of the lock file; the system frees it if this process dies."""
        while True:
            # Never wait inside the system call: it takes two processes whose threads wait for each
            # other for a deadlock, although every thread has only one claim.
            try:
                fcntl.lockf(self._claims, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
                break
            except (BlockingIOError, PermissionError):  # which of them depends on the system
                time.sleep(_POLL_S)
        try:
            yield
        finally:
            fcntl.lockf(self._claims, fcntl.LOCK_UN, 1, place)

    def _errors(self) -> AbstractContextManager[None]:
        return cache_errors(self.path, "a record of calls")
