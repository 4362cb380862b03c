"""The reader that needs no model: it extracts its answer from the retrieved memories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from eval.readers import Answer, Reader
from eval.readers.evidence import Evidence, EvidenceWeights, ScoredSentence, find_evidence
from eval.readers.parsing import Kind, ParsedQuestion, analyse, roots_by_speaker
from eval.readers.spans import list_answer, spans
from eval.readers.typed_answers import choice, how_long, how_many, how_often, when, yes_no
from memsys.core.declared import Count, Name, Share
from memsys.core.terms import is_cjk
from memsys.core.types import Retrieval

UNKNOWN = "No information available"
UNKNOWN_ZH = "没有提到相关信息"

# Half of all Chinese bigrams straddle two words and recur in no other sentence, so the same
# evidence covers about half as much of a question.
_ZH_SUPPORT = 0.5
# Coverage from which a yes-or-no question is answered with yes.
_YES = 0.5


@dataclass(frozen=True, kw_only=True)
class ExtractiveReader(Reader):
    """Answers with a date, a quantity or a short span of the memories, in their language.

    It abstains if no memory covers `support` (0 to 1) of the question's weight, or if somebody
    else's words cover it better by `rival` than those of the people asked about; both are computed
    per memory. `reach` is the number of sentences searched for an answer; `max_words` bounds a span
    in tokens, `items` a list in spans.
    """

    name: Name = "extractive"
    support: Share = 0.1
    rival: Share = 0.05
    weights: EvidenceWeights = field(default_factory=EvidenceWeights)
    reach: Count = 10
    max_words: Count = 10
    items: Count = 4

    def read(self, question: str, retrieval: Retrieval) -> Answer:
        """Answer from the candidates' content, time and score; deterministic, calls nothing."""
        candidates = retrieval.candidates
        if not candidates:
            return self._abstain(question)
        spoken = (roots_by_speaker(c.memory.content, c.memory.speaker) for c in candidates)
        speakers = tuple(sorted({speaker for said in spoken for speaker in said}))
        last = max(c.memory.time for c in candidates).date()
        parsed = analyse(question, speakers, last)
        evidence = find_evidence(parsed, candidates, self.weights)
        if not evidence.sentences or self._unsupported(parsed, evidence):
            return self._abstain(question)
        names = frozenset(part for who in speakers for part in who.lower().split())
        text = self._typed(parsed, evidence.sentences) or self._span(
            parsed, evidence.sentences, names
        )
        return Answer(text or evidence.sentences[0].sentence.text, abstained=False)

    def _unsupported(self, question: ParsedQuestion, evidence: Evidence) -> bool:
        """Return whether the memories lack the answer, or are about somebody else.

        Questions for a likelihood are always answered: they ask for something that nobody said
        explicitly.
        """
        if question.hedged or not question.roots:
            return False
        least = self.support * (_ZH_SUPPORT if question.chinese else 1.0)
        return evidence.own < least or evidence.other - evidence.own > self.rival

    def _typed(self, question: ParsedQuestion, sentences: Sequence[ScoredSentence]) -> str | None:
        """Return a date, a quantity, yes or no, or a choice where one is asked for and found."""
        by_kind = {
            Kind.WHEN: when,
            Kind.DURATION: how_long,
            Kind.OFTEN: how_often,
            Kind.COUNT: how_many,
        }
        if question.kind in by_kind:
            return by_kind[question.kind](question, sentences, self.reach)
        if question.kind is Kind.CHOICE:
            return choice(question, sentences)
        if question.kind is Kind.YES_NO:
            return yes_no(question, sentences, _YES)
        return None

    def _span(
        self, question: ParsedQuestion, sentences: Sequence[ScoredSentence], names: frozenset[str]
    ) -> str:
        """Return the best span, or a list of spans where several things are asked for."""
        if question.many and question.kind in (Kind.WHAT, Kind.WHERE, Kind.WHO) and self.items > 1:
            return list_answer(
                question, sentences[: 4 * self.reach], names, self.max_words // 2, self.items
            )
        cut = spans(question, sentences[: self.reach], names, self.max_words)
        return cut[0].text if cut else ""

    @staticmethod
    def _abstain(question: str) -> Answer:
        return Answer(UNKNOWN_ZH if is_cjk(question) else UNKNOWN, abstained=True)
