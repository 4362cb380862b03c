"""Parts of reports, independent of the output format: tables, charts, folds and question cards."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from eval.datasets.types import ADVERSARIAL, TYPES
from eval.metrics.stats.interval import Interval
from eval.rendering.numbers import interval
from eval.rendering.palette import Look
from eval.rendering.terminal import filled, fitted, markdown, sentence

T = TypeVar("T")
Value = str | int | Interval | None  # of a cell: a text, a count, a mean with its interval
_WIDTH = 100  # characters of a line of sentences
_TEX = {c: "\\" + c for c in "&%$#_{}"} | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}"}
_TEX |= {"^": r"\textasciicircum{}", "<": r"$<$", ">": r"$>$"}


class Table(NamedTuple):
    """A header and rows with the same number of cells."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    @classmethod
    def of(cls, items: Iterable[T], columns: Mapping[str, Callable[[T], Value]]) -> Table:
        """Return a table with a row for each item; `columns`: the value of an item by heading,
        which becomes text here and not before.
        """
        rows = [[value(item) for value in columns.values()] for item in items]
        return cls([*columns], [[*map(_cell, row)] for row in rows])

    def filled(self) -> Table:
        """Return the table without columns that have no value in any row, but with the first."""
        return Table(*filled(self.header, self.rows))

    def text(self) -> str:
        """Return the table for the terminal."""
        return fitted(self.header, self.rows)

    def markdown(self) -> str:
        """Return the table in Markdown, its cells as they are."""
        return markdown(self.header, self.rows)

    def latex(self, caption: str) -> str:
        """Return a LaTeX table, which needs the package booktabs, with a gap before each row whose
        first cell is not empty.
        """
        body: list[str] = []
        for row in self.rows:
            if row[0] and body:
                body.append(r"\addlinespace")
            body.append(" & ".join(map(_tex, row)) + r" \\")
        lines = [
            r"% needs \usepackage{booktabs}",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_tex(caption)}}}",
            rf"\begin{{tabular}}{{ll{'r' * (len(self.header) - 3)}l}}",
            r"\toprule",
            " & ".join(map(_tex, self.header)) + r" \\",
            *(r"\midrule", *body, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""),
        ]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart as inline SVG, and `alternative`: a table of all its values.

    `legend`: the series shown; `bars`: names of the parts of bars.
    """

    title: str
    svg: str
    alternative: Table
    legend: Sequence[Look] = ()
    bars: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class CardLine:
    """A memory of the context, or an evidence turn that was not retrieved (origin `missed`).

    `text` and `time` are None where the data set is unavailable; `via` is the path of an expanded
    memory, None for a direct one.
    """

    id: str
    turns: Sequence[str]
    text: str | None
    time: str | None
    score: float | None
    origin: str
    evidence: bool
    via: str | None = None


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A recorded call to a model: a title, the prompt (None if it was not stored) and the reply."""

    title: str
    prompt: str | None
    reply: str


@dataclass(frozen=True, slots=True)
class Side:
    """Answer of one run. `lines` are memories of its context, None where they are unknown.

    `hidden`: number of further memories of the context. `missed`: evidence not retrieved. `judged`:
    a line for each verdict of a judge, with its reason. `ranks`: where the ranking has the
    evidence, "" if unknown. `ranking`: `lines` are of the recorded ranking, as no context is.
    `calls`: the calls to models, if shown.
    """

    label: str
    verdict: str
    abstained: bool
    answer: str | None
    error: str | None
    scores: Sequence[tuple[str, float]]
    lines: Sequence[CardLine] | None
    hidden: int
    missed: Sequence[CardLine]
    judged: Sequence[str] = ()
    ranks: str = ""
    ranking: bool = False
    calls: Sequence[ModelCall] = ()

    @property
    def counts(self) -> str:
        """Number of memories in the context (or of ranks in the ranking), of those with evidence
        and of expanded ones.
        """
        lines = self.lines or ()
        expanded = sum(line.origin == "expanded" for line in lines)
        total = len(lines) + self.hidden
        text = f"{total} ranks, " if self.ranking else f"{total} memories in the context, "
        text += f"{sum(line.evidence for line in lines)} with evidence"
        if expanded:
            text += f", {expanded} by expansion" + (" among those shown" if self.hidden else "")
        return text


@dataclass(frozen=True, slots=True)
class Card:
    """A question with its gold answer (None where there is none), evidence turns and answers.

    `change`: by how much the score of the last answer differs from that of the first, if shown.
    """

    id: str
    type: str
    question: str
    gold: str | None
    excluded: bool
    evidence: Sequence[str]
    sides: Sequence[Side]
    change: str = ""

    @property
    def without_gold(self) -> str:
        """Text that is shown where there is no gold answer."""
        if self.excluded:
            return "none: the answer key excludes this question"
        return "none: abstaining is right" if self.type == TYPES[ADVERSARIAL] else "none"


@dataclass(frozen=True, slots=True)
class Deck:
    """Question cards under one title, each folded."""

    title: str
    cards: Sequence[Card]


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Preformatted text, folded."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Section:
    """Sentences, tables and other parts under a title; folded in a report."""

    title: str
    parts: Sequence[Part]


Part = str | Table | Chart | Deck | Verbatim | Section


@dataclass(frozen=True, slots=True)
class Block:
    """A titled section of a report; `anchor` is the target of links to it."""

    anchor: str
    title: str
    parts: Sequence[Part] = ()


def as_text(sections: Sequence[Section]) -> str:
    """Return sections as text for the terminal."""
    texts: list[str] = []
    for section in sections:
        texts.append(f"{section.title}\n{'=' * len(section.title)}")
        texts += [
            p.text() if isinstance(p, Table) else sentence(str(p), _WIDTH) for p in section.parts
        ]
    return "\n\n".join(texts)


def _cell(value: Value) -> str:
    return interval(value) if value is None or isinstance(value, Interval) else str(value)


def _tex(text: str) -> str:
    escaped = "".join(_TEX.get(c, c) for c in text).replace("$>$=", r"$\geq$")
    return re.sub(r"(?<!\w)-(?=\d)", "$-$", escaped).replace("d\\_z", "$d_z$")
