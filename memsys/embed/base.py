"""What every embedder does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np

from memsys.types import Usage, Vectors

Kind = Literal["document", "query"]


class Embedder(Protocol):
    """Texts to unit vectors.

    `name` identifies model and settings: the cache is keyed by it. `typical_similarity` is the
    median over questions of the mean cosine of the best five memories: models put their cosines
    on different scales, so a threshold has to be read against it.

    An embedder whose model marks what it embeds may have two more attributes, `query_prefix` and
    `document_prefix`: see `prefix_of`.
    """

    name: str
    typical_similarity: float

    def embed(self, texts: Sequence[str]) -> tuple[Vectors, Usage]:
        """Unit vectors of shape (len(texts), d) and what the call used; `texts` is not empty."""
        ...


def prefix_of(embedder: Embedder, kind: Kind) -> str:
    """What the model wants to stand before a text of this kind; empty where it says nothing."""
    return str(getattr(embedder, f"{kind}_prefix", ""))


def unit_rows(vectors: Vectors) -> Vectors:
    """Rows scaled to length 1; a zero row stays zero. Shape (n, d)."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths == 0, 1, lengths), dtype=np.float32)
