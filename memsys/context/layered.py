"""Memories in two XML layers: direct matches, and those that the graph added."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from memsys.context.base import chronological, fit, stamp
from memsys.types import Candidate, Origin

_OPEN: dict[Origin, str] = {
    "direct": '<direct_matches relevance="high">\n',
    "expanded": '<related_context relevance="related" source="graph">\n',
}
_CLOSE: dict[Origin, str] = {
    "direct": "</direct_matches>\n",
    "expanded": "</related_context>\n",
}


class Layered:
    """Writes the content of the flat list, escaped, under direct_matches and related_context."""

    def __init__(self, name: str) -> None:
        self.name = name

    def write(
        self, candidates: Sequence[Candidate], budget: int | None
    ) -> tuple[tuple[Candidate, ...], str]:
        """See ContextWriter. Tags count towards the budget."""
        return fit(candidates, budget, _render, _element)


def _element(candidate: Candidate) -> str:
    content = escape(candidate.memory.content)
    return f'<memory time="{stamp(candidate.memory.time)}">{content}</memory>\n'


def _render(candidates: Sequence[Candidate]) -> str:
    text = ""
    origins: tuple[Origin, ...] = ("direct", "expanded")
    for origin in origins:
        layer = chronological(c for c in candidates if c.origin == origin)
        text += _OPEN[origin] + "".join(map(_element, layer)) + _CLOSE[origin]
    return text
