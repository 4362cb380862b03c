"""BM25 over stems."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi

from memsys.text.terms import terms


class LexicalIndex:
    """Okapi BM25 (Robertson and Zaragoza, 2009) by rank_bm25, over stems without stopwords."""

    def __init__(self, texts: Sequence[str], k1: float, b: float) -> None:
        """`texts`: at least 1; `k1`, `b`: term saturation and length normalisation."""
        documents = [list(terms(text)) for text in texts]
        # rank_bm25 divides by the mean length: a store without one indexable word has no index.
        self._bm25 = BM25Okapi(documents, k1=k1, b=b) if any(documents) else None
        self._size = len(documents)

    def scores(self, query: str) -> NDArray[np.float64]:
        """BM25 of every text, shape (n,), 0 or more, 0 where no term is shared."""
        query_terms = list(terms(query))
        if self._bm25 is None or not query_terms:
            return np.zeros(self._size)
        scores = np.asarray(self._bm25.get_scores(query_terms), dtype=np.float64)
        # A term in most of a few texts gets a negative weight from rank_bm25: a text that has it
        # must not fall behind one that shares nothing.
        return np.maximum(scores, 0.0)
