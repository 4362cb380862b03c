"""The reader that needs no key: it extracts its answer and writes no sentence of its own."""

from __future__ import annotations

from eval.readers.base import Answer
from eval.readers.evidence import Found, Weights, find_evidence
from eval.readers.lists import listed
from eval.readers.quantities import how_long, how_many, how_often
from eval.readers.question import Asked, Kind, analyse
from eval.readers.spans import spans
from eval.readers.temporal import when
from eval.readers.verdicts import choice, yes_no
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
        reply: float = 0.8,
        retrieval: float = 0.7,
        speaker: float = 0.7,
        time: float = 0.5,
        reach: int = 8,
        max_words: int = 10,
        enough: float = 0.5,
        items: int = 4,
        item_words: int = 5,
    ) -> None:
        self.name = name
        self._support = support
        self._weights = Weights(reply, retrieval, speaker, time)
        self._enough = enough
        self._items = items
        self._item_words = item_words
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
        names = frozenset(part for who in speakers for part in who.lower().split())
        text = self._typed(asked, found) or self._span(asked, found, names)
        return Answer(text or found[0].sentence.text, abstained=False)

    def _typed(self, asked: Asked, found: list[Found]) -> str | None:
        """A date, a quantity or a verdict where one is asked for and found."""
        if asked.kind is Kind.WHEN:
            return when(asked, found, self._reach)
        if asked.kind is Kind.DURATION:
            return how_long(asked, found, self._reach)
        if asked.kind is Kind.OFTEN:
            return how_often(asked, found, self._reach)
        if asked.kind is Kind.COUNT:
            return how_many(asked, found, self._reach)
        if asked.kind is Kind.CHOICE:
            return choice(asked, found)
        if asked.kind is Kind.YES_NO:
            return yes_no(asked, found, self._enough)
        return None

    def _span(self, asked: Asked, found: list[Found], names: frozenset[str]) -> str:
        """The best span, or a list of spans where several things are asked for."""
        if asked.many and asked.kind in (Kind.WHAT, Kind.WHERE, Kind.WHO) and self._items > 1:
            return listed(asked, found[: 4 * self._reach], names, self._item_words, self._items)
        cut = spans(asked, found[: self._reach], names, self._max_words)
        return cut[0].text if cut else ""

    @staticmethod
    def _abstain(question: str) -> Answer:
        return Answer(UNKNOWN_ZH if is_cjk(question) else UNKNOWN, abstained=True)
