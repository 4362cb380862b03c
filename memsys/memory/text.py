"""How a turn reads, wherever it is remembered."""

from __future__ import annotations

from memsys.text.terms import terms
from memsys.types import Turn

_RICH = 20  # distinct terms from which a memory counts as fully important


def line(turn: Turn) -> str:
    """`Speaker: words [image: caption]`. The speaker's name stays: retrieval needs it."""
    caption = f" [image: {turn.caption}]" if turn.caption else ""
    return f"{turn.speaker}: {turn.text}{caption}"


def importance(text: str) -> float:
    """Importance by rule, 0 to 1: distinct terms over 20. A greeting weighs less than a story."""
    return min(len(set(terms(text))) / _RICH, 1.0)
