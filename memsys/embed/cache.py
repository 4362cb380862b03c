"""Cache of vectors on disk, by model and text: no text is embedded twice."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np

from memsys.embed.base import Embedder, Kind
from memsys.llm.meter import Call, Meter
from memsys.stores.sqlite import cache_errors, open_shared
from memsys.types import Usage, Vectors

_BATCH = 64  # rows per transaction: the most that a kill can lose
_SCHEMA = "CREATE TABLE IF NOT EXISTS vectors (key TEXT PRIMARY KEY, vector BLOB, ms REAL)"


class CachedEmbedder:
    """An embedder with a cache in an SQLite file (write-ahead log: safe for several processes).

    An embedder that records its calls itself (`records_calls`) is always asked, and replays. A
    query is embedded alone and its live latency is stored with its vector, so that a replayed query
    reports its live latency. The time of a batch of documents is divided evenly.
    """

    def __init__(self, embedder: Embedder, folder: str | Path, meter: Meter) -> None:
        """Open the cache in `folder`, which is created if absent. Raises InputError if the file
        there is not a cache, here or at a later look-up.
        """
        self._embedder = embedder
        self.name, self.typical_similarity = embedder.name, embedder.typical_similarity
        self._meter = meter
        self._warm = False
        self._path = Path(folder) / f"{_file_name(embedder.name)}.sqlite"
        with self._errors():
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._db = open_shared(self._path, _SCHEMA)

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of shape (len(texts), d); missing ones are embedded in batches."""
        parts = [texts[i : i + _BATCH] for i in range(0, len(texts), _BATCH)]
        return np.concatenate([self._look_up("document", part) for part in parts])

    def query(self, text: str) -> Vectors:
        """Return the unit vector of one query, shape (d,)."""
        return np.asarray(self._look_up("query", [text])[0])

    def _look_up(self, kind: Kind, texts: Sequence[str]) -> Vectors:
        if self._embedder.records_calls:
            return self._embedder.embed(self._marked(kind, texts))[0]
        started = time.perf_counter()
        keys = [hashlib.sha256(f"{kind}\0{text}".encode()).hexdigest() for text in texts]
        marks = ",".join("?" * len(keys))
        select = f"SELECT key, vector, ms FROM vectors WHERE key IN ({marks})"  # noqa: S608
        with self._errors():
            rows = self._db.execute(select, keys).fetchall()
        cached = {key: np.frombuffer(blob, dtype=np.float32) for key, blob, _ in rows}
        live_ms = sum(ms for _, _, ms in rows)  # a repeated text counts once
        missing = {k: t for k, t in zip(keys, texts, strict=True) if k not in cached}
        usage = Usage()
        if missing:
            fresh_ms, usage, fresh = self._embed(kind, missing)
            live_ms += fresh_ms
            cached.update(fresh)
        spent_ms = (time.perf_counter() - started) * 1000
        self._meter.note(Call(spent_ms, live_ms, bool(rows), usage))
        return np.stack([cached[key] for key in keys])

    def _embed(
        self, kind: Kind, missing: dict[str, str]
    ) -> tuple[float, Usage, dict[str, Vectors]]:
        if not self._warm:
            self._embedder.embed(["warm up"])  # loads the model outside the clock
            self._warm = True
        texts = self._marked(kind, list(missing.values()))
        started = time.perf_counter()
        vectors, usage = self._embedder.embed(texts)
        live_ms = (time.perf_counter() - started) * 1000
        each = live_ms / len(missing)
        fresh = dict(zip(missing, vectors, strict=True))
        with self._errors(), self._db:
            self._db.executemany(
                "INSERT OR IGNORE INTO vectors (key, vector, ms) VALUES (?, ?, ?)",
                [(key, vector.tobytes(), each) for key, vector in fresh.items()],
            )
        return live_ms, usage, fresh

    def _marked(self, kind: Kind, texts: Sequence[str]) -> list[str]:
        prefix = self._embedder.prefix(kind)  # not part of the key, which has the kind
        return [prefix + text for text in texts]

    def _errors(self) -> AbstractContextManager[None]:
        return cache_errors(self._path, "a vector cache")


def _file_name(name: str) -> str:
    """Return `name` if it can be a file name, else its safe characters and a digest."""
    safe = re.sub(r"[^\w.-]+", "_", name)
    return safe if safe == name else f"{safe}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
