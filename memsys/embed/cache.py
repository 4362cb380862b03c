"""Cache of vectors on disk, by model and text: no text is embedded twice."""

from __future__ import annotations

import hashlib
import logging
import math
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np

from memsys.core.types import Usage, Vectors
from memsys.embed.base import UNIT_ERROR, Embedder, Kind, TokenVectors
from memsys.embed.token_cache import TokenCache
from memsys.llm.meter import Call, Meter
from memsys.stores.sqlite import cache_errors, open_shared, rewrite

_log = logging.getLogger(__name__)
_BATCH = 64  # rows per transaction: the most that a kill can lose
_SCHEMA = "CREATE TABLE IF NOT EXISTS vectors (key TEXT PRIMARY KEY, vector BLOB, ms REAL)"


class CachedEmbedder:
    """An embedder with a cache in an SQLite file (write-ahead log: safe for several processes).

    An embedder that records its calls itself (`records_calls`) is always asked, and replays. A
    query is embedded alone and its live latency is stored with its vector, so that a replayed query
    reports its live latency. The time of a batch of documents is divided evenly. A stored vector
    that is not one of the model's (length, finite numbers, norm 1) is embedded anew and replaced,
    with one warning.
    """

    def __init__(self, embedder: Embedder, folder: str | Path, meter: Meter) -> None:
        """Open the cache in `folder`, which is created if absent. Raises InputError if the file
        there is not a cache, here or at a later look-up.
        """
        self._embedder = embedder
        self.asked = False  # set to True by every look-up
        self.name, self.typical_similarity = embedder.name, embedder.typical_similarity
        self.languages = embedder.languages
        self.is_fallback = False  # True where it replaces the run's embedder in a conversation
        self._meter = meter
        self._warm = False
        self._length: int | None = None  # of the model's vectors, once one was embedded
        self._warned = False
        self._zeros: set[str] = set()  # keys of texts that the model maps to zeros
        self._path = Path(folder) / f"{_file_name(embedder.name)}.sqlite"
        self._token_cache: TokenCache | None = None
        with self._errors():
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._db = open_shared(self._path, _SCHEMA, owner=self)

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of shape (len(texts), d); missing ones are embedded in batches."""
        parts = [texts[i : i + _BATCH] for i in range(0, len(texts), _BATCH)]
        return np.concatenate([self._look_up("document", part) for part in parts])

    def query(self, text: str) -> Vectors:
        """Return the unit vector of one query, shape (d,)."""
        return np.asarray(self._look_up("query", [text])[0])

    def document_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Return the token vectors of each text, from a cache beside that of the vectors."""
        return self.token_cache.look_up("document", texts)

    def query_tokens(self, text: str) -> TokenVectors:
        """Return the token vectors of one query."""
        return self.token_cache.look_up("query", [text])[0]

    @property
    def has_tokens(self) -> bool:
        """Whether the embedder has vectors of single tokens."""
        return self._embedder.token_length is not None

    @property
    def token_cache(self) -> TokenCache:
        """The cache of token vectors, opened on first use. Raises InputError if the embedder has
        none.
        """
        self.asked = True
        if self._token_cache is None:
            self._token_cache = TokenCache(self._embedder, self._tokens_path, self._meter)
        return self._token_cache

    def clear(self) -> None:
        """Delete all vectors, also those of tokens, from the files. Raises InputError if another
        process prevents it.
        """
        with self._errors():
            with self._db:
                self._db.execute("DELETE FROM vectors")
            rewrite(self._db)
        if self.has_tokens and (self._token_cache or self._tokens_path.exists()):
            self.token_cache.clear()

    def _look_up(self, kind: Kind, texts: Sequence[str]) -> Vectors:
        self.asked = True
        if self._embedder.records_calls:
            return self._embedder.embed(self._marked(kind, texts))[0]
        started = time.perf_counter()
        keys = [hashlib.sha256(f"{kind}\0{text}".encode()).hexdigest() for text in texts]
        marks = ",".join("?" * len(keys))
        select = f"SELECT key, vector, ms FROM vectors WHERE key IN ({marks})"  # noqa: S608
        with self._errors():
            rows = self._db.execute(select, keys).fetchall()
        cached, live_ms = self._usable(rows)
        is_replayed = bool(cached)
        missing = {k: t for k, t in zip(keys, texts, strict=True) if k not in cached}
        usage = Usage()
        if missing:
            fresh_ms, usage, fresh = self._embed(kind, missing)
            self._warn({key: blob for key, blob, _ in rows}, fresh)
            if any(len(vector) != self._length for vector in cached.values()):
                # Only now is the model's length known: what is stored has another.
                return self._look_up(kind, texts)
            live_ms += fresh_ms
            cached.update(fresh)
        spent_ms = (time.perf_counter() - started) * 1000
        self._meter.note(Call(spent_ms, live_ms, is_replayed, usage))
        return np.stack([cached[key] for key in keys])

    def _usable(self, rows: Sequence[tuple[str, Any, Any]]) -> tuple[dict[str, Vectors], float]:
        """Return the valid vectors among `rows` by key, all of one length, and the sum of their
        live latencies in milliseconds; a repeated text counts once.
        """
        read = {
            key: (vector_of(blob, may_be_zero=key in self._zeros), ms)
            for key, blob, ms in rows
            if is_latency(ms)
        }
        sizes = Counter(len(vector) for vector, _ in read.values() if vector is not None)
        # Without a vector of the model to compare with, the majority has the right length.
        length = self._length or (sizes.most_common(1)[0][0] if sizes else 0)
        usable = {k: (v, ms) for k, (v, ms) in read.items() if v is not None and len(v) == length}
        return {k: v for k, (v, _) in usable.items()}, sum(ms for _, ms in usable.values())

    def _warn(self, stored: Mapping[str, object], fresh: Mapping[str, Vectors]) -> None:
        """Say once that stored vectors were replaced by others."""
        both = [(stored[key], vector.tobytes()) for key, vector in fresh.items() if key in stored]
        if not self._warned and any(old != new for old, new in both):
            self._warned = True
            _log.warning("%s: vectors in it are damaged; they are embedded anew", self._path)

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
        self._length = vectors.shape[1]
        fresh = dict(zip(missing, vectors, strict=True))
        self._zeros.update(key for key, vector in fresh.items() if not vector.any())
        with self._errors(), self._db:
            self._db.executemany(
                # A damaged row is replaced; of two processes, each writes the same vector.
                "INSERT OR REPLACE INTO vectors (key, vector, ms) VALUES (?, ?, ?)",
                [(key, vector.tobytes(), each) for key, vector in fresh.items()],
            )
        return live_ms, usage, fresh

    def _marked(self, kind: Kind, texts: Sequence[str]) -> list[str]:
        prefix = self._embedder.prefix(kind)  # not part of the key, which has the kind
        return [prefix + text for text in texts]

    @property
    def _tokens_path(self) -> Path:
        return self._path.with_name(f"{self._path.stem}-tokens.sqlite")

    def _errors(self) -> AbstractContextManager[None]:
        return cache_errors(self._path, "a vector cache")


def vector_of(blob: object, *, may_be_zero: bool = False) -> Vectors | None:
    """Return a stored vector, float32 of shape (d,); None unless it is finite and of length 1, or
    zero if it `may_be_zero`.
    """
    if not isinstance(blob, bytes) or not blob or len(blob) % 4:
        return None
    vector: Vectors = np.frombuffer(blob, dtype=np.float32)
    square = float(vector @ vector)  # NaN or infinite if any number is
    is_unit = abs(square - 1) < 2 * UNIT_ERROR
    return vector if is_unit or (may_be_zero and square == 0) else None


def is_latency(ms: object) -> bool:
    """Return whether `ms` is a number of milliseconds, 0 or more."""
    return isinstance(ms, float) and 0 <= ms < math.inf


def _file_name(name: str) -> str:
    """Return `name` if it can be a file name, else its safe characters and a digest."""
    safe = re.sub(r"[^\w.-]+", "_", name)
    return safe if safe == name else f"{safe}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
