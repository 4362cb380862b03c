"""Vectors on disk, keyed by model and content: what was embedded once is never embedded again."""

from __future__ import annotations

import hashlib
import re
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from memsys.embed.base import Embedder, Kind
from memsys.errors import InputError
from memsys.llm.meter import Call, Meter
from memsys.stores.sqlite import open_shared
from memsys.types import Usage, Vectors

_BATCH = 64  # rows a transaction: what a kill can lose
_SCHEMA = "CREATE TABLE IF NOT EXISTS vectors (key TEXT PRIMARY KEY, vector BLOB, ms REAL)"


class CachedEmbedder:
    """An embedder behind a SQLite file of its own (write-ahead log: safe for several processes).

    An embedder that records its calls itself (`records_calls`) is asked every time, and replays.

    A query is embedded alone and its live latency is stored beside its vector, so that a replayed
    query reports what it took when it was live. Documents share their batch's time evenly.
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
            self._db = open_shared(self._path, _SCHEMA)

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

    def _recorded(self, kind: Kind, texts: Sequence[str]) -> Vectors:
        """By an embedder that replays: a batch is always whole, so that it is found again."""
        try:
            vectors, _ = self._embedder.embed(self._marked(kind, texts))
        finally:  # what failed is replayed as well
            if (call := self._embedder.last_call()) is not None:
                self._meter.note(call)
        return vectors

    def _look_up(self, kind: Kind, texts: Sequence[str]) -> Vectors:
        if self._embedder.records_calls:
            return self._recorded(kind, texts)
        started = time.perf_counter()
        keys = [hashlib.sha256(f"{kind}\0{text}".encode()).hexdigest() for text in texts]
        marks = ",".join("?" * len(keys))
        select = f"SELECT key, vector, ms FROM vectors WHERE key IN ({marks})"  # noqa: S608
        with self._blamed():
            rows = self._db.execute(select, keys).fetchall()
        known = {key: (np.frombuffer(blob, dtype=np.float32), ms) for key, blob, ms in rows}
        replayed_ms = sum(ms for _, ms in known.values())  # a text that stands twice counts once
        replayed = bool(known)
        missing = {k: t for k, t in zip(keys, texts, strict=True) if k not in known}
        live_ms, usage = 0.0, Usage()
        if missing:
            live_ms, usage, fresh = self._embed(kind, missing)
            known.update(fresh)
        spent_ms = (time.perf_counter() - started) * 1000
        self._meter.note(Call(spent_ms, live_ms + replayed_ms, replayed, usage))
        return np.stack([known[key][0] for key in keys])

    def _embed(
        self, kind: Kind, missing: dict[str, str]
    ) -> tuple[float, Usage, dict[str, tuple[Vectors, float]]]:
        if not self._warm:
            self._embedder.embed(["warm up"])  # loads the model outside the clock
            self._warm = True
        texts = self._marked(kind, list(missing.values()))
        started = time.perf_counter()
        vectors, usage = self._embedder.embed(texts)
        live_ms = (time.perf_counter() - started) * 1000
        each = live_ms / len(missing)
        fresh = {key: (vector, each) for key, vector in zip(missing, vectors, strict=True)}
        with self._blamed(), self._db:
            self._db.executemany(
                "INSERT OR IGNORE INTO vectors (key, vector, ms) VALUES (?, ?, ?)",
                [(key, vector.tobytes(), ms) for key, (vector, ms) in fresh.items()],
            )
        return live_ms, usage, fresh

    def _marked(self, kind: Kind, texts: Sequence[str]) -> list[str]:
        prefix = self._embedder.prefix(kind)  # no part of the key: the kind is
        return [prefix + text for text in texts]

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


def _file_name(name: str) -> str:
    """`name` where it can name a file, else its safe signs and a digest: no two names share."""
    safe = re.sub(r"[^\w.-]+", "_", name)
    return safe if safe == name else f"{safe}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
