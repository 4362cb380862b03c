"""Scores by question of a pinned run that called a model: what a new run is paired with.

A CSV file without a word of a question or an answer, so that it may be kept where these may not.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.metrics.registry import pinned
from eval.records.answer_key_views import left_out
from eval.records.run import error_of
from eval.records.schema import Record
from eval.summary.measures import ABSTAINED, ADVERSARIAL, F1, JUDGE, value
from eval.summary.summarise import OVERALL
from memsys.errors import InputError

COLUMNS = (F1, *pinned(), ABSTAINED, JUDGE)
_HEADER = ("question", "conversation", "type", "status", *COLUMNS)
_DIGITS = 6
_NEAR = 1e-4  # of a mean to its cell, which is rounded to four digits


@dataclass(frozen=True, slots=True)
class Scored:
    """A question's scores by COLUMNS, 0 to 1 and to six digits, None where one does not apply.

    `failed`: why there is no answer, empty where there is one; a file keeps only that it failed.
    """

    conversation: str
    type: str
    scores: Mapping[str, float | None]
    failed: str = ""


Questions = Mapping[str, Scored]  # by question id, in the data set's order


def of_records(records: Sequence[Record], f1: str) -> dict[str, Scored]:
    """What `records` scored; `f1`: the key of the F1 that counts. What the answer key leaves out is
    left out here too.
    """
    return {
        record["id"]: Scored(
            record["conversation"],
            record["type"],
            {name: _rounded(value(record, f1 if name == F1 else name)) for name in COLUMNS},
            error_of(record),
        )
        for record in records
        if not left_out(record)
    }


def of_type(questions: Questions, type_: str) -> dict[str, Scored]:
    """Those of `type_`; overall is every type but adversarial."""
    return {
        id_: one
        for id_, one in questions.items()
        if one.type == type_ or (type_ == OVERALL and one.type != ADVERSARIAL)
    }


def write(path: Path, questions: Questions) -> None:
    """Write `questions` to `path`, a line each."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_HEADER)
    for id_, one in questions.items():
        scores = ["" if one.scores[name] is None else f"{one.scores[name]:g}" for name in COLUMNS]
        status = "error" if one.failed else "ok"
        writer.writerow([id_, one.conversation, one.type, status, *scores])
    path.write_text(text.getvalue(), encoding="utf-8")


def read(path: Path) -> dict[str, Scored]:
    """What `write` wrote. Raises InputError naming file, line and column."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(
            f'{path}: cannot be read: {error.strerror}; --repin "reason" writes it'
        ) from error
    rows = csv.reader(io.StringIO(text))
    if tuple(next(rows, ())) != _HEADER:
        raise InputError(f"{path}: line 1: must be {','.join(_HEADER)}")
    found: dict[str, Scored] = {}
    for number, row in enumerate(rows, 2):
        if len(row) != len(_HEADER):
            raise InputError(f"{path}: line {number}: {len(row)} columns, not {len(_HEADER)}")
        id_, conversation, type_, status, *cells = row
        if id_ in found:
            raise InputError(f"{path}: line {number}: {id_} stands there twice")
        if status not in ("ok", "error"):
            raise InputError(f"{path}: line {number}: status {status!r}; use ok or error")
        scores = {
            name: _number(cell, f"{path}: line {number}: {name}")
            for name, cell in zip(COLUMNS, cells, strict=True)
        }
        found[id_] = Scored(conversation, type_, scores, "" if status == "ok" else "when pinned")
    return found


def misfit(questions: Questions, cells: Mapping[str, Mapping[str, float | None]]) -> str | None:
    """Where the means of `questions` are not those of `cells`: one file is of another run."""
    for type_, cell in cells.items():
        own = of_type(questions, type_).values()
        if len(own) != cell["n"]:
            return f"{type_}: {len(own)} questions, {cell['n']} in the pin"
        for name in COLUMNS:
            known = [score for one in own if (score := one.scores[name]) is not None]
            mean, pinned = sum(known) / len(known) if known else None, cell.get(name)
            if (mean is None) != (pinned is None) or (
                mean is not None and pinned is not None and abs(mean - pinned) > _NEAR
            ):
                return f"{type_}: {name} is {mean} by question, {pinned} in the pin"
    return None


def _rounded(score: float | None) -> float | None:
    return None if score is None else float(f"{score:.{_DIGITS}g}")


def _number(cell: str, where: str) -> float | None:
    if not cell:
        return None
    try:
        number = float(cell)
    except ValueError as error:
        raise InputError(f"{where}: {cell!r} is no number") from error
    if not 0 <= number <= 1:
        raise InputError(f"{where}: {cell} is not between 0 and 1")
    return number
