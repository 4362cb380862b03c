"""Recorded answers on disk: no request is sent twice."""

import hashlib
import json
import threading
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_args

from pydantic import Field, TypeAdapter, ValidationError

from memsys.core.addresses import json_without_secrets
from memsys.core.errors import InputError, check_choice, first_problem
from memsys.core.json_text import parse_json
from memsys.stores.sqlite import SlotLocks, cache_errors, open_shared

Mode = Literal["auto", "record", "off", "replay"]
CALLS = "calls.sqlite"
_SCHEMA = """CREATE TABLE IF NOT EXISTS calls (
    key TEXT PRIMARY KEY, path TEXT NOT NULL, model TEXT NOT NULL, status INTEGER NOT NULL,
    body TEXT NOT NULL, latency_ms REAL NOT NULL, input_tokens INTEGER, output_tokens INTEGER,
    created TEXT NOT NULL)"""
_REQUESTS = "CREATE TABLE IF NOT EXISTS requests (key TEXT PRIMARY KEY, body BLOB NOT NULL)"
_COLUMNS = "key, path, model, status, body, latency_ms, input_tokens, output_tokens, created"
_SELECT = f"SELECT {_COLUMNS} FROM calls WHERE key"  # noqa: S608
_SELECT_REQUEST = "SELECT key, body FROM requests WHERE key"
_WRITE = f"INTO calls ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_WRITE_REQUEST = "OR IGNORE INTO requests (key, body) VALUES (?, ?)"
_CANONICAL = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"))
_MOST_BYTES = 2**28  # of a request, unpacked
_POLL_S = 0.01
_SHARED = 3  # hex digits of a key that name its slot, of 4,096


class RecordedAnswer(NamedTuple):
    """One recorded answer. `body` is the server's JSON; tokens are None if it reported none.

    The request is stored beside it (see Recording.requests); its key is enough to find the answer.
    A failure has the same form: `status` is the server's (not 2xx), or 0 without a complete answer,
    and `body` is {"error": {"message": ...}}.
    """

    key: str
    path: str
    model: str
    status: Annotated[int, Field(ge=0, le=999)]
    body: str
    latency_ms: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    input_tokens: Annotated[int, Field(ge=0)] | None
    output_tokens: Annotated[int, Field(ge=0)] | None
    created: str

    @property
    def answered(self) -> bool:
        """Whether it is an answer and not a failure."""
        return 200 <= self.status < 300


_ROW = TypeAdapter(RecordedAnswer).validator


class Recording:
    """The answers in `path`, `<folder>/calls.sqlite` (write-ahead log: safe for several processes).

    Modes: `auto` replays recorded answers and records new ones, `record` asks for every answer, of
    which the first of a request counts and is recorded, so that latencies are live and a replay
    gives the same answers; `off` neither records nor replays, `replay` never asks a server.
    """

    def __init__(self, folder: str | Path, mode: Mode = "auto") -> None:
        """`folder` is created if absent; in mode `off` nothing is opened. Raises InputError if the
        file cannot be used.
        """
        check_choice("llm.cache", mode, get_args(Mode))
        self.mode = mode
        self.path = Path(folder) / CALLS
        self._guard = threading.Lock()
        if mode == "off":
            return
        with self._errors():
            self._db = open_shared(self.path, _SCHEMA, _REQUESTS, owner=self)
            self._claims = SlotLocks(self.path.with_suffix(".locks"))

    def find(self, key: str) -> RecordedAnswer | None:
        """Return the answer recorded under `key`, or None; always None in mode `off`. Raises
        InputError if the row is damaged.
        """
        if self.mode == "off":
            return None
        with self._errors(), self._guard:
            row = self._db.execute(f"{_SELECT} = ?", (key,)).fetchone()
        return None if row is None else self._checked(row)

    def to_replay(self, key: str) -> RecordedAnswer | None:
        """Return the answer that replaces a request, or None if a server is to be asked."""
        return None if self.mode == "record" else self.find(key)

    def find_all(self, keys: Sequence[str]) -> list[RecordedAnswer]:
        """Return the answers recorded under `keys`, each once, by key; unknown keys are skipped."""
        return sorted({self._checked(row) for row in self._rows(_SELECT, keys)})

    def all(self) -> list[RecordedAnswer]:
        """Return all recorded answers and failures, by key."""
        with self._errors(), self._guard:
            keys = [key for (key,) in self._db.execute("SELECT key FROM calls")]
        return self.find_all(keys)

    def requests(self, keys: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Return the known bodies of the requests whose answers or failures are recorded under
        `keys`, by key; those of calls that an earlier version recorded are unknown. Raises
        InputError if one is damaged.
        """
        rows = [] if self.mode == "off" else self._rows(_SELECT_REQUEST, keys)
        return {key: self._unpacked(key, data) for key, data in rows}

    def keep(
        self,
        answers: Iterable[RecordedAnswer],
        requests: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> int:
        """Record all of `answers` or, on an error, none; return how many were new. The first answer
        of a key wins: one already recorded stays. `requests`: the bodies of their requests by key.
        Raises InputError if the file cannot be written.
        """
        packed = [(key, _packed(body)) for key, body in (requests or {}).items()]
        with self._errors(), self._guard, self._db:
            self._db.executemany(f"INSERT {_WRITE_REQUEST}", packed)
            return self._db.executemany(f"INSERT OR IGNORE {_WRITE}", answers).rowcount

    def keep_first(self, row: RecordedAnswer, request: Mapping[str, Any]) -> RecordedAnswer:
        """Record the answer to `request` unless one is recorded; return the recorded one, or `row`
        in mode `off`. Raises InputError if the file cannot be written.
        """
        if self.mode == "off" or self.keep([row], {row.key: request}):
            return row
        return self.find(row.key) or row

    def keep_failed(self, row: RecordedAnswer, request: Mapping[str, Any]) -> RecordedAnswer:
        """Record the last failure of a request; return the row that is recorded now, or `row` in
        mode `off`. Of several unusable answers the first stays; a failure without an answer
        replaces any row and is replaced by any. Raises InputError if the file cannot be written.
        """
        first = self.find(row.key)
        if first is not None and first.answered and row.answered:
            return first
        if self.mode != "off":
            with self._errors(), self._guard, self._db:
                self._db.execute(f"INSERT OR REPLACE {_WRITE}", row)
                self._db.execute(f"INSERT {_WRITE_REQUEST}", (row.key, _packed(request)))
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
        # The system frees the lock if this process dies. It is polled, never waited for inside a
        # system call: two processes whose threads wait for each other would be a deadlock, although
        # every thread has only one claim.
        slot = key[:_SHARED]  # keys that begin alike wait for each other
        with self._errors():
            while not self._claims.take(slot):
                time.sleep(_POLL_S)
        try:
            yield
        finally:
            self._claims.release(slot)

    def damaged(self, key: str, fault: str) -> InputError:
        """Return the error for a row that this program did not write."""
        return InputError(
            f"{self.path}: the recorded call {str(key)[:12]} is damaged ({fault[:100]}); delete "
            "the file, or set cache= to another folder"
        )

    def _rows(self, select: str, keys: Sequence[str]) -> list[Any]:
        """Return the rows of `select`, which ends with `key`, under `keys`."""
        listed = f"{select} IN (SELECT value FROM json_each(?))"  # noqa: S608
        with self._errors(), self._guard:
            return self._db.execute(listed, (json.dumps(list(keys)),)).fetchall()

    def _checked(self, row: Sequence[Any]) -> RecordedAnswer:
        """Return `row`, typed: SQLite stores any value in any column."""
        try:
            answer: RecordedAnswer = _ROW.validate_python(row, strict=True)
        except ValidationError as error:
            raise self.damaged(row[0], first_problem(error)) from None
        return answer

    def _unpacked(self, key: str, data: object) -> dict[str, Any]:
        try:
            decoder = zlib.decompressobj()
            text = decoder.decompress(data, _MOST_BYTES) if isinstance(data, bytes) else b""
            body = parse_json(text)
        except (ValueError, zlib.error) as error:
            raise self.damaged(key, f"its request: {error}") from None
        if not isinstance(body, dict):
            raise self.damaged(key, "its request is no object")
        return body

    def _errors(self) -> AbstractContextManager[None]:
        return cache_errors(self.path, "a record of calls")


def _packed(request: Mapping[str, Any]) -> bytes:
    """Return the canonical JSON of a request, compressed and without secrets."""
    text = _CANONICAL.encode(json_without_secrets(request))
    return zlib.compress(text.encode("utf-8", "backslashreplace"))


def key_of(method: str, path: str, body: Mapping[str, Any], sample: int) -> str:
    """Return the sha256, in hex, of method, path, canonical JSON of the body, and sample number.

    The server's address is not part of it, so that a recording replays anywhere; nor are headers,
    so that it contains no secret. Two servers that give one name to two models therefore
    need different names or different cache folders.
    """
    canonical = _CANONICAL.encode([method, path, body, sample])
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def rejected_key(key: str) -> str:
    """Return the key under which the last failure of the request `key` is recorded. A failure is an
    answer that failed its check, or no answer after all retries. A replayed run fails in the same
    way; a live call never reads it.
    """
    return hashlib.sha256(f"{key} rejected".encode()).hexdigest()
