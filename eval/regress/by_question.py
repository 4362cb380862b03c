"""Scores by question of a pinned run that called a model; a new run is paired with them.

They are stored as CSV without the text of questions and answers, so that the file may be published
where the texts may not.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from eval.metrics.registry import pinned
from eval.records.answer_key_views import left_out
from eval.records.comma_separated import read_cell, write_rows
from eval.records.run import error_of
from eval.records.schema import Record
from eval.summary.measures import ABSTAINED, ADVERSARIAL, F1, JUDGE, value
from eval.summary.summarise import OVERALL
from memsys.core.errors import InputError, first_problem
from memsys.core.files import is_there, read_text

COLUMNS = (F1, *pinned(), ABSTAINED, JUDGE)
_HEADER = ("question", "conversation", "type", "status", *COLUMNS)
_SCORES = TypeAdapter(dict[str, Annotated[float, Field(ge=0, le=1)] | None])
_DIGITS = 6
_NEAR = 1e-4  # of a mean to its cell, which is rounded to four digits


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
    found = {}
    for record in records:
        if not left_out(record):
            scores = {name: value(record, f1 if name == F1 else name) for name in COLUMNS}
            rounded = {
                name: None if score is None else float(f"{score:.{_DIGITS}g}")
                for name, score in scores.items()
            }
            conversation, type_ = record["conversation"], record["type"]
            found[record["id"]] = Scored(conversation, type_, rounded, error_of(record))
    return found


def of_type(questions: Questions, type_: str) -> dict[str, Scored]:
    """Return the questions of `type_`; overall is every type but adversarial."""
    return {
        id_: one
        for id_, one in questions.items()
        if one.type == type_ or (type_ == OVERALL and one.type != ADVERSARIAL)
    }


def write(path: Path, questions: Questions) -> None:
    """Write `questions` to `path`, one line each."""
    rows = []
    for id_, one in questions.items():
        scores = [one.scores[name] for name in COLUMNS]
        cells = ["" if score is None else f"{score:g}" for score in scores]
        rows.append([id_, one.conversation, one.type, "error" if one.failed else "ok", *cells])
    with path.open("w", encoding="utf-8", newline="") as file:
        write_rows(file, [_HEADER, *rows])


def read(path: Path) -> dict[str, Scored]:
    """Read a file of `write`; raises InputError naming file, line and column."""
    if not is_there(path):
        raise InputError(f'{path}: cannot be read: no such file; --repin "reason" writes it')
    rows = csv.reader(io.StringIO(read_text(path)))
    if tuple(next(rows, ())) != _HEADER:
        raise InputError(f"{path}: line 1: must be {','.join(_HEADER)}")
    found: dict[str, Scored] = {}
    for number, row in enumerate(rows, 2):
        where = f"{path}: line {number}"
        if len(row) != len(_HEADER):
            raise InputError(f"{where}: {len(row)} columns, not {len(_HEADER)}")
        id_, conversation, type_, status, *cells = map(read_cell, row)
        if id_ in found:
            raise InputError(f"{where}: {id_} occurs twice")
        if status not in ("ok", "error"):
            raise InputError(f"{where}: status {status!r}; use ok or error")
        named = dict(zip(COLUMNS, cells, strict=True))
        try:
            scores = _SCORES.validate_python({name: cell or None for name, cell in named.items()})
        except ValidationError as error:
            raise InputError(f"{where}: {first_problem(error)}, not {cells}") from error
        found[id_] = Scored(conversation, type_, scores, "" if status == "ok" else "when pinned")
    return found


def misfit(questions: Questions, cells: Mapping[str, Mapping[str, float | None]]) -> str | None:
    """Return the first mean of `questions` that differs from `cells`, in words, or None."""
    for type_, cell in cells.items():
        chosen = of_type(questions, type_).values()
        if len(chosen) != cell["n"]:
            return f"{type_}: {len(chosen)} questions, {cell['n']:g} in the pin"
        for name in COLUMNS:
            known = [score for one in chosen if (score := one.scores[name]) is not None]
            mean, expected = sum(known) / len(known) if known else None, cell.get(name)
            if (mean is None) != (expected is None) or (
                mean is not None and expected is not None and abs(mean - expected) > _NEAR
            ):
                return f"{type_}: {name} is {mean} by question, {expected} in the pin"
    return None
