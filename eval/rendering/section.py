"""What is printed: titled sections of sentences and tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill

from eval.rendering.tables import plain

_WIDTH = 100  # characters of a line of sentences


@dataclass(frozen=True, slots=True)
class Table:
    """A header and rows of as many cells."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Section:
    """A title, and sentences and tables in order."""

    title: str
    parts: Sequence[str | Table]


def as_text(sections: Sequence[Section]) -> str:
    """For the terminal."""
    return "\n\n".join(
        "\n\n".join([f"{section.title}\n{'=' * len(section.title)}", *map(_text, section.parts)])
        for section in sections
    )


def _text(part: str | Table) -> str:
    return fill(part, _WIDTH) if isinstance(part, str) else plain(part.header, part.rows)
