"""The reader that needs no model: it extracts its answer from the retrieved memories.

Dates, durations, frequencies, counts, yes or no, and choices each have a function, which receives
the parsed question and the sentences that bear on it, best first. Any other answer is a span.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from eval.readers import Answer, Reader
from eval.readers.evidence import Evidence, EvidenceWeights, ScoredSentence, dates_in, find_evidence
from eval.readers.parsing import Kind, ParsedQuestion, analyse, root, roots, roots_by_speaker
from eval.readers.spans import list_answer, spans
from memsys.core.dates import coarsen, on_day
from memsys.core.declared import Count, Name, Share
from memsys.core.numbers import CHINESE_COUNT, COUNT, ORDINALS, spell
from memsys.core.terms import is_cjk
from memsys.core.types import UNDATED, Retrieval
from memsys.core.yaml_text import load_table

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
        speakers = tuple(sorted({speaker for by_speaker in spoken for speaker in by_speaker}))
        last = max(c.memory.time for c in candidates).date()
        parsed = analyse(question, speakers, last)
        evidence = find_evidence(parsed, candidates, self.weights)
        if not evidence.sentences or self._unsupported(parsed, evidence):
            return self._abstain(question)
        names = frozenset(part for who in speakers for part in who.lower().split())
        typed = _TYPED.get(parsed.kind)
        text = typed and typed(parsed, evidence.sentences, self.reach)
        text = text or self._span(parsed, evidence.sentences, names)
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


_TABLE = load_table(
    Path(__file__).parent / "answers.yaml", COUNT=COUNT, CHINESE_COUNT=CHINESE_COUNT
)
_START, _LENGTH, _OFTEN, _BARE, _NOT, _OR = (
    re.compile(_TABLE[name], re.IGNORECASE)
    for name in ("start", "length", "often", "bare", "not", "or")
)
_LENGTH_ZH, _OFTEN_ZH, _MONEY_ZH, _OR_ZH = (
    re.compile(_TABLE[name]) for name in ("length_zh", "often_zh", "money_zh", "or_zh")
)
_WORD = re.compile(r"[\w']+")
_ALIKE = 0.7  # a sentence is about the same thing if it covers this share of the best one's


def when(question: ParsedQuestion, sentences: Sequence[ScoredSentence], reach: int) -> str | None:
    """Return the date of the event asked for, worded as in `memsys.core.dates`.

    Of the `reach` best sentences the one with the best score and a date wins; a sentence without
    one may borrow a date from its neighbours in the same memory. Where none mentions a time, the
    event is dated to the day of the session; None where that has none.
    """
    best: tuple[float, str] | None = None
    by_memory: dict[str, list[ScoredSentence]] = {}
    for item in sentences:
        by_memory.setdefault(item.memory.id, []).append(item)
    for item in sentences[:reach]:
        for other in by_memory[item.memory.id]:
            away = abs(other.position - item.position)
            for mention in dates_in(other.sentence, other.memory, question.chinese):
                score = item.score - 0.15 * away
                if mention.period.precision == "since" and not _START.search(question.text):
                    score -= 0.4
                if best is None or score > best[0]:
                    best = (score, coarsen(mention.period, question.unit, question.chinese))
    top = sentences[0]
    if (best is None or best[0] < top.score - 0.5) and top.memory.time != UNDATED:
        return coarsen(
            on_day(top.memory.time.date(), question.chinese), question.unit, question.chinese
        )
    return best and best[1]


def how_long(
    question: ParsedQuestion, sentences: Sequence[ScoredSentence], reach: int
) -> str | None:
    """Return the duration in the best of `reach` sentences that contain one, or None."""
    pattern = _LENGTH_ZH if question.chinese else _LENGTH
    claims = (item.sentence for item in sentences[:reach])
    texts = (claim.text for claim in claims if not (claim.asks or claim.caption))
    m = next(filter(None, map(pattern.search, texts)), None)
    if m is None:
        return None
    text = m[0].removeprefix("for ")
    if not question.chinese and m["ago"] and "long ago" not in question.text.lower():
        text = text[: -len(m["ago"])]
    return text


def how_often(
    question: ParsedQuestion, sentences: Sequence[ScoredSentence], reach: int
) -> str | None:
    """Return the frequency in the best of `reach` sentences that contain one, or None."""
    pattern = _OFTEN_ZH if question.chinese else _OFTEN
    texts = (m[0] for item in sentences[:reach] if (m := pattern.search(item.sentence.text)))
    return next(texts, None)


def how_many(
    question: ParsedQuestion, sentences: Sequence[ScoredSentence], reach: int
) -> str | None:
    """Return the number before the noun in the question, else the highest ordinal, else a count of
    days.

    "How many times", and things without a number in the text, are counted by the days on which a
    sentence covers the question about as well as the best one does. The result is None if nothing
    can be counted.
    """
    near = [item for item in sentences[: 4 * reach] if not item.sentence.asks]
    if question.chinese:
        return _how_many_zh(question, near[:reach])
    unit = root(question.unit.split()[-1]) if question.unit else ""
    if unit and unit != root("times"):
        for item in near[:reach]:
            for m in _BARE.finditer(item.sentence.text):
                after = islice(_WORD.finditer(item.sentence.text, m.end()), 3)
                if unit in (root(word[0].lower()) for word in after):
                    return m["count"]
    ordinals = [
        ORDINALS.index(m[0].lower()) + 1
        for item in near[:reach]
        for m in re.finditer(r"\b(?:" + "|".join(ORDINALS[1:]) + r")\b", item.sentence.text, re.I)
        if item.cover >= _ALIKE * sentences[0].cover
    ]
    if ordinals:
        return spell(max(ordinals))
    best = max((item.cover for item in near), default=0.0)
    times = {item.memory.time for item in near if item.cover >= max(_ALIKE * best, 0.3)}
    days = {time.date() for time in times if time != UNDATED}
    return spell(len(days)) if days else None


def _how_many_zh(question: ParsedQuestion, near: Sequence[ScoredSentence]) -> str | None:
    """Return the number before the measure word asked for, or else before any measure word."""
    wanted = re.escape(question.unit[:1]) if "几" in question.text else ""
    pattern = re.compile(_TABLE["number_zh"] + (wanted or _TABLE["measure_zh"]))
    if "多少钱" in question.text:
        pattern = _MONEY_ZH
    for item in near:
        for m in pattern.finditer(item.sentence.text):
            if m[0] not in ("一个", "一次", "一") and item.cover > 0:
                return m[0]
    return None


def yes_no(question: ParsedQuestion, sentences: Sequence[ScoredSentence], _reach: int) -> str:
    """Return yes or no, hedged where a likelihood is asked for, in the language of the question.

    Yes needs a sentence whose memory covers enough of the question, without a negation.
    """
    top = max(sentences, key=lambda item: item.support)
    yes = top.support >= _YES and not _NOT.search(top.sentence.text)
    if question.chinese:
        return ("可能会" if yes else "可能不会") if question.hedged else ("是" if yes else "不是")
    if question.hedged:
        return "Likely yes" if yes else "Likely no"
    return "Yes" if yes else "No"


def choice(
    question: ParsedQuestion, sentences: Sequence[ScoredSentence], _reach: int
) -> str | None:
    """Return the offered alternative with more evidence, the first on a tie; None without any."""
    m = (_OR_ZH if question.chinese else _OR).search(question.text)
    if m is None:
        return None
    a, b = m["a"], m["b"]
    only_a, only_b = roots(a) - roots(b), roots(b) - roots(a)
    score_a = sum(item.score * len(only_a & item.sentence.roots) for item in sentences)
    score_b = sum(item.score * len(only_b & item.sentence.roots) for item in sentences)
    words = a.split()
    short = a if question.chinese else " ".join(words[-max(1, len(b.split())) :])
    return b if score_b > score_a else short


# What finds an answer of a kind, from the parsed question, the sentences that bear on it and the
# number of them that are searched; None where there is none.
_TYPED: Mapping[Kind, Callable[[ParsedQuestion, Sequence[ScoredSentence], int], str | None]] = {
    Kind.WHEN: when,
    Kind.DURATION: how_long,
    Kind.OFTEN: how_often,
    Kind.COUNT: how_many,
    Kind.CHOICE: choice,
    Kind.YES_NO: yes_no,
}
