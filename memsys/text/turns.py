"""The text of a turn in a memory or prompt, and the importance of a text."""

from __future__ import annotations

from memsys.text.terms import terms
from memsys.types import Turn

_RICH = 20  # distinct terms at which a text reaches importance 1


def line(turn: Turn) -> str:
    """Return `Speaker: text [image: caption]`; the speaker's name is part of the indexed text."""
    caption = f" [image: {turn.caption}]" if turn.caption else ""
    return f"{turn.speaker}: {turn.text}{caption}"


def importance(text: str) -> float:
    """Return the importance of `text`, 0 to 1: its distinct terms divided by 20, at most 1."""
    return min(len(set(terms(text))) / _RICH, 1.0)
