"""Cache of vectors on disk, by model and text: no text is embedded twice."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from memsys.core.types import Vectors
from memsys.embed.base import Embedder, Kind, TokenVectors
from memsys.embed.cached_rows import TokenRows, VectorRows
from memsys.llm.meter import Meter


class CachedEmbedder:
    """An embedder with a cache in an SQLite file (write-ahead log: safe for several processes).

    An embedder that records its calls itself (`records_calls`) is always asked, and replays. A
    query is embedded alone and its live latency is stored with its vector, so that a replayed query
    reports its live latency. The time of a batch of documents is divided evenly. What is stored and
    is not the model's (see `cached_rows`) is embedded anew and replaced, with one warning.
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
        path = Path(folder) / f"{_file_name(embedder.name)}.sqlite"
        self._tokens_path = path.with_name(f"{path.stem}-tokens.sqlite")
        self._rows = VectorRows(embedder, path, meter)
        self._token_rows: TokenRows | None = None

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of shape (len(texts), d); missing ones are embedded in batches."""
        return self._look_up("document", texts)

    def query(self, text: str) -> Vectors:
        """Return the unit vector of one query, shape (d,)."""
        return np.asarray(self._look_up("query", [text])[0])

    def document_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Return the token vectors of each text, from a cache beside that of the vectors."""
        return self.token_rows.look_up("document", texts)

    def query_tokens(self, text: str) -> TokenVectors:
        """Return the token vectors of one query."""
        return self.token_rows.look_up("query", [text])[0]

    @property
    def has_tokens(self) -> bool:
        """Whether the embedder has vectors of single tokens."""
        return self._embedder.token_length is not None

    @property
    def token_rows(self) -> TokenRows:
        """The cache of token vectors, opened on first use. Raises InputError if the embedder has
        none.
        """
        self.asked = True
        if self._token_rows is None:
            self._token_rows = TokenRows(self._embedder, self._tokens_path, self._meter)
        return self._token_rows

    def clear(self) -> None:
        """Delete all vectors, also those of tokens, from the files. Raises InputError if another
        process prevents it.
        """
        self._rows.clear()
        if self.has_tokens and (self._token_rows or self._tokens_path.exists()):
            self.token_rows.clear()

    def _look_up(self, kind: Kind, texts: Sequence[str]) -> Vectors:
        self.asked = True
        return np.stack(self._rows.look_up(kind, texts))


def _file_name(name: str) -> str:
    """Return `name` if it can be a file name, else its safe characters and a digest."""
    safe = re.sub(r"[^\w.-]+", "_", name)
    return safe if safe == name else f"{safe}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
