"""Answers to "when": the date that the evidence supports."""

from __future__ import annotations

import re
from collections.abc import Sequence

from eval.readers.evidence import Found, dates_in, said_on
from eval.readers.periods import coarsen, on_day
from eval.readers.question import Asked

_START = re.compile(r"\b(?:start|began|begin|get|got|adopt|first|since|become|join)", re.IGNORECASE)


def when(asked: Asked, found: Sequence[Found], reach: int) -> str:
    """The date of what is asked, in the house style.

    Of the `reach` best sentences the one with the best score and a date wins; a sentence without
    one may borrow a date from its neighbours in the same memory. Where none of them speaks of a
    time, what is told is taken to be of the session's day.
    """
    best: tuple[float, str] | None = None
    by_memory: dict[str, list[Found]] = {}
    for item in found:
        by_memory.setdefault(item.memory.id, []).append(item)
    for item in found[:reach]:
        for other in by_memory[item.memory.id]:
            away = abs(other.position - item.position)
            for mention in dates_in(other.sentence, other.memory, asked.chinese):
                score = item.score - 0.15 * away
                if mention.period.precision == "since" and not _START.search(asked.text):
                    score -= 0.4
                if best is None or score > best[0]:
                    best = (score, coarsen(mention.period, asked.unit, asked.chinese))
    top = found[0]
    if best is None or best[0] < top.score - 0.5:
        return coarsen(on_day(said_on(top.memory), asked.chinese), asked.unit, asked.chinese)
    return best[1]
