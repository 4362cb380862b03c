"""Which sentences of what was retrieved bear on a question, and how well.

A memory's score is the weighted mean of five signs: coverage of the question's roots by what was
said (a root's weight is its inverse document frequency over the candidates, Spärck Jones, 1972),
coverage by the words it replies to, the retriever's own score, whether the person asked about
speaks, and whether the time asked about agrees. A sentence adds its own coverage to it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from eval.readers.dates import find_dates
from eval.readers.dates_zh import find_dates_zh
from eval.readers.morphology import roots
from eval.readers.periods import Mention
from eval.readers.question import Asked, named_people
from eval.readers.sentences import Sentence, roots_by_speaker, sentences
from memsys.types import Candidate, Memory

# Sentences are weighed in the best memories only, so that a full context costs no more than a page.
_PAGE = 20
# Beside a sentence's own coverage (1): what the sentence before it covers, that it only asks, that
# it is an image's caption, and that it is one where an image is asked about.
_CARRIED = 0.4
_ASKS = 0.3
_CAPTION = 0.4
_SHOWN = 0.3
# What covering a question by the words replied to counts for the person who replies.
_ANSWERED = 0.5
# Days over which a session stops being near the time asked about.
_NEAR = 14


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each sign counts beside the coverage of the question by what was said (1)."""

    reply: float = 1.0
    retrieval: float = 0.6
    speaker: float = 0.8
    time: float = 0.5


@dataclass(frozen=True, slots=True)
class Found:
    """A sentence with its memory; `cover` is the share (0 to 1) of the question it holds itself.

    `support` is that share for the whole memory, `score` orders the sentences.
    """

    sentence: Sentence
    memory: Memory
    position: int
    cover: float
    support: float
    score: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """Sentences, best first, and who holds what is asked.

    `own` is the best coverage (0 to 1) in one memory by the people asked about, by anybody if the
    question names nobody; `other` is the best by other speakers.
    """

    found: tuple[Found, ...]
    own: float
    other: float


def said_on(memory: Memory) -> date:
    """The day of the memory's session."""
    return memory.time.date()


def dates_in(sentence: Sentence, memory: Memory, chinese: bool) -> tuple[Mention, ...]:
    """The dates that a sentence speaks of, resolved against its session."""
    find = find_dates_zh if chinese else find_dates
    return () if sentence.caption else find(sentence.text, said_on(memory))


def root_weights(asked: Asked, candidates: Sequence[Candidate]) -> dict[str, float]:
    """Inverse document frequency of each root of the question over the candidates."""
    held = [roots(c.memory.content) for c in candidates]
    count = len(held)
    return {
        root: math.log(1 + (count + 1) / (0.5 + sum(root in text for text in held)))
        for root in sorted(asked.roots)
    }


def share(weights: dict[str, float], held: frozenset[str]) -> float:
    """The share (0 to 1) of the question's weight that `held` covers; 0 for an empty question."""
    total = sum(weights.values())
    return sum(w for root, w in weights.items() if root in held) / total if total else 0.0


def _spread(candidates: Sequence[Candidate]) -> list[float]:
    low, high = min(c.score for c in candidates), max(c.score for c in candidates)
    return [(c.score - low) / (high - low) if high > low else 0.0 for c in candidates]


def _speaks(asked: Asked, memory: Memory) -> float:
    """1 if the person asked about speaks, .5 if named or nobody is asked about, 0 otherwise."""
    if not asked.people:
        return 0.5
    if roots_by_speaker(memory.content, memory.speaker).keys() & set(asked.people):
        return 1.0
    return 0.5 if named_people(memory.content, asked.people) else 0.0


def _in_time(asked: Asked, memory: Memory) -> float:
    """1 if the session falls in a period asked about, falling off to 0 at two weeks away."""
    best = 0.0
    for mention in asked.dates:
        day = said_on(memory)
        away = max((mention.period.first - day).days, (day - mention.period.last).days, 0)
        best = max(best, 1.0 - away / _NEAR)
    return best


def _reply(idf: dict[str, float], memory: Memory) -> float:
    """What the words that a memory replies to add to its coverage, where they ask something."""
    before = memory.index_text.removesuffix(memory.content)
    if before == memory.index_text or not ("?" in before or "？" in before):
        return 0.0
    own = roots(memory.content)
    return share(idf, own | roots(before)) - share(idf, own)


def _standing(
    asked: Asked, candidates: Sequence[Candidate], idf: dict[str, float]
) -> tuple[float, float]:
    """The best coverage in one memory by the people asked about, and by claims of anybody else."""
    own = other = 0.0
    for candidate in candidates:
        memory = candidate.memory
        spoken = roots_by_speaker(memory.content, memory.speaker)
        for speaker, (everything, claimed) in spoken.items():
            if not asked.people or speaker in asked.people:
                own = max(own, share(idf, everything) + _ANSWERED * _reply(idf, memory))
            else:
                other = max(other, share(idf, claimed))
    return own, other


def find_evidence(asked: Asked, candidates: Sequence[Candidate], weights: Weights) -> Evidence:
    """The sentences of the best memories, best first; ties keep the order of the retrieval.

    `candidates` must not be empty.
    """
    idf = root_weights(asked, candidates)
    ranked: list[tuple[float, int, float]] = []
    for at, (candidate, spread) in enumerate(zip(candidates, _spread(candidates), strict=True)):
        memory = candidate.memory
        support = share(idf, roots(memory.content))
        score = (
            support
            + weights.reply * _reply(idf, memory)
            + weights.retrieval * spread
            + weights.speaker * _speaks(asked, memory)
            + weights.time * _in_time(asked, memory)
        )
        ranked.append((score, at, support))
    ranked.sort(key=lambda item: (-item[0], item[1]))
    found: list[Found] = []
    for score, at, support in ranked[:_PAGE]:
        memory = candidates[at].memory
        carried = 0.0
        for position, sentence in enumerate(sentences(memory.content, memory.speaker)):
            cover = share(idf, sentence.roots)
            shown = (_SHOWN if asked.shown else -_CAPTION) if sentence.caption else 0.0
            own = score + cover + _CARRIED * carried - _ASKS * sentence.asks + shown
            carried = cover
            found.append(Found(sentence, memory, position, cover, support, own))
    found.sort(key=lambda item: -item.score)
    return Evidence(tuple(found), *_standing(asked, candidates, idf))
