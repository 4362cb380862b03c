"""What is printed: titled sections of sentences and tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill

from eval.tables import markdown, plain

_WIDTH = 100  # characters of a line of sentences
Rows = list[list[str]]


@dataclass(frozen=True, slots=True)
class Table:
    """A header and rows of as many cells."""

    header: Sequence[str]
    rows: Rows


@dataclass(frozen=True, slots=True)
class Section:
    """A title, and sentences and tables in order. A table without rows is left out."""

    title: str
    parts: Sequence[str | Table]


def as_plain(sections: Sequence[Section]) -> str:
    """For the terminal."""
    return "\n\n".join(
        "\n".join([section.title, "=" * len(section.title)])
        + "".join(f"\n\n{_plain(part)}" for part in _shown(section))
        for section in sections
    )


def as_markdown(title: str, about: str, sections: Sequence[Section]) -> str:
    """A document under `title` that begins with `about`."""
    blocks = [f"# {title}", about]
    for section in sections:
        blocks.append(f"## {section.title}")
        blocks += [
            part if isinstance(part, str) else markdown(part.header, part.rows)
            for part in _shown(section)
        ]
    return "\n\n".join(blocks) + "\n"


def _plain(part: str | Table) -> str:
    return fill(part, _WIDTH) if isinstance(part, str) else plain(part.header, part.rows)


def _shown(section: Section) -> list[str | Table]:
    return [part for part in section.parts if isinstance(part, str) or part.rows]
