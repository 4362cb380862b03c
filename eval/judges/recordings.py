"""Answers that came with verdicts: files of answers, and run folders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.answers.columns import AnswerRow
from eval.answers.files import read_answers
from eval.answers.values import verdict
from eval.records.jsonl import RECORDS, read_lines
from memsys.errors import InputError

_RUNS = "judgments"  # a list of verdicts, one a run of the judge


@dataclass(frozen=True, slots=True)
class Judged:
    """An answer and the verdicts that were given on it, one a run; none if nobody judged it.

    `category` is the label that the file gives to the question's type.
    """

    conversation: str
    category: str | None
    question: str
    gold: str
    answer: str
    verdicts: tuple[bool, ...]


def read_judged(path: Path) -> list[Judged]:
    """The answered questions with a gold of a file of answers or a run folder, in order.

    Raises InputError where it cannot be read (docs/bring-your-own-answers.md has the formats), or a
    row has a verdict but no question or no gold.
    """
    return list(_of_run(path) if path.is_dir() else _of_file(path))


def _of_run(folder: Path) -> Iterator[Judged]:
    if not (folder / RECORDS).is_file():
        raise InputError(f"{folder}: holds no {RECORDS}; name a run folder or a file of answers")
    for number, record in enumerate(read_lines(folder / RECORDS), 1):
        try:
            if record["status"] != "ok" or record["gold"] is None:
                continue
            passed = record["scores"].get("judge")
            yield Judged(
                record["conversation"],
                str(record["category"]),
                record["question"],
                record["gold"],
                record["answer"],
                () if passed is None else (passed > 0.5,),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"{folder / RECORDS}: line {number} is no record ({error}); docs/records.md lists "
                "the fields"
            ) from error


def _of_file(path: Path) -> Iterator[Judged]:
    file = read_answers(path)
    for row, item in zip(file.rows, file.items, strict=True):
        verdicts = _verdicts(row, item.fields, f"{path}: {row.place}")
        if row.question is None or row.gold is None:
            if not verdicts:
                continue  # type 5 has no gold
            raise InputError(
                f"{path}: {row.place}: a verdict without question or gold; give every judged row "
                "both"
            )
        if row.error is None:
            yield Judged(
                row.conversation, row.category, row.question, row.gold, row.answer, verdicts
            )


def _verdicts(row: AnswerRow, fields: Mapping[str, Any], place: str) -> tuple[bool, ...]:
    """Of each run where the row lists them, else its one verdict; none where it has none."""
    given = fields.get(_RUNS)
    if isinstance(given, list) and given:
        runs = [verdict(one, place, _RUNS) for one in given]
        if None not in runs:
            return tuple(one is not None and one > 0.5 for one in runs)
        raise InputError(f"{place}: {_RUNS} holds a blank; give a verdict for each run")
    return () if row.judge is None else (row.judge > 0.5,)
