"""Base class of embedders."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from types import MappingProxyType
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memsys.core.types import Usage, Vectors

Kind = Literal["document", "query"]
UNIT_ERROR = 1e-3  # by which a unit vector's length may differ from 1; rounding is far below


class TokenVectors(NamedTuple):
    """The n tokens of one text: vocabulary ids, int32 of shape (n,), and unit vectors, float16 of
    shape (n, d), each of a token in its context. A text may have none.
    """

    ids: NDArray[np.int32]
    vectors: NDArray[np.float16]

    def packed(self) -> bytes:
        """Return the ids, then the vectors."""
        return self.ids.tobytes() + self.vectors.tobytes()

    @classmethod
    def unpacked(cls, packed: object, length: int) -> TokenVectors | None:
        """Return what was packed, with vectors of that length; None unless it is ids of 0 or more
        with unit vectors.
        """
        if not isinstance(packed, bytes) or len(packed) % (4 + 2 * length):
            return None
        n = len(packed) // (4 + 2 * length)
        ids = np.frombuffer(packed, dtype=np.int32, count=n)
        vectors = np.frombuffer(packed, dtype=np.float16, offset=4 * n).reshape(n, length)
        # Half precision changes a square length by less than the error of single precision.
        rows = vectors.astype(np.float32)
        squares = np.einsum("ij,ij->i", rows, rows)  # NaN or infinite if any number is
        is_usable = (np.abs(squares - 1) < 2 * UNIT_ERROR).all() and (ids >= 0).all()
        return cls(ids, vectors) if is_usable else None


class Embedder(ABC):
    """Maps texts to unit vectors.

    `name` identifies model and settings and is the key of the vector cache. `typical_similarity` is
    the median over questions of the mean cosine of the best five memories: models put their cosines
    on different scales, so a threshold has to be read against it. `typical_by_language`: the same
    by ISO 639-1 code, where a language has a value of its own. `languages`: ISO 639-1 codes of
    the languages that the model was trained for; None: any, or unknown.
    """

    name: str
    typical_similarity: float
    typical_by_language: Mapping[str, float] = MappingProxyType({})
    languages: frozenset[str] | None = None
    # Option of the group embedder that embeds, in a run, conversations in none of `languages`.
    fallback: str | None = None
    # The package without which it cannot embed.
    package: ClassVar[str | None] = None
    # Prefixes the model was trained with, by kind of text.
    query_prefix: str = ""
    document_prefix: str = ""
    # Length d of the vectors of single tokens; None if the embedder has none.
    token_length: int | None = None
    # The setting with which it reads longer texts, if there is one.
    reads_more: str | None = None
    # Whether the embedder records, replays and meters its calls itself.
    records_calls: ClassVar[bool] = False

    @abstractmethod
    def embed(self, texts: Sequence[str]) -> tuple[Vectors, Usage]:
        """Return unit vectors of shape (len(texts), d) and the usage; `texts` is not empty."""

    @property
    def installed(self) -> bool:
        """Whether its package is installed, if it needs one."""
        return self.package is None or find_spec(self.package) is not None

    def reads(self, text: str) -> bool:  # noqa: ARG002
        """Return whether all of `text` counts for its vector; True where that is unknown."""
        return True

    def embed_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Return the token vectors of each text; only where `token_length` is not None."""
        raise NotImplementedError

    def prefix(self, kind: Kind) -> str:
        """Return the prefix for texts of this kind."""
        return self.query_prefix if kind == "query" else self.document_prefix


def unit_rows(vectors: Vectors) -> Vectors:
    """Return the rows scaled to length 1, shape (n, d); a zero row stays zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths == 0, 1, lengths), dtype=np.float32)
