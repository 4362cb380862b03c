"""Short answers extracted from sentences: the stretch of each with the greatest weight.

The maximum-sum segment of the token weights (Bentley, 1984), so that an answer's length follows
from its words. A list is made of several such spans.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eval.readers.evidence import ScoredSentence
from eval.readers.morphology import roots
from eval.readers.question import ParsedQuestion
from eval.readers.token_weights import (
    HARD,
    TOKEN,
    TOKEN_ZH,
    token_weights,
    token_weights_zh,
)

EVIDENCE = 1.2  # weight of a sentence's evidence score beside that of its words
NEAR = 0.6  # an item of a list needs this share of the best item's evidence score


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a sentence, with its weight: that of the words and that of the evidence."""

    text: str
    weight: float
    source: ScoredSentence


def _segment(values: list[float], most: int) -> tuple[float, int, int]:
    """Return sum, start and end (excluded) of the best stretch of at most `most` tokens."""
    best = (0.0, 0, 0)
    for start, first in enumerate(values):
        if first <= 0:
            continue
        total = 0.0
        for end in range(start, min(start + most, len(values))):
            total += values[end]
            if total > best[0]:
                best = (total, start, end + 1)
            if total < HARD / 2:
                break
    return best


def spans(
    question: ParsedQuestion, sentences: Sequence[ScoredSentence], names: frozenset[str], most: int
) -> list[Span]:
    """Return the best stretch, of at most `most` tokens, of each sentence; best first."""
    result = []
    for item in sentences:
        text = item.sentence.text
        if question.chinese:
            places = list(TOKEN_ZH.finditer(text))
            values = token_weights_zh(question, text, places)
        else:
            places = list(TOKEN.finditer(text))
            values = token_weights(question, [m[0] for m in places], names)
        total, start, end = _segment(values, most)
        if end > start:
            cut = text[places[start].start() : places[end - 1].end()]
            result.append(Span(cut, total + EVIDENCE * item.score, item))
    result.sort(key=lambda span: -span.weight)
    return result


def list_answer(
    question: ParsedQuestion,
    sentences: Sequence[ScoredSentence],
    names: frozenset[str],
    most: int,
    items: int,
) -> str:
    """Return up to `items` spans of at most `most` tokens, of different memories, comma-separated.

    A memory contributes if its evidence is nearly as good as the best one's and its span adds
    something new to the list.
    """
    chosen: list[Span] = []
    listed: set[str] = set()
    memories: set[str] = set()
    for span in spans(question, sentences, names, most):
        if span.source.memory.id in memories:
            continue
        new = roots(span.text) - question.roots
        if not new or len(new & listed) * 2 > len(new):
            continue
        if chosen and span.source.score < NEAR * chosen[0].source.score:
            continue
        chosen.append(span)
        listed |= new
        memories.add(span.source.memory.id)
        if len(chosen) == items:
            break
    return ", ".join(span.text for span in chosen)
