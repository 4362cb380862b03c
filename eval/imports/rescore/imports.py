"""Import a file of answers into a run folder that all commands read like any other run."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, cast

from tqdm import tqdm

from eval.answers.files import (
    AS_REPORTED,
    AnswerFile,
    UnclearColumnsError,
    doubtful_answers,
    read_answers,
)
from eval.answers.layout import PLUS, Layout
from eval.answers.match import REPEATED, UNCLEAR, AnswerRow, Matching, match
from eval.datasets.types import Dataset, Question
from eval.imports.account import Account
from eval.imports.rescore.account import account, labels_table
from eval.metrics.abstention import abstains
from eval.records.schema import Manifest, Record, Summary
from eval.records.scoring import score_record
from eval.rendering.tables import report_md
from eval.rendering.terminal import markdown
from eval.summary import closing
from memsys.core.tokens import count_tokens

_FOUND = 0.95  # share of rows that match if the columns were found without help
_NAMED = 0.5  # and if the user has named some
Options = Mapping[str, str | Sequence[str]]


@dataclass(frozen=True, slots=True)
class Import:
    """A file of answers, matched and ready to be scored."""

    path: Path
    name: str
    file: AnswerFile
    dataset: Dataset
    matching: Matching


def read_import(
    path: Path,
    layout: Layout | None,
    name: str,
    dataset: Dataset,
    *,
    partial: bool = False,
    as_written: bool = False,
) -> Import:
    """Read and match the file at `path`; `name` is the answering system's name in tables.

    `layout`: how to read it, None to find out. `partial`: accept a file of which most rows match no
    question. `as_written`: accept answers that seem to be none, and indices that seem to count
    from 1. Raises InputError if the file cannot be read, UnclearColumnsError if few rows match or
    for what `as_written` accepts.
    """
    file = read_answers(path, dataset, layout)
    matching = match(file.rows, dataset)
    matched, rows = len(matching.answers), len(file.rows)
    needed = 0.0 if partial else _FOUND if layout is None else _NAMED
    if not matched:
        row, reason = matching.unmatched[0]
        doubt: str | None = (
            f"none of the {rows:,} rows matches a question of {dataset.name} (the first: "
            f"{row.place}: {reason}); correct --dataset, or name the columns by --columns"
        )
    elif matched < needed * rows:
        reasons = Counter(reason for _, reason in matching.unmatched).most_common()
        listed = ", ".join(f"{reason}: {count:,}" for reason, count in reasons)
        remedy = (
            "give each question one answer, or name one list by --rows PATH"
            if reasons[0][0] == REPEATED
            else "correct --dataset, name the columns or the list by --columns question=COLUMN "
            "answer=COLUMN or --rows PATH"
        )
        doubt = (
            f"only {matched:,} of {rows:,} rows give an answer to a question of {dataset.name} "
            f"({listed}), and {needed:.0%} are needed; {remedy}, or add --partial to score those "
            "that match"
        )
    elif as_written:
        doubt = None
    else:
        unclear = UNCLEAR if matching.first is None else None
        doubt = unclear or doubtful_answers(list(matching.answers.values()))
    if doubt is not None:
        raise UnclearColumnsError(f"{path}: {doubt}", file.proposal)
    return Import(path, name, file, dataset, matching)


def write_import(source: Import, folder: Path, options: Options) -> Summary:
    """Score the matched answers, write the run folder and return its summary.

    `options`: those of the command line, for the manifest. Raises InputError if the folder is not
    empty.
    """
    began = perf_counter()
    closing.check_empty(folder, "--out")
    answers = source.matching.answers
    asked = [question for question in source.dataset.questions if question.id in answers]
    bar = tqdm(asked, desc=source.name, unit="answer", disable=None)
    records = [record(question, answers[question.id]) for question in bar]
    scored = perf_counter() - began
    matched = account(source.file, source.matching, source.dataset, records)
    manifest = _manifest(source, options, matched)
    summary = closing.write_imported(
        folder, manifest, records, {"score": scored}, report_md, option="--out"
    )
    add_account(folder, manifest)
    return summary


def add_account(folder: Path, manifest: Manifest) -> None:
    """Append the account of the imported rows to report.md."""
    counts = manifest["matching"]
    table = labels_table(counts, markdown)
    closing.add_sentences(folder, counts["sentences"], *([] if table is None else [table]))


def _manifest(source: Import, options: Options, matched: Account) -> Manifest:
    file = source.file
    imported: dict[str, Any] = {
        "file": asdict(file.source),
        "rows": file.proposal.rows.path,
        "columns": {name: PLUS.join(columns) for name, columns in file.proposal.columns.items()},
    }
    if len(file.sources) > 1:
        imported["files"] = [asdict(part) for part in file.sources]
    flags = [
        part
        for option, value in options.items()
        for part in (f"--{option}", *([value] if isinstance(value, str) else value))
    ]
    manifest = closing.describe_import(
        source.name,
        source.dataset,
        {"dataset": {"name": source.dataset.name}, "import": imported},
        ["eval", "rescore", str(source.path), *flags],
        {"import": imported, **matched.fields()},
    )
    manifest["models"]["judge"] = AS_REPORTED if matched.counts["told"]["verdicts"] else None
    runs = {
        tuple((name, len(verdicts)) for name, verdicts in row.verdicts.items())
        for row in source.matching.answers.values()
        if row.verdicts and row.error is None
    }
    if len(runs) == 1:  # statistics of a judge need the same runs of every answer
        manifest["judge"] = {"name": AS_REPORTED, "score": "judge"}
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
        **closing.unanswered(question),
        "status": "error" if failed else "ok",
        "error": error if failed else None,
        "answer": None if failed else row.answer,
        "abstained": None if failed else abstains(row.answer),
        "context_tokens": row.context_tokens,
        "answer_tokens": None if failed else count_tokens(row.answer),
        "judge": None
        if failed or not row.verdicts
        else {name: list(runs) for name, runs in row.verdicts.items()},
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
    seconds = [part for part in parts if part is not None]
    total = row.total_seconds
    if total is None and len(seconds) == len(parts):
        total = sum(seconds)
    named = {"retrieve": row.search_seconds, "answer": row.answer_seconds, "total": total}
    return {name: None if s is None else round(s * 1000, 4) for name, s in named.items()}
