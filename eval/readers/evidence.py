"""Evidence: which sentences of the retrieved memories bear on a question, and how well.

The reader finds this evidence; the turns that a data set cites are those of eval.metrics.evidence,
which no reader sees.

A memory's score is the weighted sum of five features: coverage of the question's roots by its
content (a root's weight is its inverse document frequency over the candidates, Spärck Jones, 1972),
coverage by the utterance it replies to, the retriever's score, whether the person asked about
speaks, and whether the time asked about agrees. A sentence adds its own coverage.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from eval.readers.parsing import (
    ParsedQuestion,
    Sentence,
    named_people,
    roots,
    roots_by_speaker,
    sentences,
)
from memsys.core.chinese_dates import find_dates_zh
from memsys.core.dates import DateMention
from memsys.core.declared import Weight
from memsys.core.english_dates import find_dates
from memsys.core.types import UNDATED, Candidate, Memory

# Sentences of this many best memories are scored, so that a full context takes no longer.
_MEMORIES = 20
# Weights beside a sentence's coverage (1): coverage of the sentence before it, being a question,
# being an image caption, and being one where an image is asked about.
_CARRIED = 0.4
_ASKS = 0.3
_CAPTION = 0.4
_SHOWN = 0.3
# Weight of covering a question by the utterance replied to, for the person who replies.
_ANSWERED = 0.5
# Days from the time asked about at which a session no longer counts as near.
_NEAR_DAYS = 14


@dataclass(frozen=True, slots=True)
class EvidenceWeights:
    """Weight of each feature beside the coverage of the question by the content (1)."""

    reply: Weight = 1.0
    retrieval: Weight = 0.6
    speaker: Weight = 0.8
    time: Weight = 0.5


class ScoredSentence(NamedTuple):
    """A sentence at its position in a memory; `score` orders the sentences of all memories.

    `cover` is the share (0 to 1) of the question that the sentence covers, `support` that of the
    whole memory.
    """

    sentence: Sentence
    memory: Memory
    position: int
    cover: float
    support: float
    score: float


class Evidence(NamedTuple):
    """Sentences, best first, and who said something about the question.

    `own` is the best coverage (0 to 1) in one memory by the people asked about, by any speaker if
    the question names none; `other` is the best by other speakers.
    """

    sentences: tuple[ScoredSentence, ...]
    own: float
    other: float


def dates_in(sentence: Sentence, memory: Memory, chinese: bool) -> tuple[DateMention, ...]:
    """Return the dates that a sentence mentions, resolved against its session. Of a memory without
    a time there are those alone that name a year.
    """
    if sentence.caption:
        return ()
    mentions = (find_dates_zh if chinese else find_dates)(sentence.text, memory.time.date())
    near = UNDATED.year + 1  # where "last May" is resolved against no time
    return (
        mentions
        if memory.time != UNDATED
        else tuple(mention for mention in mentions if mention.period.last.year > near)
    )


class RootWeights(NamedTuple):
    """The inverse document frequency of each root of a question, their sum, and the roots."""

    of: tuple[tuple[str, float], ...]
    total: float
    roots: frozenset[str]

    @classmethod
    def over(cls, question: ParsedQuestion, contents: Sequence[frozenset[str]]) -> RootWeights:
        """Return the weights of the question's roots over the roots of the candidates' contents."""
        having = Counter(chain.from_iterable(map(question.roots.intersection, contents)))
        count = len(contents)
        weights = tuple(
            (root, math.log(1 + (count + 1) / (0.5 + having[root])))
            for root in sorted(question.roots)
        )
        return cls(weights, sum(weight for _, weight in weights), question.roots)

    def share(self, covered: frozenset[str]) -> float:
        """Return the share (0 to 1) of the question's weight in `covered`; 0 without roots."""
        if not self.total or self.roots.isdisjoint(covered):  # as most memories are
            return 0.0
        return sum([weight for root, weight in self.of if root in covered]) / self.total


def _speaks(question: ParsedQuestion, memory: Memory, speakers: Set[str]) -> float:
    """Return 1 if the person asked about is among the `speakers` of a memory, .5 if named in it or
    if none is asked about, else 0.
    """
    if not question.people:
        return 0.5
    if not speakers.isdisjoint(question.people):
        return 1.0
    return 0.5 if named_people(memory.content, question.people) else 0.0


def _in_time(question: ParsedQuestion, memory: Memory) -> float:
    """Return 1 if the session falls in a period asked about, falling off to 0 at two weeks away."""
    best, day = 0.0, memory.time.date()
    for mention in question.dates:
        away = max((mention.period.first - day).days, (day - mention.period.last).days, 0)
        best = max(best, 1.0 - away / _NEAR_DAYS)
    return best


def _reply_coverage(idf: RootWeights, memory: Memory, own: frozenset[str], support: float) -> float:
    """Return the coverage that the utterance before a memory adds, where it asks something; its
    `own` roots have the coverage `support`.
    """
    before = memory.index_text.removesuffix(memory.content)
    if before == memory.index_text or not ("?" in before or "？" in before):
        return 0.0
    asked = roots(before)
    return 0.0 if idf.roots.isdisjoint(asked) else idf.share(own | asked) - support


def find_evidence(
    question: ParsedQuestion, candidates: Sequence[Candidate], weights: EvidenceWeights
) -> Evidence:
    """Return the sentences of the best memories, best first; ties stay in retrieval order.

    `candidates` must not be empty.
    """
    contents = [roots(candidate.memory.content) for candidate in candidates]
    idf = RootWeights.over(question, contents)
    scores = [candidate.score for candidate in candidates]
    low, high = min(scores), max(scores)
    ranked: list[tuple[float, float, Memory]] = []
    own = other = 0.0
    for candidate, content_roots in zip(candidates, contents, strict=True):
        memory, support = candidate.memory, idf.share(content_roots)
        spoken = roots_by_speaker(memory.content, memory.speaker)
        reply = _reply_coverage(idf, memory, content_roots, support)
        score = (
            support
            + weights.reply * reply
            + weights.retrieval * ((candidate.score - low) / (high - low) if high > low else 0.0)
            + weights.speaker * _speaks(question, memory, spoken.keys())
            + weights.time * _in_time(question, memory)
        )
        ranked.append((score, support, memory))
        for speaker, (everything, claimed) in spoken.items():
            if not question.people or speaker in question.people:
                own = max(own, idf.share(everything) + _ANSWERED * reply)
            else:
                other = max(other, idf.share(claimed))
    ranked.sort(key=lambda item: -item[0])
    scored: list[ScoredSentence] = []
    for score, support, memory in ranked[:_MEMORIES]:
        carried = 0.0
        for position, sentence in enumerate(sentences(memory.content, memory.speaker)):
            cover = idf.share(sentence.roots)
            shown = (_SHOWN if question.shown else -_CAPTION) if sentence.caption else 0.0
            total = score + cover + _CARRIED * carried - _ASKS * sentence.asks + shown
            carried = cover
            scored.append(ScoredSentence(sentence, memory, position, cover, support, total))
    scored.sort(key=lambda item: -item.score)
    return Evidence(tuple(scored), own, other)
