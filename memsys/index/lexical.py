"""BM25 over stems: by rank_bm25, and by precomputed scores for large stores."""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from math import log

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi

from memsys.core.terms import terms, word_terms, written


class LexicalIndex:
    """Okapi BM25 (Robertson and Zaragoza, 2009) over stems without stopwords. The scores are equal
    to those of rank_bm25, which computes the weights of terms; look-ups are by term, where
    rank_bm25 scans every text.
    """

    def __init__(self, texts: Sequence[str], k1: float, b: float) -> None:
        """`texts`: at least 1; `k1`, `b`: term saturation and length normalisation."""
        documents = [list(terms(text)) for text in texts]
        self._size = len(documents)
        self._of: dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]] = {}  # rows and scores
        if not any(documents):  # rank_bm25 divides by the mean length
            return
        bm25 = BM25Okapi(documents, k1=k1, b=b)
        norms = k1 * (1 - b + b * np.array(bm25.doc_len) / bm25.avgdl)
        postings: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for row, counts in enumerate(bm25.doc_freqs):
            for term, count in counts.items():
                postings[term].append((row, count))
        for term, pairs in postings.items():
            rows, counts = np.array(pairs).T
            self._of[term] = rows, bm25.idf[term] * (counts * (k1 + 1) / (counts + norms[rows]))

    def scores(self, query: str) -> NDArray[np.float64]:
        """Return BM25 of every text, shape (n,), 0 or more; 0 if no term is shared."""
        scores = np.zeros(self._size)
        for term in terms(query):
            if term in self._of:
                rows, weights = self._of[term]
                scores[rows] += weights
        # rank_bm25 gives a term in most of a few texts a negative weight: a text with the term
        # must not rank below one that shares nothing.
        return np.maximum(scores, 0.0)


class SparseLexicalIndex:
    """BM25 with scores computed at indexing (BM25S; Lu, 2024, arXiv 2407.03618).

    Terms, k1 and b are those of LexicalIndex. The inverse document frequency is Robertson's,
    floored at 0, where rank_bm25 gives a term in most texts a small weight: rankings agree except
    for such terms. `smoothed`: it is Lucene's, ln(1 + (n - df + .5) / (df + .5)), always above 0.
    The scores are those of the library bm25s, methods "robertson" and "lucene"; here all texts are
    scored in one pass over arrays, and a query adds whole columns.
    """

    def __init__(
        self, texts: Iterable[str | Iterable[str]], k1: float, b: float, *, smoothed: bool = False
    ) -> None:
        """`texts`: at least 1, each as written or as its terms in order."""
        numbers = _TermNumbers()
        term_numbers, lengths = array("i"), array("i")
        for text in texts:
            before = len(term_numbers)
            if isinstance(text, str):
                term_numbers.extend(chain.from_iterable(map(numbers.__getitem__, written(text))))
            else:
                term_numbers.extend(map(numbers.vocabulary.__getitem__, text))
            lengths.append(len(term_numbers) - before)
        self._size, self._vocabulary = len(lengths), dict(numbers.vocabulary)
        starts, self._texts, self._weights, idf = _columns(
            np.frombuffer(term_numbers, np.int32), np.frombuffer(lengths, np.int32), k1, b, smoothed
        )
        self._starts = array("q", starts.tobytes())  # whose numbers are read one by one
        self._idf: list[float] = idf.tolist()
        self._unseen = log(1 + (self._size + 0.5) / 0.5)  # of a term that no text has

    def scores(self, query: str) -> NDArray[np.float64]:
        """Return BM25 of every text, shape (n,), 0 or more; 0 if no term is shared."""
        scores = np.zeros(self._size, dtype=np.float32)
        for term in dict.fromkeys(terms(query)):
            if (number := self._vocabulary.get(term)) is not None:
                column = self._column(number)
                scores[self._texts[column]] += self._weights[column]  # each text occurs once
        return scores.astype(np.float64)

    def shares(self, query: Mapping[str, float]) -> NDArray[np.float64]:
        """Return the share of the query's weight that each text has, shape (n,), 0 to 1: its BM25
        over that of a text with all terms arbitrarily often. `query` maps terms to weights; a term
        that no text has counts as the rarest. Only for a smoothed index.
        """
        texts, weights, most = [self._texts[:0]], [self._weights[:0]], 0.0
        for term, weight in query.items():
            if (number := self._vocabulary.get(term)) is None:
                most += weight * self._unseen
                continue
            most += weight * self._idf[number]
            column = self._column(number)
            texts.append(self._texts[column])
            own = self._weights[column]
            weights.append(own if weight == 1 else weight * own)
        summed = np.bincount(np.concatenate(texts), np.concatenate(weights), self._size)
        scores = np.asarray(summed, dtype=np.float64)
        return np.minimum(scores / most, 1.0) if most > 0 else scores  # single precision rounds

    def rarity(self, term: str) -> float:
        """Return the inverse document frequency of `term`, as if in no text if it is unknown."""
        number = self._vocabulary.get(term)
        return self._unseen if number is None else self._idf[number]

    def _column(self, number: int) -> slice:
        return slice(self._starts[number], self._starts[number + 1])


class _TermNumbers(dict[str, tuple[int, ...]]):
    """Maps a word as written to the numbers of its index terms, computed once per word."""

    def __init__(self) -> None:
        super().__init__()
        self.vocabulary: defaultdict[str, int] = defaultdict(lambda: len(self.vocabulary))

    def __missing__(self, word: str) -> tuple[int, ...]:
        """Number the terms of a new word."""
        self[word] = tuple(self.vocabulary[term] for term in word_terms(word))
        return self[word]


def _columns(
    term_numbers: NDArray[np.int32], lengths: NDArray[np.int32], k1: float, b: float, smoothed: bool
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32], NDArray[np.float32]]:
    """Return the score matrix by term: start of its entries, their texts, their scores; and the idf
    of each term. Score: idf * tf / (tf + k1 * (1 - b + b * length / mean length)); a term of weight
    0 has no entries. `term_numbers`: those of all texts in order; `lengths`: terms per text.
    """
    n = len(lengths)
    pairs = term_numbers.astype(np.int64) * n + np.repeat(np.arange(n), lengths)
    pairs, counts = np.unique(pairs, return_counts=True)
    of, texts = np.divmod(pairs, n)
    frequency = np.bincount(of)
    odds = (n - frequency + 0.5) / (frequency + 0.5)
    idf = np.log(1 + odds if smoothed else np.maximum(odds, 1)).astype(np.float32)
    weighty = idf[of] > 0
    of, texts, counts = of[weighty], texts[weighty].astype(np.int32), counts[weighty]
    norms = k1 * (1 - b + b * lengths / (lengths.mean() or 1))
    weights = (idf[of] * (counts / (norms[texts] + counts))).astype(np.float32)
    starts = np.concatenate([[0], np.cumsum(np.bincount(of, minlength=len(frequency)))])
    return starts, texts, weights, idf
