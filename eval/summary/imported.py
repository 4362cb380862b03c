"""Run folders of what another system made, its answers or its rankings."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, cast

from eval.datasets.types import Dataset, Question
from eval.metrics.protocols import PROTOCOLS
from eval.records.files import writing
from eval.records.folder import begin, locked
from eval.records.jsonl import MEMORIES, RANKINGS, Row, write_lines
from eval.records.manifest import NO_MODELS, describe
from eval.records.schema import MANIFEST_DEFAULTS, RECORD_DEFAULTS, Manifest, Record, Summary
from eval.records.scoring import evidence_fields, plant_fields, question_fields
from eval.summary.closing import Report, close
from memsys.core.errors import InputError
from memsys.core.files import is_there, open_entry
from memsys.core.places import RECORDS

IMPORTED = "imported"
ENDINGS = {".gz", ".json", ".jsonl", ".csv", ".trec", ".run", ".txt", ".tsv"}
_SEED = 0  # of the bootstrap, as in conf/config.yaml
_NAME = 150  # bytes: a folder's name has at most 255, and a time precedes it


def system_name(given: str | None, path: Path) -> str:
    """Return the name of the system behind the file at `path`: as given, or the file's name without
    endings. Raises InputError if it cannot be the name of a folder.
    """
    while path.suffix in ENDINGS:
        path = path.with_suffix("")
    name = path.name if given is None else given
    if not name.strip() or "/" in name:
        raise InputError(f"--name {name!r:.60}: give a name without a slash")
    if not name.isprintable() or len(name.encode()) > _NAME:
        raise InputError(
            f"--name {name!r:.60}: give a name of at most {_NAME} bytes that can be printed"
        )
    return name


def describe_import(
    name: str,
    dataset: Dataset,
    config: Mapping[str, Any],
    command: Sequence[str],
    fields: Mapping[str, Any],
) -> Manifest:
    """Return the manifest of an import from the system `name`, without its run_id.

    `config`: its parts `dataset` and `import`; `command` repeats the import; `fields` are further
    ones of the manifest.
    """
    whole = {**config, "scoring": {"protocols": list(PROTOCOLS)}, "seed": _SEED}
    described = {
        **MANIFEST_DEFAULTS,
        **describe("", whole, {"strategy": name}, dataset, NO_MODELS),
        "kind": IMPORTED,
        "command": shlex.join(["python", "-m", *command]),
        **fields,
    }
    return cast(Manifest, described)


def unanswered(question: Question) -> Row:
    """Return the fields of the record of a question that nobody answered here; most are null."""
    return {
        **RECORD_DEFAULTS,
        **question_fields(question),
        "status": "ok",
        "error": None,
        **dict.fromkeys(("answer", "abstained", "answer_tokens")),
        **dict.fromkeys(("retrieved", "k", "context_tokens")),
        **evidence_fields(question, None),
        **plant_fields(question, None),
        "scores": {},
        "latency_ms": dict.fromkeys(("retrieve", "answer", "total")),
        "trace": {},
    }


def write_imported(
    folder: Path,
    manifest: Manifest,
    records: Sequence[Record],
    seconds: Mapping[str, float],
    report: Report,
    *,
    option: str,
    rankings: Iterable[Mapping[str, Any]] = (),
    memories: Iterable[Mapping[str, Any]] = (),
) -> Summary:
    """Write the run folder of an import and return its summary.

    `seconds`: as in close, of the parts until now; `rankings` and `memories`: the lines of their
    files, none where the file is left out; `option`: as in check_empty. Raises InputError if the
    folder is not empty.
    """
    began = perf_counter() - sum(seconds.values())
    check_empty(folder, option)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        manifest["run_id"] = folder.name
        manifest = begin(folder, manifest, None)
        for name, lines in ((RANKINGS, list(rankings)), (MEMORIES, list(memories))):
            if lines:
                write_lines(folder / name, lines)
        write_lines(folder / RECORDS, records)
        return close(folder, manifest, records, seconds, began, report)


def check_empty(folder: Path, option: str) -> None:
    """Raise InputError unless `folder` is absent or an empty folder; `option` names another."""
    if is_there(folder) and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder}: exists and is not empty; name another folder by {option}")


def add_sentences(folder: Path, sentences: Sequence[str], *more: str) -> None:
    """Append the account of an import, and blocks of Markdown, to the report.md in `folder`."""
    lines = ["", "## Import", "", *(f"- {line}" for line in sentences)]
    lines += [line for block in more for line in ("", block)]
    with open_entry(folder / "report.md", "ab") as file:
        file.write(("\n".join(lines) + "\n").encode())
