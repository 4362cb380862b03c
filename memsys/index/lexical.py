"""BM25 over stems: by rank_bm25, and by precomputed scores for large stores."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi

from memsys.text.terms import terms, word_terms, written


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


class SparseLexicalIndex:
    """BM25 with eager sparse scores (BM25S; Lu, 2024, arXiv 2407.03618), the same terms, k1 and b
    as LexicalIndex. Its inverse document frequency is Robertson's, floored at 0, where rank_bm25
    gives a term in most of the texts a small weight: rankings agree but for such terms.

    The scores are those of the library bm25s, method "robertson"; here all texts are scored in one
    pass over arrays, and a query adds whole columns.
    """

    def __init__(self, texts: Sequence[str], k1: float, b: float) -> None:
        """`texts`: at least 1."""
        numbers = _TermNumbers()
        found, lengths = array("i"), array("i")
        for text in texts:
            before = len(found)
            found.extend(chain.from_iterable(map(numbers.__getitem__, written(text))))
            lengths.append(len(found) - before)
        self._size, self._vocabulary = len(texts), dict(numbers.vocabulary)
        self._starts, self._texts, self._weights = _columns(
            np.frombuffer(found, np.int32), np.frombuffer(lengths, np.int32), k1, b
        )

    def scores(self, query: str) -> NDArray[np.float64]:
        """BM25 of every text, shape (n,), 0 or more, 0 where no term is shared."""
        scores = np.zeros(self._size, dtype=np.float32)
        for term in dict.fromkeys(terms(query)):
            if (number := self._vocabulary.get(term)) is not None:
                own = slice(self._starts[number], self._starts[number + 1])
                scores[self._texts[own]] += self._weights[own]  # a text is there once
        return scores.astype(np.float64)


class _TermNumbers(dict[str, tuple[int, ...]]):
    """Of a word as it stands in a text the numbers of its terms, looked up once."""

    def __init__(self) -> None:
        super().__init__()
        self.vocabulary: defaultdict[str, int] = defaultdict(lambda: len(self.vocabulary))

    def __missing__(self, word: str) -> tuple[int, ...]:
        """Number the terms of a word that comes for the first time."""
        self[word] = tuple(self.vocabulary[term] for term in word_terms(word))
        return self[word]


def _columns(
    found: NDArray[np.int32], lengths: NDArray[np.int32], k1: float, b: float
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """By term: where its entries start, the texts that hold it, its score there: idf * tf /
    (tf + k1 * (1 - b + b * length / mean length)). A term of no weight has no entries.

    `found`: the terms of all texts in order; `lengths`: how many are of each text.
    """
    n = len(lengths)
    pairs = found.astype(np.int64) * n + np.repeat(np.arange(n), lengths)
    pairs, counts = np.unique(pairs, return_counts=True)
    of, texts = np.divmod(pairs, n)
    frequency = np.bincount(of)
    idf = np.log(np.maximum((n - frequency + 0.5) / (frequency + 0.5), 1)).astype(np.float32)
    weighty = idf[of] > 0
    of, texts, counts = of[weighty], texts[weighty].astype(np.int32), counts[weighty]
    norms = k1 * (1 - b + b * lengths / (lengths.mean() or 1))
    weights = (idf[of] * (counts / (norms[texts] + counts))).astype(np.float32)
    starts = np.concatenate([[0], np.cumsum(np.bincount(of, minlength=len(frequency)))])
    return starts, texts, weights
