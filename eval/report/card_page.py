"""A question card as HTML."""

from __future__ import annotations

from html import escape

from eval.datasets.types import ADVERSARIAL, TYPES
from eval.report.cards import Card, Line, Side


def card_page(card: Card) -> str:
    """The inside of a card, the question being its title; all words of data are escaped."""
    sides = "".join(map(_side, card.sides))
    return (
        f"<p>Gold: {_gold(card)}<br>Evidence: {_turns(card)}"
        f'<br><span class="id">{escape(card.id)}</span></p>'
        f'<div class="pair">{sides}</div>'
    )


def gold_words(card: Card) -> str:
    """What stands for the gold answer where there is none."""
    if card.excluded:
        return "none: the answer key leaves this question out"
    return "none: the right thing is to abstain" if card.type == TYPES[ADVERSARIAL] else "none"


def counts(side: Side) -> str:
    """How many memories there were, and by which way."""
    lines = side.lines or ()
    total, added = len(lines) + side.hidden, sum(one.origin == "expanded" for one in lines)
    hits = sum(one.evidence for one in lines)
    told = f"{total} memories in the context, {hits} with evidence"
    if added:
        told += f", {added} by expansion" + (" among those shown" if side.hidden else "")
    return told


def _gold(card: Card) -> str:
    if card.gold is None:
        return f'<span class="soft">{gold_words(card)}</span>'
    return f"<strong>{escape(card.gold)}</strong>"


def _turns(card: Card) -> str:
    return escape(", ".join(card.evidence)) or '<span class="soft">none given</span>'


def _side(side: Side) -> str:
    scores = " · ".join(f"{escape(name)} {value:.3f}" for name, value in side.scores)
    kind = "none" if side.verdict == "not scored" else side.verdict
    badges = f'<span class="v {kind}">{escape(side.verdict)}</span>'
    if side.abstained:
        badges += ' <span class="v abstained">abstained</span>'
    said = side.error if side.error is not None else side.answer
    return (
        f'<div class="side"><h4>{escape(side.label)} {badges}</h4>'
        f'<div class="answer">{escape(said or "") or "<em>nothing</em>"}</div>'
        f'<div class="soft">{scores}</div>{_context(side)}</div>'
    )


def _context(side: Side) -> str:
    if side.error is not None:
        return ""
    if side.lines is None:
        return '<p class="soft">What was retrieved is not known.</p>'
    items = "".join(map(_line, side.lines))
    more = f'<p class="soft">and {side.hidden} more without evidence</p>' if side.hidden else ""
    missed = "".join(map(_line, side.missed))
    told = f'<div>Evidence not found:</div><ul class="missed">{missed}</ul>' if missed else ""
    return f'<p class="soft">{counts(side)}:</p><ol class="memories">{items}</ol>{more}{told}'


def _line(line: Line) -> str:
    tags = ' <span class="tag h">evidence</span>' if line.evidence else ""
    if line.via is not None:
        tags += f' <span class="tag e">expanded</span> <span class="id">{escape(line.via)}</span>'
    score = "" if line.score is None else f" · {line.score:.3f}"
    time = "" if line.time is None else f" · {escape(line.time)}"
    turns = "" if list(line.turns) == [line.id] else f" ({escape(', '.join(line.turns))})"
    text = "" if line.text is None else f"<br>{escape(line.text)}"
    kind = ' class="hit"' if line.evidence and line.origin != "missed" else ""
    return (
        f'<li{kind}><span class="id">{escape(line.id)}{turns}{score}{time}</span>{tags}{text}</li>'
    )
