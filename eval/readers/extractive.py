"""The reader that needs no key: it extracts its answer and writes no sentence of its own."""

from __future__ import annotations

from eval.readers.base import Answer
from eval.readers.evidence import Weights, find_evidence
from eval.readers.question import Kind, analyse
from eval.readers.spans import best_span
from eval.readers.temporal import how_long, when
from memsys.index.terms import is_cjk
from memsys.types import Retrieval

UNKNOWN = "No information available"
UNKNOWN_ZH = "没有提到相关信息"


class ExtractiveReader:
    """Answers with a date, a quantity or a short span of what was retrieved, in its language."""

    def __init__(
        self,
        name: str = "extractive",
        *,
        support: float = 0.1,
        reply: float = 0.4,
        retrieval: float = 0.5,
        speaker: float = 0.4,
        time: float = 0.5,
        reach: int = 4,
        max_words: int = 8,
    ) -> None:
        self.name = name
        self._support = support
        self._weights = Weights(reply, retrieval, speaker, time)
        self._reach = reach
        self._max_words = max_words

    def read(self, question: str, retrieval: Retrieval) -> Answer:
        """Answer from the candidates' content, time and score; deterministic, calls nothing."""
        candidates = retrieval.candidates
        if not candidates:
            return self._abstain(question)
        speakers = tuple(sorted({c.memory.speaker for c in candidates}))
        last = max(c.memory.time for c in candidates).date()
        asked = analyse(question, speakers, last)
        found = find_evidence(asked, candidates, self._weights)
        if not found or max(item.support for item in found) < self._support:
            return self._abstain(question)
        text: str | None = None
        if asked.kind is Kind.WHEN:
            text = when(asked, found, self._reach)
        elif asked.kind is Kind.DURATION:
            text = how_long(asked, found, self._reach)
        return Answer(text or best_span(asked, found, self._max_words), abstained=False)

    @staticmethod
    def _abstain(question: str) -> Answer:
        return Answer(UNKNOWN_ZH if is_cjk(question) else UNKNOWN, abstained=True)
