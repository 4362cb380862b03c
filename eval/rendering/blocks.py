"""What a report is made of, whatever it is written as."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from eval.rendering.section import Table
from eval.report.cards import Card


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture as inline SVG. `alternative` holds every figure of it: no chart speaks alone.

    `legend`: names in the order of their colours and marks; None has no name in this chart.
    `bars`: the legend names the parts of bars.
    """

    title: str
    svg: str
    alternative: Table
    legend: Sequence[str | None] = ()
    bars: bool = False


@dataclass(frozen=True, slots=True)
class Deck:
    """Question cards under one title, folded away until they are asked for."""

    title: str
    cards: Sequence[Card]


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Text that is shown as it is, folded away."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Fold:
    """Parts that are folded away under a title."""

    title: str
    parts: Sequence[Part]


Part = str | Table | Chart | Deck | Verbatim | Fold


@dataclass(frozen=True, slots=True)
class Block:
    """A titled part of the report; `anchor` is its name in links."""

    anchor: str
    title: str
    parts: Sequence[Part] = field(default=())
