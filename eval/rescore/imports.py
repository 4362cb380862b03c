"""From a file of answers to a run folder that everything else reads like any run's."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, cast

from tqdm import tqdm

from eval.answers.answers import AnswerFile
from eval.answers.files import read_answers
from eval.answers.layouts import describe as describe_layout
from eval.answers.match import Matching, match
from eval.datasets.types import Dataset
from eval.metrics.protocols import PROTOCOLS
from eval.records.folder import begin, locked
from eval.records.jsonl import RECORDS, write_lines
from eval.records.manifest import NO_MODELS, describe
from eval.records.schema import Manifest, Record, Summary
from eval.rendering.run_tables import report_md
from eval.rendering.tables import markdown
from eval.rescore.account import account
from eval.rescore.records import AS_REPORTED, record
from eval.rescore.tables import labels_table, sentences, warnings
from eval.summary.closing import close
from memsys.errors import InputError

IMPORTED = "imported"
_SEED = 0  # of the bootstrap, as in conf/config.yaml


@dataclass(frozen=True, slots=True)
class Import:
    """A file of answers, matched and ready to be scored."""

    path: Path
    name: str
    file: AnswerFile
    dataset: Dataset
    matching: Matching


def read_import(path: Path, layout: str, name: str, dataset: Dataset) -> Import:
    """Read and match the file at `path`; `name` is what tables call whoever answered.

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


def write_import(found: Import, folder: Path, options: Mapping[str, str]) -> Summary:
    """Score the matched answers, write the run folder and return its summary.

    `options`: of the command line, for the manifest. Raises InputError if the folder holds
    anything already.
    """
    began = perf_counter()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder}: is there already and not empty; name another folder by --out")
    records = _records(found)
    scored = perf_counter() - began
    told = account(found.file, found.matching, found.dataset, records)
    manifest = _manifest(found, folder.name, options, told)
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        manifest = begin(folder, manifest, None)
        write_lines(folder / RECORDS, records)
        summary = close(folder, manifest, records, {"score": scored}, began, report_md)
        add_account(folder, manifest)
    return summary


def add_account(folder: Path, manifest: Manifest) -> None:
    """Add to report.md what became of the imported rows."""
    told = manifest["matching"]
    lines = ["", "## Import", "", *(f"- {line}" for line in sentences(told))]
    table = labels_table(told, markdown)
    if table is not None:
        lines += ["", table]
    with (folder / "report.md").open("a", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def _records(found: Import) -> list[Record]:
    """In the data set's order."""
    answers = found.matching.answers
    asked = [question for question in found.dataset.questions if question.id in answers]
    bar = tqdm(asked, desc=found.name, unit="answer", disable=None)
    return [record(question, answers[question.id]) for question in bar]


def _manifest(
    found: Import, run_id: str, options: Mapping[str, str], told: Mapping[str, Any]
) -> Manifest:
    file = found.file
    imported = {
        "file": {"name": file.name, "bytes": file.bytes, "sha256": file.sha256},
        "format": file.format,
        "columns": dict(file.columns),
    }
    config = {
        "dataset": {"name": found.dataset.name},
        "import": imported,
        "scoring": {"protocols": list(PROTOCOLS)},
        "seed": _SEED,
    }
    flags = [part for option, value in options.items() for part in (f"--{option}", value)]
    manifest = describe(run_id, config, {"strategy": found.name}, found.dataset, NO_MODELS)
    manifest["models"]["judge"] = AS_REPORTED if told["told"]["verdicts"] else None
    described = {
        **manifest,
        "kind": IMPORTED,
        "command": shlex.join(["python", "-m", "eval.rescore", str(found.path), *flags]),
        "import": {**imported, "format_name": describe_layout(file.format)},
        "matching": dict(told),
        "warnings": warnings(told),
    }
    return cast(Manifest, described)
