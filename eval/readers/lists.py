"""Answers that are lists: one short span from each of several memories."""

from __future__ import annotations

from collections.abc import Sequence

from eval.readers.evidence import Found
from eval.readers.morphology import roots
from eval.readers.question import Asked
from eval.readers.spans import Span, spans

NEAR = 0.6  # an item's evidence must score this share of the best item's


def listed(
    asked: Asked, found: Sequence[Found], names: frozenset[str], most: int, items: int
) -> str:
    """Up to `items` spans of at most `most` tokens, from different memories, joined by commas.

    A memory joins the list if its evidence is nearly as good as the best one's and its span says
    something that the list does not.
    """
    chosen: list[Span] = []
    told: set[str] = set()
    memories: set[str] = set()
    for span in spans(asked, found, names, most):
        if span.found.memory.id in memories:
            continue
        new = roots(span.text) - asked.roots
        if not new or len(new & told) * 2 > len(new):
            continue
        if chosen and span.found.score < NEAR * chosen[0].found.score:
            continue
        chosen.append(span)
        told |= new
        memories.add(span.found.memory.id)
        if len(chosen) == items:
            break
    return ", ".join(span.text for span in chosen)
