"""The answers behind a card, from a run, its records or any file that memsys rescore reads."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from eval.answers.files import AnswerRow
from eval.answers.layout import Layout
from eval.cards.card.schema import ANSWERS, Card, CardFile
from eval.datasets.types import Dataset, Question, SourceFile
from eval.imports.rescore.imports import read_import, record
from eval.records.jsonl import json_line, validate
from eval.records.run import Run, error_of, load_run
from eval.records.schema import RECORD, RECORD_DEFAULTS, Record
from eval.summary.imported import IMPORTED, system_name
from memsys.core.errors import InputError
from memsys.core.files import ANSWERS as MOST
from memsys.core.files import GZIP, check_regular, read_bytes, read_text, shown
from memsys.core.json_text import parse_json
from memsys.core.places import RECORDS

_LINE = 1 << 22  # bytes of a record at most, for telling records from other JSON lines


@dataclass(frozen=True)
class Answers:
    """Answers by question id, with the verdicts that were given on them by the gold answer judged.

    `file`: where they are from; None for those of a run. `read`: numbers of `rows` and `unmatched`
    ones in it, if it was matched. `run`: the run that contains them, if it is known.
    """

    file: SourceFile | None
    rows: Mapping[str, AnswerRow]
    verdicts: Mapping[str, Mapping[str | None, float | None]]
    read: Mapping[str, int]
    run: Run | None = None

    def verdict(self, question: Question) -> float | None:
        """Return the verdict on the answer to `question`, under its answer key."""
        return self.verdicts.get(question.id, {}).get(question.gold)

    def records(self, questions: Iterable[Question]) -> list[Record]:
        """Return the scored records of the answered ones among `questions`, in their order."""
        return [record(one, self.rows[one.id]) for one in questions if one.id in self.rows]

    def sha256(self, questions: Iterable[Question]) -> str:
        """Return the hash of id and answer of the answered ones among `questions`, in order."""
        rows = ((one.id, self.rows[one.id]) for one in questions if one.id in self.rows)
        return rows_sha256(
            [id_, None if row.error is not None else row.answer.strip()] for id_, row in rows
        )

    def card_file(self, questions: Iterable[Question]) -> CardFile:
        """Return the entry of a card. Raises ValueError without a file."""
        if self.file is None:
            raise ValueError("answers of no file")
        return file_entry(ANSWERS, self.file, self.sha256(questions))


def file_entry(role: str, file: SourceFile, rows: str | None = None) -> CardFile:
    """Return the entry of a card for a file that was read."""
    return CardFile.model_validate(
        {
            "role": role,
            "name": file.name,
            "bytes": file.bytes,
            "sha256": file.sha256,
            "rows_sha256": rows,
        }
    )


def rows_sha256(rows: Iterable[Sequence[object]]) -> str:
    """Return the sha256 in hex of `rows` as JSON lines."""
    found = hashlib.sha256()
    for row in rows:
        found.update(json_line(cast(Mapping[str, object], row)).encode())
    return found.hexdigest()


def source_of(path: Path, *, linked: bool = True) -> SourceFile:
    """Return name, size and hash of the file at `path`; `linked`: as in open_entry."""
    data = read_bytes(path, MOST, linked=linked)
    return SourceFile(path.name, len(data), hashlib.sha256(data).hexdigest())


def read_any(
    path: Path, dataset: Dataset, card: Card | None = None, layout: Layout | None = None
) -> Answers:
    """Return the answers in a run folder, in its records, or in a file that memsys rescore reads.

    `card`: the file of this card is read as it says. `layout`: how to read another one, None to
    find out. Raises InputError if they cannot be read, or none is of a question of `dataset`.
    """
    if path.is_dir() and (path / "manifest.json").is_file():
        run = load_run(path, answered=False)
        return of_run(run, source_of(path / RECORDS, linked=False))
    if not path.is_dir() and _has_records(path):
        found = of_records(_records(path).values(), source_of(path))
        known = {question.id for question in dataset.questions}
        if not found.rows.keys() & known:
            raise InputError(
                f"{shown(path)}: none of its records is of a question of {dataset.name}; correct "
                "--dataset"
            )
        return found
    if layout is None and card is not None and card.reading is not None and _is_of(card, path):
        columns = {name: tuple(given) for name, given in card.reading.columns.items()}
        layout = Layout(rows=card.reading.rows, columns=columns, whole=True)
    name = system_name(None, path)
    source = read_import(path, layout, name, dataset, partial=True, as_written=True)
    rows, unmatched = len(source.file.rows), len(source.matching.unmatched)
    changed = {one.id for one in dataset.questions if one.key_change is not None}
    golds = {question.id: question.gold for question in dataset.questions}
    verdicts = {  # they were given on the original gold answers
        id_: {golds[id_]: row.judge}
        for id_, row in source.matching.answers.items()
        if row.judge is not None and id_ not in changed
    }
    read = {"rows": rows, "unmatched": unmatched}
    return Answers(source.file.source, source.matching.answers, verdicts, read)


def _is_of(card: Card, path: Path) -> bool:
    """Return whether the file at `path` is that of the card, or a folder."""
    return path.is_dir() or source_of(path).sha256 in {
        file.sha256 for file in card.of_role(ANSWERS)
    }


def of_run(run: Run, file: SourceFile | None) -> Answers:
    """Return the answers of a run, from its records; those that were imported are from `file`."""
    found = of_records(run.records.values(), file)
    account = run.manifest.get("matching") or {}
    read = {}
    if run.manifest.get("kind") == IMPORTED and "unmatched" in account and "rows" in account:
        read = {name: int(account[name]) for name in ("rows", "unmatched")}
    return Answers(file, found.rows, found.verdicts, read, run)


def of_records(records: Iterable[Record], file: SourceFile | None) -> Answers:
    """Return the answers in `records`. A question that nobody was asked to answer has no row."""
    rows, verdicts = {}, {}
    for one in records:
        failed = one["status"] != "ok"
        if one["answer"] is None and not failed:
            continue
        rows[one["id"]] = AnswerRow(
            place=one["id"],
            conversation=one["conversation"],
            index=None,
            question=one["question"],
            answer=one["answer"] or "",
            error=(error_of(one) or "no message") if failed else None,
            context_tokens=one["context_tokens"],
        )
        verdicts[one["id"]] = _verdicts(one)
    if all(row.error is not None for row in rows.values()):
        rows = {}  # nobody answered
    return Answers(file, rows, verdicts, {})


def _verdicts(one: Record) -> dict[str | None, float | None]:
    key, verdict = one["key"], one["scores"].get("judge")
    if key is None:
        return {one["gold"]: verdict}
    original = (one.get("scores_original") or {}).get("judge")
    return {key["original_gold"]: original, one["gold"]: verdict}


def _records(path: Path) -> dict[str, Record]:
    found: dict[str, Record] = {}
    for number, line in enumerate(read_text(path, MOST).splitlines(), 1):
        where = f"{shown(path)}: line {number}"
        validate(RECORD, line, where)
        row = cast(Record, {**RECORD_DEFAULTS, **parse_json(line)})
        found[row["id"]] = row
    return found


def _has_records(path: Path) -> bool:
    """Return whether the first line of the file is a record of a run."""
    check_regular(path)
    with path.open("rb") as file:
        packed = file.read(len(GZIP)) == GZIP
    line = b""
    # What is damaged, the reader of answers names.
    with suppress(OSError, EOFError), gzip.open(path) if packed else path.open("rb") as file:
        line = file.readline(_LINE)
    try:
        first = parse_json(line)
    except ValueError:
        return False
    return isinstance(first, dict) and {"id", "status", "scores", "retrieved"} <= first.keys()
