"""The reader that needs no key: it extracts its answer and writes no sentence of its own."""

from __future__ import annotations

from collections.abc import Sequence

from eval.readers.base import Answer, Reader
from eval.readers.evidence import Evidence, Found, Weights, find_evidence
from eval.readers.lists import listed
from eval.readers.quantities import how_long, how_many, how_often
from eval.readers.question import Asked, Kind, analyse
from eval.readers.sentences import roots_by_speaker
from eval.readers.spans import spans
from eval.readers.temporal import when
from eval.readers.verdicts import choice, yes_no
from memsys.text.terms import is_cjk
from memsys.types import Retrieval

UNKNOWN = "No information available"
UNKNOWN_ZH = "没有提到相关信息"


# Half of all Chinese bigrams straddle two words and recur in no other sentence, so the same
# evidence covers about half as much of a question.
_ZH_SUPPORT = 0.5
# Coverage from which a yes-or-no question is answered with yes.
_YES = 0.5


class ExtractiveReader(Reader):
    """Answers with a date, a quantity or a short span of what was retrieved, in its language.

    It abstains if no memory covers `support` (0 to 1) of the question's weight, or if somebody
    else's words cover it better by `rival` than those of the people asked about. Both are read
    over single memories. `reach` is how many sentences are read for an answer, `max_words` and
    `items` bound a span in tokens and a list in spans.
    """

    def __init__(
        self,
        name: str = "extractive",
        *,
        support: float = 0.1,
        rival: float = 0.05,
        weights: Weights | None = None,
        reach: int = 10,
        max_words: int = 10,
        items: int = 4,
    ) -> None:
        self.name = name
        self._support = support
        self._rival = rival
        self._weights = weights or Weights()
        self._reach = reach
        self._max_words = max_words
        self._items = items

    def read(self, question: str, retrieval: Retrieval) -> Answer:
        """Answer from the candidates' content, time and score; deterministic, calls nothing."""
        candidates = retrieval.candidates
        if not candidates:
            return self._abstain(question)
        spoken = (roots_by_speaker(c.memory.content, c.memory.speaker) for c in candidates)
        speakers = tuple(sorted({speaker for said in spoken for speaker in said}))
        last = max(c.memory.time for c in candidates).date()
        asked = analyse(question, speakers, last)
        evidence = find_evidence(asked, candidates, self._weights)
        if not evidence.found or self._unsupported(asked, evidence):
            return self._abstain(question)
        names = frozenset(part for who in speakers for part in who.lower().split())
        text = self._typed(asked, evidence.found) or self._span(asked, evidence.found, names)
        return Answer(text or evidence.found[0].sentence.text, abstained=False)

    def _unsupported(self, asked: Asked, evidence: Evidence) -> bool:
        """True if the memories do not bear on the question, or bear on somebody else.

        A likelihood is asked for where nothing was said outright: such questions are answered.
        """
        if asked.hedged or not asked.roots:
            return False
        least = self._support * (_ZH_SUPPORT if asked.chinese else 1.0)
        return evidence.own < least or evidence.other - evidence.own > self._rival

    def _typed(self, asked: Asked, found: Sequence[Found]) -> str | None:
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
            return yes_no(asked, found, _YES)
        return None

    def _span(self, asked: Asked, found: Sequence[Found], names: frozenset[str]) -> str:
        """The best span, or a list of spans where several things are asked for."""
        if asked.many and asked.kind in (Kind.WHAT, Kind.WHERE, Kind.WHO) and self._items > 1:
            return listed(asked, found[: 4 * self._reach], names, self._max_words // 2, self._items)
        cut = spans(asked, found[: self._reach], names, self._max_words)
        return cut[0].text if cut else ""

    @staticmethod
    def _abstain(question: str) -> Answer:
        return Answer(UNKNOWN_ZH if is_cjk(question) else UNKNOWN, abstained=True)
