"""Context writers: the text of memories for a reader, within a token budget."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from datetime import datetime
from html import escape

from memsys.text.tokens import count_tokens
from memsys.types import Candidate, Origin

_LAYERS: dict[Origin, tuple[str, str]] = {
    "direct": ('<direct_matches relevance="high">\n', "</direct_matches>\n"),
    "expanded": (
        '<related_context relevance="related" source="graph">\n',
        "</related_context>\n",
    ),
}


class ContextWriter(ABC):
    """Writes candidates as text for a reader; a subclass defines the layout."""

    def __init__(self, name: str) -> None:
        self.name = name

    @abstractmethod
    def line(self, candidate: Candidate) -> str:
        """Return one memory as a line of the text."""

    @abstractmethod
    def render(self, candidates: Iterable[Candidate]) -> str:
        """Return the whole text, oldest memory first; those of one session stay in rank order."""

    def write(
        self, candidates: Sequence[Candidate], budget: int | None
    ) -> tuple[tuple[Candidate, ...], str]:
        """Return those of the ranked `candidates` that fit `budget`, in rank order, and their text.

        `budget` is in o200k tokens (None: no limit), tags included, and is never exceeded; the text
        is "" without candidates. A memory too long for the remaining budget is skipped. Lines are
        counted one by one (linear in the context); the whole is counted at the end, and the last
        memories are dropped if it exceeds the budget after all.
        """
        if budget is None:
            return tuple(candidates), self.render(candidates) if candidates else ""
        left = budget - count_tokens(self.render([]))
        fitting: list[Candidate] = []
        for candidate in candidates:
            cost = count_tokens(self.line(candidate))
            if cost <= left:
                fitting.append(candidate)
                left -= cost
        text = self.render(fitting)
        while fitting and count_tokens(text) > budget:
            fitting.pop()
            text = self.render(fitting)
        return tuple(fitting), text if fitting else ""  # no tags around nothing


class Flat(ContextWriter):
    """Writes one line per memory: `[8 May 2023, 13:56] Speaker: words`."""

    def line(self, candidate: Candidate) -> str:
        """See ContextWriter."""
        return f"[{stamp(candidate.memory.time)}] {candidate.memory.content}\n"

    def render(self, candidates: Iterable[Candidate]) -> str:
        """See ContextWriter."""
        return "".join(map(self.line, _chronological(candidates)))


class Layered(ContextWriter):
    """Writes memories as XML: direct results, then those that a graph expansion added."""

    def line(self, candidate: Candidate) -> str:
        """See ContextWriter."""
        content = escape(candidate.memory.content)
        return f'<memory time="{stamp(candidate.memory.time)}">{content}</memory>\n'

    def render(self, candidates: Iterable[Candidate]) -> str:
        """See ContextWriter."""
        ordered, text = _chronological(candidates), ""
        for origin, (opening, closing) in _LAYERS.items():
            text += opening + "".join(self.line(c) for c in ordered if c.origin == origin) + closing
        return text


def stamp(time: datetime) -> str:
    """Return the time as a reader sees it: `8 May 2023, 13:56`."""
    return f"{time.day} {time:%B %Y, %H:%M}"


def _chronological(candidates: Iterable[Candidate]) -> list[Candidate]:
    return sorted(candidates, key=lambda candidate: candidate.memory.time)
