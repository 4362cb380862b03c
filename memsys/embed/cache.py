"""Vectors on disk, keyed by model and content: what was embedded once is never embedded again."""

from __future__ import annotations

import hashlib
import re
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import numpy as np

from memsys.embed.base import Embedder, Vectors
from memsys.errors import InputError
from memsys.meter import Call, Meter, total_usage
from memsys.types import Usage

Kind = Literal["document", "query"]
_BATCH = 64  # rows a transaction: what a kill can lose
_PATIENCE_S = 60  # how long to wait while another process holds the file
# tokens: as a server reported them, a text's share of its batch; null where no server was asked.
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS vectors (key TEXT PRIMARY KEY, vector BLOB, ms REAL, tokens REAL)"
)


class CachedEmbedder:
    """An embedder behind a SQLite file of its own (write-ahead log: safe for several processes).

    A query is embedded alone, and its live latency and tokens are stored beside its vector, so that
    a replayed query reports what it took when it was live. Documents share their batch's evenly.
    """

    def __init__(self, embedder: Embedder, folder: str | Path, meter: Meter) -> None:
        """`folder` is made if absent. Raises InputError if the file there is not a cache, here or
        at the first look-up that meets the damage.
        """
        self._embedder = embedder
        self._meter = meter
        self._warm = False
        self._path = Path(folder) / f"{_file_name(embedder.name)}.sqlite"
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cache={folder}: not a folder ({error}); name another") from error
        with self._blamed():
            self._db = _open(self._path)

    @property
    def name(self) -> str:
        """The embedder's own name."""
        return self._embedder.name

    @property
    def typical_similarity(self) -> float:
        """See Embedder."""
        return self._embedder.typical_similarity

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of shape (len(texts), d), embedded in batches where not yet known."""
        parts = [self._batch(texts[i : i + _BATCH]) for i in range(0, len(texts), _BATCH)]
        return np.concatenate(parts)

    def query(self, text: str) -> Vectors:
        """The unit vector of one query, shape (d,)."""
        return np.asarray(self._look_up("query", [text])[0])

    def _batch(self, texts: Sequence[str]) -> Vectors:
        return self._look_up("document", texts)

    def _look_up(self, kind: Kind, texts: Sequence[str]) -> Vectors:
        started = time.perf_counter()
        keys = [hashlib.sha256(f"{kind}\0{text}".encode()).hexdigest() for text in texts]
        marks = ",".join("?" * len(keys))
        select = f"SELECT * FROM vectors WHERE key IN ({marks})"  # noqa: S608 - only question marks
        with self._blamed():
            rows = self._db.execute(select, keys).fetchall()
        known = {key: np.frombuffer(blob, dtype=np.float32) for key, blob, *_ in rows}
        live_ms = sum(ms for *_, ms, _ in rows)  # a text that stands twice counts once
        usages = [_usage([tokens for *_, tokens in rows])]
        missing = {k: t for k, t in zip(keys, texts, strict=True) if k not in known}
        if missing:
            fresh_ms, usage, fresh = self._embed(missing)
            live_ms += fresh_ms
            usages.append(usage)
            known.update(fresh)
        spent_ms = (time.perf_counter() - started) * 1000
        self._meter.note(Call(spent_ms, live_ms, bool(rows), total_usage(iter(usages))))
        return np.stack([known[key] for key in keys])

    def _embed(self, missing: dict[str, str]) -> tuple[float, Usage, dict[str, Vectors]]:
        if not self._warm:
            self._embedder.embed(["warm up"])  # loads the model outside the clock
            self._warm = True
        started = time.perf_counter()
        vectors, usage = self._embedder.embed(list(missing.values()))
        live_ms = (time.perf_counter() - started) * 1000
        each_ms = live_ms / len(missing)
        tokens = usage.input_tokens / len(missing) if usage.calls else None
        fresh = dict(zip(missing, vectors, strict=True))
        with self._blamed(), self._db:
            self._db.executemany(
                "INSERT OR IGNORE INTO vectors VALUES (?, ?, ?, ?)",
                [(key, vector.tobytes(), each_ms, tokens) for key, vector in fresh.items()],
            )
        return live_ms, usage, fresh

    @contextmanager
    def _blamed(self) -> Iterator[None]:
        """Name the file where SQLite cannot use it."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise InputError(
                f"{self._path}: not usable as a vector cache ({error}); "
                "delete it, or set cache= to another folder"
            ) from error


def _usage(tokens: Sequence[float | None]) -> Usage:
    """Of replayed texts, as if they had been asked for at once."""
    counted = [one for one in tokens if one is not None]
    return Usage(calls=1, input_tokens=round(sum(counted))) if counted else Usage()


def _file_name(name: str) -> str:
    """`name` where it can name a file, else its safe signs and a digest: no two names share."""
    safe = re.sub(r"[^\w.-]+", "_", name)
    return safe if safe == name else f"{safe}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _open(path: Path) -> sqlite3.Connection:
    """A connection to the cache at `path`, made if absent. Raises sqlite3.DatabaseError."""
    db = sqlite3.connect(path, timeout=_PATIENCE_S)
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
    db.execute(_SCHEMA)
    columns = [row[1] for row in db.execute("PRAGMA table_info(vectors)")]
    if columns == ["key", "vector", "ms"]:  # made before tokens were kept
        db.execute("ALTER TABLE vectors ADD COLUMN tokens REAL")
    return db
