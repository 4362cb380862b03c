"""Cache of vectors on disk, by model and text: no text is embedded twice."""

from __future__ import annotations

import hashlib
import logging
import math
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from threading import RLock
from typing import ClassVar, Generic, TypeVar

import numpy as np

from memsys.core.errors import InputError
from memsys.core.types import Usage, Vectors
from memsys.embed.base import UNIT_ERROR, Embedder, Kind, TokenVectors
from memsys.llm.meter import Call, Meter
from memsys.stores.sqlite import cache_errors, open_shared, rewrite

_log = logging.getLogger(__name__)
_BATCH = 64  # rows per transaction: the most that a kill can lose
V = TypeVar("V")


class CachedEmbedder:
    """An embedder with a cache in an SQLite file (write-ahead log: safe for several processes), and
    that one thread uses at a time.

    An embedder that records its calls itself (`records_calls`) is always asked, and replays. A
    query is embedded alone and its live latency is stored with its vector, so that a replayed query
    reports its live latency. The time of a batch of documents is divided evenly. What is stored and
    is no vector is embedded anew and replaced, with one warning.
    """

    def __init__(
        self,
        embedder: Embedder,
        folder: str | Path,
        meter: Meter,
        *,
        fresh_queries: bool = False,
    ) -> None:
        """Open the cache in `folder`, which is created if absent. `fresh_queries`: embed queries
        anew, at the time that it takes now. Raises InputError if the file there is not a cache,
        here or at a later look-up.
        """
        self._embedder, self._lock = embedder, RLock()
        self.was_used = False  # set to True by every look-up
        self.cut_off: set[str] = set()  # documents of which the embedder reads only the beginning
        self.name, self.typical_similarity = embedder.name, embedder.typical_similarity
        self.typical_by_language = embedder.typical_by_language
        self.languages = embedder.languages
        self.is_fallback = False  # True where it replaces the run's embedder in a conversation
        self.meter = meter
        name = re.sub(r"[^\w.-]+", "_", self.name)  # that of a file
        if name != self.name:
            name += f"-{hashlib.sha256(self.name.encode()).hexdigest()[:8]}"
        path = Path(folder) / f"{name}.sqlite"
        self._tokens_path = path.with_name(f"{path.stem}-tokens.sqlite")
        self._rows = VectorRows(embedder, path, meter, fresh_queries)
        self._fresh_queries = fresh_queries

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of shape (len(texts), d); missing ones are embedded in batches."""
        with self._lock:
            vectors: list[Vectors] = self._look_up(self._rows, "document", texts)
            return np.stack(vectors)

    def query(self, text: str) -> Vectors:
        """Return the unit vector of one query, shape (d,)."""
        with self._lock:
            vectors: list[Vectors] = self._look_up(self._rows, "query", [text])
            return np.array(vectors[0])

    def document_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Return the token vectors of each text, from a cache beside that of the vectors."""
        with self._lock:
            return self._look_up(self.token_rows, "document", texts)

    def query_tokens(self, text: str) -> TokenVectors:
        """Return the token vectors of one query."""
        with self._lock:
            return self._look_up(self.token_rows, "query", [text])[0]

    def _look_up(self, rows: _Rows[V], kind: Kind, texts: Sequence[str]) -> list[V]:
        self.was_used = True
        if kind == "document":
            self.cut_off.update(text for text in texts if not self._embedder.reads(text))
        return rows.look_up(kind, texts)

    @property
    def has_tokens(self) -> bool:
        """Whether the embedder has vectors of single tokens."""
        return self._embedder.token_length is not None

    @cached_property
    def token_rows(self) -> TokenRows:
        """The cache of token vectors, opened on first use. Raises InputError if the embedder has
        none.
        """
        return TokenRows(self._embedder, self._tokens_path, self.meter, self._fresh_queries)

    def clear(self) -> None:
        """Delete all vectors, also those of tokens, from the files. Raises InputError if another
        process prevents it.
        """
        with self._lock:
            self._rows.clear()
            if self.has_tokens and self._tokens_path.exists():
                self.token_rows.clear()


class _Rows(ABC, Generic[V]):
    """What an embedder makes of texts, of type V, with the milliseconds that each took.

    A stored value that cannot be the embedder's is computed anew and replaced, with one warning.
    """

    table: ClassVar[str]
    column: ClassVar[str]
    content: ClassVar[str]

    def __init__(self, embedder: Embedder, path: Path, meter: Meter, fresh_queries: bool) -> None:
        """Open the file at `path`, created if absent. `fresh_queries`: compute the values of
        queries anew, at the time that they take now; what was computed since then is read as from a
        store, at the time of the reading. Raises InputError if the file there is not a cache, here
        or at a later look-up.
        """
        self._embedder, self._path, self._meter = embedder, path, meter
        self._fresh_queries = fresh_queries
        self._warm = self._warned = False
        self._computed: set[str] = set()  # keys of the values that are new in the file
        self._errors = partial(cache_errors, path, self.content)
        row = f"key TEXT PRIMARY KEY, {self.column} BLOB, ms REAL"
        with self._errors():
            schema = f"CREATE TABLE IF NOT EXISTS {self.table} ({row})"
            self._db = open_shared(path, schema, owner=self)

    def look_up(self, kind: Kind, texts: Sequence[str]) -> list[V]:
        """Return the value of each text; missing ones are computed in batches."""
        parts = (texts[i : i + _BATCH] for i in range(0, len(texts), _BATCH))
        return [value for part in parts for value in self._batch(kind, part)]

    def clear(self) -> None:
        """Delete all values from the file. Raises InputError if another process prevents it."""
        with self._errors():
            with self._db:
                self._db.execute(f"DELETE FROM {self.table}")  # noqa: S608
            rewrite(self._db)

    @abstractmethod
    def _embed(self, texts: Sequence[str]) -> tuple[Sequence[V], Usage]:
        """Return the values of `texts` and the usage."""

    @abstractmethod
    def _packed(self, value: V) -> bytes:
        """Return `value` as it is stored."""

    @abstractmethod
    def _unpacked(self, key: str, blob: object) -> V | None:
        """Return the value stored under `key`, None if it cannot be the embedder's."""

    def _batch(self, kind: Kind, texts: Sequence[str]) -> Sequence[V]:
        prefix = self._embedder.prefix(kind)  # not part of the key, which has the kind
        if self._embedder.records_calls:
            return self._embed([prefix + text for text in texts])[0]
        started = time.perf_counter()
        keys = [hashlib.sha256(f"{kind}\0{text}".encode()).hexdigest() for text in texts]
        values: dict[str, V] = {}
        anew = self._fresh_queries and kind == "query"
        ms, former = ({}, {}) if anew else self._read(keys, values)
        own = self._computed & values.keys() if self._fresh_queries else set()
        cached = values.keys() - own
        live_ms, usage, fresh_ms = sum(ms[key] for key in cached), Usage(), 0.0
        missing = {k: prefix + t for k, t in zip(keys, texts, strict=True) if k not in values}
        if missing:
            fresh_ms, usage = self._add(missing, values, former)
        spent_ms = (time.perf_counter() - started) * 1000
        if own:
            live_ms += max(spent_ms - fresh_ms, 0.0)
        self._meter.note(Call(spent_ms, live_ms + fresh_ms, False, usage, cached=bool(cached)))
        return [values[key] for key in keys]

    def _read(
        self, keys: Sequence[str], values: dict[str, V]
    ) -> tuple[dict[str, float], dict[str, object]]:
        """Add the usable stored values to `values`; return their milliseconds, and all that is
        stored.
        """
        marks = ",".join("?" * len(keys))
        names = f"key, {self.column}, ms"
        select = f"SELECT {names} FROM {self.table} WHERE key IN ({marks})"  # noqa: S608
        with self._errors():
            rows = self._db.execute(select, keys).fetchall()
        times = {}
        for key, blob, ms in rows:
            value = self._unpacked(key, blob)
            if value is not None and isinstance(ms, float) and 0 <= ms < math.inf:
                values[key], times[key] = value, ms
        return times, {key: blob for key, blob, _ in rows}

    def _warm_up(self) -> None:
        """Load the model outside the clock."""
        if not self._warm:
            self._embed(["warm up"])
            self._warm = True

    def _add(
        self, missing: Mapping[str, str], values: dict[str, V], former: Mapping[str, object]
    ) -> tuple[float, Usage]:
        """Compute and store the values of texts, and add them to `values`; return the time in
        milliseconds, and the usage. Warn once if they replace other ones, `former`.
        """
        self._warm_up()
        started = time.perf_counter()
        computed, usage = self._embed(list(missing.values()))
        live_ms = (time.perf_counter() - started) * 1000
        fresh = dict(zip(missing, computed, strict=True))
        self._computed.update(fresh)
        values.update(fresh)
        packed = {key: self._packed(value) for key, value in fresh.items()}
        if not self._warned and any(packed[k] != former[k] for k in packed.keys() & former.keys()):
            self._warned = True
            _log.warning("%s: %s in it are damaged; embedding anew", self._path, self.table)
        names = f"(key, {self.column}, ms)"
        with self._errors(), self._db:
            self._db.executemany(
                # A damaged row is replaced; of two processes, each writes the same value.
                f"INSERT OR REPLACE INTO {self.table} {names} VALUES (?, ?, ?)",  # noqa: S608
                [(key, blob, live_ms / len(missing)) for key, blob in packed.items()],
            )
        return live_ms, usage


class VectorRows(_Rows[Vectors]):
    """Unit vectors of texts, or zeros for a text without words; float32 of shape (d,)."""

    table, column, content = "vectors", "vector", "a vector cache"
    _length: int | None = None  # of the model's vectors, once one was embedded

    def look_up(self, kind: Kind, texts: Sequence[str]) -> list[Vectors]:
        """Return the vector of each text; where stored ones differ in length, those that have not
        the model's are embedded anew.
        """
        vectors = super().look_up(kind, texts)
        if len(set(map(len, vectors))) > 1:
            self._warm_up()
            vectors = super().look_up(kind, texts)
        return vectors

    def _embed(self, texts: Sequence[str]) -> tuple[Sequence[Vectors], Usage]:
        vectors, usage = self._embedder.embed(texts)
        self._length = vectors.shape[1]
        return list(vectors), usage

    def _packed(self, value: Vectors) -> bytes:
        return value.tobytes()

    def _unpacked(self, key: str, blob: object) -> Vectors | None:
        """Return a unit vector, or zeros where the model was seen to map the text to them."""
        if not isinstance(blob, bytes) or not blob or len(blob) % 4:
            return None
        vector: Vectors = np.frombuffer(blob, dtype=np.float32)
        is_right = self._length in (None, len(vector)) and (
            abs(np.dot(vector, vector) - 1) < 2 * UNIT_ERROR
            or (key in self._computed and not vector.any())
        )
        return vector if is_right else None


class TokenRows(_Rows[TokenVectors]):
    """Token vectors of texts, in half precision: n ids, then n vectors."""

    table, column, content = "tokens", "tokens", "a cache of token vectors"

    def __init__(self, embedder: Embedder, path: Path, meter: Meter, fresh_queries: bool) -> None:
        """Raises InputError also if the embedder has no token vectors."""
        if not embedder.token_length:
            raise InputError(
                f"{embedder.name}: no vectors of single tokens, which this strategy compares; use "
                "embedder=minilm embedder.pooling=tokens embedder.fallback=none"
            )
        self._length = embedder.token_length
        super().__init__(embedder, path, meter, fresh_queries)

    def _embed(self, texts: Sequence[str]) -> tuple[Sequence[TokenVectors], Usage]:
        return self._embedder.embed_tokens(texts), Usage()

    def _packed(self, value: TokenVectors) -> bytes:
        return value.packed()

    def _unpacked(self, key: str, blob: object) -> TokenVectors | None:  # noqa: ARG002
        return TokenVectors.unpacked(blob, self._length)
