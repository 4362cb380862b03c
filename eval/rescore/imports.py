"""Import a file of answers into a run folder that all commands read like any other run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, cast

from tqdm import tqdm

from eval.answers.files import AnswerFile, AnswerRow, read_answers
from eval.answers.layouts import LAYOUTS
from eval.answers.match import Matching, match
from eval.datasets.types import Dataset, Question
from eval.metrics.abstention import abstains
from eval.records.schema import Manifest, Record, Summary
from eval.rendering.run_tables import report_md
from eval.rendering.tables import markdown
from eval.rescore.account import account
from eval.rescore.tables import labels_table, sentences, warnings
from eval.summary.imported import (
    add_sentences,
    check_empty,
    describe_import,
    unanswered,
    write_imported,
)
from eval.summary.scoring import score_record
from memsys.errors import InputError
from memsys.text.tokens import count_tokens

AS_REPORTED = "as reported"  # source of a verdict or latency that the file contains


@dataclass(frozen=True, slots=True)
class Import:
    """A file of answers, matched and ready to be scored."""

    path: Path
    name: str
    file: AnswerFile
    dataset: Dataset
    matching: Matching


def read_import(path: Path, layout: str, name: str, dataset: Dataset) -> Import:
    """Read and match the file at `path`; `name` is the answering system's name in tables.

    Raises InputError if the file cannot be read or none of its rows matches a question.
    """
    file = read_answers(path, layout)
    matching = match(file.rows, dataset)
    if not matching.answers:
        row, reason = matching.unmatched[0]
        raise InputError(
            f"{path}: none of the {len(file.rows):,} rows matches a question of {dataset.name} "
            f"(the first: {row.place}: {reason}); correct "
            "--dataset, or leave out qa_index to match by question"
        )
    return Import(path, name, file, dataset, matching)


def write_import(source: Import, folder: Path, options: Mapping[str, str]) -> Summary:
    """Score the matched answers, write the run folder and return its summary.

    `options`: those of the command line, for the manifest. Raises InputError if the folder is not
    empty.
    """
    began = perf_counter()
    check_empty(folder, "--out")
    answers = source.matching.answers
    asked = [question for question in source.dataset.questions if question.id in answers]
    bar = tqdm(asked, desc=source.name, unit="answer", disable=None)
    records = [record(question, answers[question.id]) for question in bar]
    scored = perf_counter() - began
    counts = account(source.file, source.matching, source.dataset, records)
    manifest = _manifest(source, options, counts)
    summary = write_imported(
        folder, manifest, records, {"score": scored}, report_md, option="--out"
    )
    add_account(folder, manifest)
    return summary


def add_account(folder: Path, manifest: Manifest) -> None:
    """Append the account of the imported rows to report.md."""
    counts = manifest["matching"]
    table = labels_table(counts, markdown)
    add_sentences(folder, sentences(counts), *([] if table is None else [table]))


def _manifest(source: Import, options: Mapping[str, str], counts: Mapping[str, Any]) -> Manifest:
    file = source.file
    imported = {
        "file": asdict(file.source),
        "format": file.format,
        "columns": dict(file.columns),
    }
    flags = [part for option, value in options.items() for part in (f"--{option}", value)]
    manifest = describe_import(
        source.name,
        source.dataset,
        {"dataset": {"name": source.dataset.name}, "import": imported},
        ["eval.rescore", str(source.path), *flags],
        {
            "import": {**imported, "format_name": LAYOUTS[file.format]},
            "matching": dict(counts),
            "warnings": warnings(counts),
        },
    )
    manifest["models"]["judge"] = AS_REPORTED if counts["told"]["verdicts"] else None
    return manifest


def record(question: Question, row: AnswerRow) -> Record:
    """Return the record of `question` answered by `row`; unknown fields are null.

    Category and gold are the official ones, under the question's answer key. A row with an error
    has no answer and no score.
    """
    failed = row.error is not None
    error = {"phase": "answer", "kind": AS_REPORTED, "message": row.error}
    latency = _latency(row)
    fields = {
        **unanswered(question),
        "status": "error" if failed else "ok",
        "error": error if failed else None,
        "answer": None if failed else row.answer,
        "abstained": None if failed else abstains(row.answer),
        "context_tokens": row.context_tokens,
        "answer_tokens": None if failed else count_tokens(row.answer),
        "judge_source": None if failed or row.judge is None else AS_REPORTED,
        "latency_ms": latency,
        "latency_source": AS_REPORTED if any(ms is not None for ms in latency.values()) else None,
        "source": row.place,
        "source_category": row.category,
    }
    unscored = cast(Record, fields)
    return cast(Record, fields | score_record(unscored, row.judge))


def _latency(row: AnswerRow) -> dict[str, float | None]:
    """Return milliseconds by phase; a missing total is the sum of both parts if both are known."""
    parts = (row.search_seconds, row.answer_seconds)
    known = [part for part in parts if part is not None]
    total = row.total_seconds
    if total is None and len(known) == len(parts):
        total = sum(known)
    named = {"retrieve": row.search_seconds, "answer": row.answer_seconds, "total": total}
    return {name: None if s is None else round(s * 1000, 4) for name, s in named.items()}
