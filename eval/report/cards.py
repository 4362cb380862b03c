"""A question as several runs answered it: what each found, what it said, what that was worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval.datasets.types import ADVERSARIAL
from eval.diagnose.retrieval_vs_reading import Marking
from eval.records.answer_key_views import left_out
from eval.records.run import error_of
from eval.records.schema import Record
from eval.report.texts import Texts

SHOWN = 12  # memories of a context that are shown besides those that hold evidence
RIGHT, WRONG, ERROR, UNSCORED = "right", "wrong", "error", "not scored"
_SCORES = ("evidence_recall", "judge")  # shown besides the score that counts


@dataclass(frozen=True, slots=True)
class Line:
    """A memory that was put before the reader, or an evidence turn that was not.

    `text` and `time` are None where the data set is not at hand; `via` tells how the graph came to
    it, None for what was found directly.
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
class Side:
    """One run's answer. `hidden`: memories of the context that are not among `lines`.

    `lines` is None where what was retrieved is not known. `missed`: evidence that was not found.
    """

    label: str
    verdict: str
    abstained: bool
    answer: str | None
    error: str | None
    scores: Sequence[tuple[str, float]]
    lines: Sequence[Line] | None
    hidden: int
    missed: Sequence[Line]


@dataclass(frozen=True, slots=True)
class Card:
    """A question with its gold answer (None: the right thing is to abstain) and evidence turns."""

    id: str
    type: str
    question: str
    gold: str | None
    excluded: bool
    evidence: Sequence[str]
    sides: Sequence[Side]


def verdict(record: Record, marking: Marking) -> str:
    """RIGHT, WRONG, ERROR or UNSCORED. On type 5 abstaining is right, and nothing else is;
    elsewhere the judge's verdict counts, and where there is none whether the score suffices.
    """
    if record["status"] != "ok":
        return ERROR
    if excluded(record):
        return UNSCORED
    if record["category"] == ADVERSARIAL:
        return RIGHT if record["abstained"] else WRONG
    right = marking.right(record)
    return UNSCORED if right is None else RIGHT if right else WRONG


def excluded(record: Record) -> bool:
    """Whether the answer key leaves the question out."""
    return left_out(record)


def card(answers: Sequence[tuple[str, Record, Marking, Texts | None]]) -> Card:
    """The card of one question from the records of runs, at least one, each with the run's label,
    what is right in it, and its texts.

    Evidence, gold and type are those of the first record.
    """
    first = answers[0][1]
    return Card(
        first["id"],
        first["type"],
        first["question"],
        first.get("gold"),
        excluded(first),
        tuple(first.get("evidence") or ()),
        [_side(*answer) for answer in answers],
    )


def _side(label: str, record: Record, marking: Marking, texts: Texts | None) -> Side:
    failed = record["status"] != "ok"
    lines = None if failed or record["retrieved"] is None else _lines(record, texts)
    shown = None if lines is None else _shown(lines)
    names = dict.fromkeys((marking.score, *_SCORES))
    known = {} if failed else record["scores"]
    return Side(
        label,
        verdict(record, marking),
        bool(record["abstained"]),
        record.get("answer"),
        error_of(record) if failed else None,
        [(name, score) for name in names if (score := known.get(name)) is not None],
        shown,
        len(lines or ()) - len(shown or ()),
        _missed(record, lines, texts),
    )


def _lines(record: Record, texts: Texts | None) -> list[Line]:
    wanted = set(record["evidence"])
    steps = {step["memory"]: step for step in (record.get("trace") or {}).get("expansion") or ()}
    found = []
    for id_, turns, score, origin in record["retrieved"] or ():
        told = texts.memory(record["conversation"], id_, turns) if texts else None
        text, time = told or (None, None)
        via = _via(steps.get(id_, {})) if origin == "expanded" else None
        hit = not wanted.isdisjoint(turns)
        found.append(Line(id_, tuple(turns), text, time, score, origin, hit, via))
    return found


def _via(step: Mapping[str, Any]) -> str:
    if "seed" not in step:
        return "by expansion"
    return f"from {step['seed']} by {step.get('via', '?')}"


def _shown(lines: Sequence[Line]) -> list[Line]:
    """Those with evidence, and the best of the others."""
    kept, others = [], 0
    for line in lines:
        others += not line.evidence
        if line.evidence or others <= SHOWN:
            kept.append(line)
    return kept


def _missed(record: Record, lines: Sequence[Line] | None, texts: Texts | None) -> list[Line]:
    if lines is None:
        return []
    found = {turn for line in lines for turn in line.turns}
    missed = []
    for turn in dict.fromkeys(record["evidence"]):
        if turn not in found:
            told = texts.turn(record["conversation"], turn) if texts else None
            text, time = told or (None, None)
            missed.append(Line(turn, (turn,), text, time, None, "missed", evidence=True))
    return missed
