"""An embedder that several threads use."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import RLock

from memsys.core.types import Vectors
from memsys.embed.base import Embedder, TokenVectors
from memsys.embed.cache import CachedEmbedder
from memsys.llm.meter import Meter


class SharedEmbedder(CachedEmbedder):
    """A CachedEmbedder that one thread uses at a time."""

    def __init__(self, embedder: Embedder, folder: Path, meter: Meter) -> None:
        super().__init__(embedder, folder, meter)
        self._lock = RLock()

    def documents(self, texts: Sequence[str]) -> Vectors:
        """See CachedEmbedder."""
        with self._lock:
            return super().documents(texts)

    def query(self, text: str) -> Vectors:
        """See CachedEmbedder."""
        with self._lock:
            return super().query(text)

    def document_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        """See CachedEmbedder."""
        with self._lock:
            return super().document_tokens(texts)

    def query_tokens(self, text: str) -> TokenVectors:
        """See CachedEmbedder."""
        with self._lock:
            return super().query_tokens(text)

    def clear(self) -> None:
        """See CachedEmbedder."""
        with self._lock:
            super().clear()
