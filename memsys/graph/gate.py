"""When to expand: by a word of the question, or because little was found directly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from memsys.index.terms import is_cjk, words


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether the gate opened, and by which rule: `word:<word>`, `similarity` or `closed`."""

    open: bool
    rule: str
    mean_similarity: float


@dataclass(frozen=True, slots=True)
class Gate:
    """Opens on an association word or when the mean similarity of the direct results is low.

    `similarity`: the least mean cosine at which the direct results are trusted; None takes the
    embedder's own typical value, since cosines of different models are on different scales.
    English words match whole words, Chinese ones any part of the text.
    """

    english: Sequence[str]
    chinese: Sequence[str]
    similarity: float | None

    def decide(self, query: str, similarities: Sequence[float], typical: float) -> Decision:
        """The decision for `query`, whose direct results have cosines `similarities`."""
        mean = fmean(similarities) if similarities else 0.0
        word = self._word(query)
        if word is not None:
            return Decision(True, f"word:{word}", mean)
        threshold = typical if self.similarity is None else self.similarity
        if mean < threshold:
            return Decision(True, "similarity", mean)
        return Decision(False, "closed", mean)

    def _word(self, query: str) -> str | None:
        present = set(words(query))
        for word in self.english:
            if word in present:
                return word
        if is_cjk(query):
            for word in self.chinese:
                if word in query:
                    return word
        return None
