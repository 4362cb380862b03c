"""Static word vectors (WordLlama): a weak and very fast embedder."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from memsys.core.declared import Cosine
from memsys.core.errors import check_installed
from memsys.core.types import Usage, Vectors
from memsys.embed.base import Embedder, unit_rows


class WordLlamaEmbedder(Embedder):
    """Mean of static token vectors, 256 dimensions (extra `wordllama`, weights in its package)."""

    languages = frozenset({"en"})

    def __init__(
        self,
        typical_similarity: Cosine,
        dim: Literal[64, 128, 256] = 256,
        fallback: str | None = None,
    ) -> None:
        """`fallback`: the option that embeds conversations that are not English."""
        self.name = f"wordllama-{dim}"
        self.typical_similarity, self.fallback = typical_similarity, fallback
        self._dim = dim

    def embed(self, texts: Sequence[str]) -> tuple[Vectors, Usage]:
        """Return unit vectors, shape (n, dim). Raises InputError if the extra is missing."""
        vectors = np.stack([self._model.embed([text])[0] for text in texts])
        return unit_rows(vectors.astype(np.float32)), Usage()

    @cached_property
    def _model(self) -> Any:
        check_installed("wordllama", "embedder=wordllama", "wordllama")
        import wordllama  # noqa: PLC0415 - an extra

        # With its default cache folder it tries a download; the package has the weights.
        folder = Path(wordllama.__file__).parent
        return wordllama.WordLlama.load(dim=self._dim, cache_dir=folder, disable_download=True)
