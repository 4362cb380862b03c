"""Scores by question of a pinned run that called a model, and a new run paired with them.

The rule of the pairs is that of `python -m eval compare`; see docs/statistics.md. The scores are
stored as CSV without the text of questions and answers, so that the file may be published where the
texts may not.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, TypeAdapter
from typing_extensions import TypedDict

from eval.datasets.files import check_there
from eval.metrics.registry import pinned
from eval.metrics.stats.interval import Interval
from eval.records.answer_key_views import left_out
from eval.records.comma_separated import read_cell, write_rows
from eval.records.run import error_of
from eval.records.schema import Record
from eval.summary.contrast import NOT_SHOWN, Contrast, Row, contrast
from eval.summary.measures import ABSTAINED, ADVERSARIAL, F1, JUDGE, Measure, Shared, value
from eval.summary.summarise import OVERALL
from memsys.core.errors import InputError, problems
from memsys.core.files import read_text

COLUMNS = (F1, *pinned(), ABSTAINED, JUDGE)
_HEADER = ("question", "conversation", "type", "status", *COLUMNS)
_DIGITS = 6
_NEAR = 1e-4  # of a mean to its cell, which is rounded to four digits
_SHOWN = 3  # question ids in a reason
_SEED = 0


class _Line(TypedDict):
    status: Literal["ok", "error"]
    scores: dict[str, Annotated[float, Field(ge=0, le=1)] | None]


_LINE = TypeAdapter(_Line)


@dataclass(frozen=True, slots=True)
class Scored:
    """A question's scores by COLUMNS, 0 to 1 with six digits, None where one does not apply.

    `failed`: the error of a failed question, else empty; a file stores only that it failed.
    """

    conversation: str
    type: str
    scores: Mapping[str, float | None]
    failed: str = ""


Questions = Mapping[str, Scored]  # by question id, in the data set's order


def of_records(records: Sequence[Record], f1: str) -> dict[str, Scored]:
    """Return the scores of records, without questions that the answer key excludes.

    `f1`: name of the run's main F1.
    """
    questions = {}
    for record in records:
        if not left_out(record):
            scores = {name: value(record, f1 if name == F1 else name) for name in COLUMNS}
            rounded = {
                name: None if score is None else float(f"{score:.{_DIGITS}g}")
                for name, score in scores.items()
            }
            conversation, type_ = record["conversation"], record["type"]
            questions[record["id"]] = Scored(conversation, type_, rounded, error_of(record))
    return questions


def of_type(questions: Questions, type_: str) -> dict[str, Scored]:
    """Return the questions of `type_`; overall is every type but adversarial."""
    return {
        id_: question
        for id_, question in questions.items()
        if question.type == type_ or (type_ == OVERALL and question.type != ADVERSARIAL)
    }


def write(path: Path, questions: Questions) -> None:
    """Write `questions` to `path`, one line each."""
    rows = []
    for id_, question in questions.items():
        scores = [question.scores[name] for name in COLUMNS]
        cells = ["" if score is None else f"{score:g}" for score in scores]
        status = "error" if question.failed else "ok"
        rows.append([id_, question.conversation, question.type, status, *cells])
    with path.open("w", encoding="utf-8", newline="") as file:
        write_rows(file, [_HEADER, *rows])


def read(path: Path) -> dict[str, Scored]:
    """Read a file of `write`; raises InputError naming file, line and column."""
    check_there(path, '--repin "reason" writes it')
    rows = csv.reader(io.StringIO(read_text(path)))
    if tuple(next(rows, ())) != _HEADER:
        raise InputError(f"{path}: line 1: must be {','.join(_HEADER)}")
    questions: dict[str, Scored] = {}
    for number, row in enumerate(rows, 2):
        where = f"{path}: line {number}"
        if len(row) != len(_HEADER):
            raise InputError(f"{where}: {len(row)} columns, not {len(_HEADER)}")
        id_, conversation, type_, status, *cells = map(read_cell, row)
        if id_ in questions:
            raise InputError(f"{where}: {id_} occurs twice")
        given = dict(zip(COLUMNS, cells, strict=True))
        with problems(where, f"; the line has {status!r} and {cells}"):
            scores = {name: cell or None for name, cell in given.items()}
            line = _LINE.validate_python({"status": status, "scores": scores})
        questions[id_] = Scored(
            conversation, type_, line["scores"], "" if status == "ok" else "when pinned"
        )
    return questions


def misfit(questions: Questions, cells: Mapping[str, Mapping[str, float | None]]) -> str | None:
    """Return the first mean of `questions` that differs from `cells`, in words, or None."""
    for type_, cell in cells.items():
        group = of_type(questions, type_).values()
        if len(group) != cell["n"]:
            return f"{type_}: {len(group)} questions, {cell['n']:g} in the pin"
        for name in COLUMNS:
            scores = [score for question in group if (score := question.scores[name]) is not None]
            mean, expected = sum(scores) / len(scores) if scores else None, cell.get(name)
            if (mean is None) != (expected is None) or (
                mean is not None and expected is not None and abs(mean - expected) > _NEAR
            ):
                return f"{type_}: {name} is {mean} by question, {expected} in the pin"
    return None


def pair(expected: Questions, actual: Questions) -> list[Row]:
    """Return a contrast of every score and type that both sides have, in the order of COLUMNS: the
    mean expected, the mean found, and the latter minus the former.

    p is adjusted over all scores that moved; of the others the difference is 0.
    """
    shared = {
        (score, type_): both
        for score in COLUMNS
        for type_ in _types(expected)
        if (both := _shared(expected, actual, score, type_)).ids
    }
    moved = [key for key, both in shared.items() if (both.scores[0] != both.scores[1]).any()]
    rows = contrast([(Measure(key[0], (key[1],)), shared[key]) for key in moved], _SEED)
    judged = {key: row for key, (row,) in zip(moved, rows, strict=True)}
    return [judged.get(key) or _equal(*key, both) for key, both in shared.items()]


def _equal(score: str, type_: str, both: Shared) -> Row:
    n, clusters, value = len(both.ids), len({*both.conversations}), float(both.scores[0].mean())
    mean, none = (Interval(at, at, at, 0.0, n, clusters) for at in (value, 0.0))
    same = Contrast(none, 1.0, 1.0, None, 0.0, 0.0, NOT_SHOWN)
    return Row(score, type_, n, clusters, (mean, mean), (same,))


def unlike(expected: Questions, actual: Questions) -> list[str]:
    """Return the differences in questions and in available scores, one sentence each."""
    reasons = [
        _reason([id_ for id_ in expected if id_ not in actual], "of the pin not asked"),
        _reason([id_ for id_ in actual if id_ not in expected], "not in the pin"),
    ]
    both = [(id_, expected[id_], actual[id_]) for id_ in expected if id_ in actual]
    failed = [id_ for id_, old, new in both if new.failed and not old.failed]
    why = f"; the first in {actual[failed[0]].failed}" if failed else ""
    reasons.append(_reason(failed, "failed that did not when pinned", why))
    answered = [row for row in both if not row[1].failed and not row[2].failed]
    for score in COLUMNS:
        pairs = [(i, old.scores[score], new.scores[score]) for i, old, new in answered]
        lone = [i for i, old, new in pairs if (old is None) != (new is None)]
        reasons.append(_reason(lone, f"with {score} on one side only"))
    retyped = [i for i, old, new in both if old.type != new.type]
    reasons.append(_reason(retyped, "of another type now"))
    return [reason for reason in reasons if reason]


def _types(questions: Questions) -> list[str]:
    """Return the types, then overall, unless it would repeat the only type."""
    types = list(dict.fromkeys(question.type for question in questions.values()))
    return [*types, OVERALL] if len([kind for kind in types if kind != ADVERSARIAL]) > 1 else types


def _shared(expected: Questions, actual: Questions, score: str, type_: str) -> Shared:
    """Return the questions of `type_` that have `score` on both sides."""
    ids, clusters, scores = [], [], []
    for id_, question in of_type(expected, type_).items():
        both = (question.scores[score], actual[id_].scores[score] if id_ in actual else None)
        if None not in both:
            ids.append(id_)
            clusters.append(question.conversation)
            scores.append(both)
    types = np.full(len(ids), type_)
    values = np.array(scores, dtype=np.float64).reshape(-1, 2).T
    return Shared(tuple(ids), types, np.array(clusters, dtype=np.str_), values, (), {})


def _reason(ids: Sequence[str], what: str, more: str = "") -> str:
    if not ids:
        return ""
    first = ", ".join(ids[:_SHOWN]) + (", ..." if len(ids) > _SHOWN else "")
    return f"{len(ids)} question{'' if len(ids) == 1 else 's'} {what} ({first}){more}"
