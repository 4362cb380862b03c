"""BM25 over stems for large stores: every term's scores are computed when it is indexed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memsys.errors import InputError
from memsys.index.terms import terms


class SparseLexicalIndex:
    """BM25 with eager sparse scores by bm25s (Lu, 2024, arXiv 2407.03618), the same terms, k1 and b
    as LexicalIndex. Its inverse document frequency is Robertson's, floored at 0, where rank_bm25
    gives a term in most of the texts a small weight: rankings agree but for such terms.
    """

    def __init__(self, texts: Sequence[str], k1: float, b: float) -> None:
        """`texts`: at least 1. Raises InputError where bm25s is not installed."""
        try:
            import bm25s  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise InputError(
                "index.lexical=bm25s: not installed; pip install 'memsys[scale]'"
            ) from error
        vocabulary: dict[str, int] = {}
        # Not the cached `terms`: a cache of every text would hold what the index compresses.
        ids = [
            [vocabulary.setdefault(term, len(vocabulary)) for term in terms.__wrapped__(text)]
            for text in texts
        ]
        self._size, self._vocabulary = len(ids), vocabulary
        self._bm25 = None
        if vocabulary:
            self._bm25 = bm25s.BM25(k1=k1, b=b, method="robertson")
            self._bm25.index((ids, vocabulary), show_progress=False)

    def scores(self, query: str) -> NDArray[np.float64]:
        """BM25 of every text, shape (n,), 0 or more, 0 where no term is shared."""
        known = [t for t in dict.fromkeys(terms(query)) if t in self._vocabulary]
        if self._bm25 is None or not known:
            return np.zeros(self._size)
        return np.asarray(self._bm25.get_scores(known), dtype=np.float64)
