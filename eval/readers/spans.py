"""Short answers cut out of sentences: the stretch of each that is worth most.

The stretch with the greatest sum of token worths (the maximum-sum segment, Bentley, 1984), so that
an answer's length follows from its words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eval.readers.evidence import Found
from eval.readers.question import Asked
from eval.readers.worth import HARD, TOKEN, worths
from eval.readers.worth_zh import TOKEN as TOKEN_ZH
from eval.readers.worth_zh import worths_zh

EVIDENCE = 1.2  # what a point of a sentence's score is worth beside its words


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a sentence, its worth (of the words, and with the evidence), the sentence."""

    text: str
    words: float
    worth: float
    found: Found


def _segment(values: list[float], most: int) -> tuple[float, int, int]:
    """The stretch of at most `most` tokens with the greatest sum: sum, start, end (excluded)."""
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


def spans(asked: Asked, found: Sequence[Found], names: frozenset[str], most: int) -> list[Span]:
    """The best stretch, of at most `most` tokens, of each sentence; best first."""
    result = []
    for item in found:
        text = item.sentence.text
        if asked.chinese:
            places = list(TOKEN_ZH.finditer(text))
            values = worths_zh(asked, text, places)
        else:
            places = list(TOKEN.finditer(text))
            values = worths(asked, [m[0] for m in places], names)
        total, start, end = _segment(values, most)
        if end > start:
            cut = text[places[start].start() : places[end - 1].end()]
            result.append(Span(cut, total, total + EVIDENCE * item.score, item))
    result.sort(key=lambda span: -span.worth)
    return result
