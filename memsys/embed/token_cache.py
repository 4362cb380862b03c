"""Cache of token vectors on disk, by model and text, in half precision."""

from __future__ import annotations

import hashlib
import logging
import math
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np

from memsys.core.errors import InputError
from memsys.core.types import Usage
from memsys.embed.base import UNIT_ERROR, Embedder, Kind, TokenVectors
from memsys.llm.meter import Call, Meter
from memsys.stores.sqlite import cache_errors, open_shared, rewrite

_log = logging.getLogger(__name__)
_BATCH = 64  # rows per transaction: the most that a kill can lose
_SCHEMA = "CREATE TABLE IF NOT EXISTS tokens (key TEXT PRIMARY KEY, tokens BLOB, ms REAL)"


class TokenCache:
    """The token vectors of an embedder in an SQLite file (write-ahead log: safe for several
    processes). Latencies are stored and replayed as for the vectors of whole texts. A damaged row
    (length, ids, finite numbers, norms) is embedded anew and replaced, with one warning.
    """

    def __init__(self, embedder: Embedder, path: Path, meter: Meter) -> None:
        """Open the cache at `path`, created if absent. Raises InputError if the embedder has no
        token vectors, or if the file there is not a cache, here or at a later look-up.
        """
        if not embedder.token_length:
            raise InputError(
                f"{embedder.name}: no vectors of single tokens, which this strategy compares; use "
                "embedder=minilm embedder.pooling=tokens embedder.fallback=none"
            )
        self._embedder, self._path, self._meter = embedder, path, meter
        self._length = embedder.token_length
        self._warm = self._warned = False
        with self._errors():
            self._db = open_shared(path, _SCHEMA, owner=self)

    def look_up(self, kind: Kind, texts: Sequence[str]) -> list[TokenVectors]:
        """Return the token vectors of each text; missing ones are embedded in batches."""
        parts = (texts[i : i + _BATCH] for i in range(0, len(texts), _BATCH))
        return [tokens for part in parts for tokens in self._batch(kind, part)]

    def clear(self) -> None:
        """Delete all token vectors from the file; see CachedEmbedder.clear."""
        with self._errors():
            with self._db:
                self._db.execute("DELETE FROM tokens")
            rewrite(self._db)

    def _batch(self, kind: Kind, texts: Sequence[str]) -> list[TokenVectors]:
        started = time.perf_counter()
        keys = [hashlib.sha256(f"{kind}\0{text}".encode()).hexdigest() for text in texts]
        marks = ",".join("?" * len(keys))
        select = f"SELECT key, tokens, ms FROM tokens WHERE key IN ({marks})"  # noqa: S608
        with self._errors():
            rows = self._db.execute(select, keys).fetchall()
        read = {key: (tokens_of(blob, self._length), ms) for key, blob, ms in rows}
        usable = {
            key: (tokens, float(ms))
            for key, (tokens, ms) in read.items()
            if tokens is not None and isinstance(ms, float) and 0 <= ms < math.inf
        }
        if len(usable) < len(read) and not self._warned:
            self._warned = True
            _log.warning("%s: token vectors in it are damaged; embedding anew", self._path)
        found = {key: tokens for key, (tokens, _) in usable.items()}
        live_ms = sum(ms for _, ms in usable.values())
        missing = {k: t for k, t in zip(keys, texts, strict=True) if k not in found}
        if missing:
            fresh_ms, fresh = self._embed(kind, missing)
            found.update(fresh)
            live_ms += fresh_ms
        spent_ms = (time.perf_counter() - started) * 1000
        self._meter.note(Call(spent_ms, live_ms, bool(usable), Usage()))
        return [found[key] for key in keys]

    def _embed(self, kind: Kind, missing: dict[str, str]) -> tuple[float, dict[str, TokenVectors]]:
        if not self._warm:
            self._embedder.embed_tokens(["warm up"])  # loads the model outside the clock
            self._warm = True
        prefix = self._embedder.prefix(kind)
        started = time.perf_counter()
        fresh = self._embedder.embed_tokens([prefix + text for text in missing.values()])
        live_ms = (time.perf_counter() - started) * 1000
        with self._errors(), self._db:
            self._db.executemany(
                "INSERT OR REPLACE INTO tokens (key, tokens, ms) VALUES (?, ?, ?)",
                [
                    (key, one.ids.tobytes() + one.vectors.tobytes(), live_ms / len(missing))
                    for key, one in zip(missing, fresh, strict=True)
                ],
            )
        return live_ms, dict(zip(missing, fresh, strict=True))

    def _errors(self) -> AbstractContextManager[None]:
        return cache_errors(self._path, "a cache of token vectors")


def tokens_of(blob: object, length: int) -> TokenVectors | None:
    """Return stored tokens: n ids, then n vectors of `length` numbers. None unless every id is 0 or
    more and every vector finite and of length 1.
    """
    if not isinstance(blob, bytes) or len(blob) % (4 + 2 * length):
        return None
    n = len(blob) // (4 + 2 * length)
    ids = np.frombuffer(blob, dtype=np.int32, count=n)
    vectors = np.frombuffer(blob, dtype=np.float16, offset=4 * n).reshape(n, length)
    wide = vectors.astype(np.float32)
    squares = np.einsum("ij,ij->i", wide, wide)  # NaN or infinite if any number is
    # Half precision changes a square length by less than the error that single precision may have.
    is_unit = bool((np.abs(squares - 1) < 2 * UNIT_ERROR).all())
    return TokenVectors(ids, vectors) if is_unit and (ids >= 0).all() else None
