"""Write the end of a run folder, its summary files and a complete manifest, and whole run folders
of what another system made, its answers or its rankings.
"""

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, cast

from eval.datasets.types import Dataset, Question
from eval.metrics.protocols import PROTOCOLS
from eval.records import files, schema
from eval.records.comma_separated import text_of
from eval.records.environment import now
from eval.records.folder import begin, locked, seconds_of
from eval.records.manifest import NO_MODELS, describe
from eval.records.scoring import evidence_fields, plant_fields, question_fields
from eval.summary.summarise import summarise
from memsys.core.errors import InputError
from memsys.core.files import is_there, open_entry
from memsys.core.places import MANIFEST, RECORDS

IMPORTED = "imported"
ENDINGS = {".gz", ".json", ".jsonl", ".csv", ".trec", ".run", ".txt", ".tsv"}
_SEED = 0  # of the bootstrap, as in conf/config.yaml
_NAME = 150  # bytes: a folder's name has at most 255, and a time precedes it
Report = Callable[[schema.Manifest, schema.Summary, Sequence[str]], str]


def close(
    folder: Path,
    manifest: schema.Manifest,
    records: Iterable[schema.Record],
    seconds: Mapping[str, float],
    began: float,
    report: Report,
) -> schema.Summary:
    """Write the summary files of the run in `folder`, then its manifest as complete.

    `records` may be a stream. `seconds`: time by part of this process's run, which began at the
    perf_counter reading `began`.
    `report`: see write_summary. Returns the summary.
    """
    started = perf_counter()
    summary = write_summary(folder, manifest, records, report)
    parts = {**seconds, "summary": perf_counter() - started}
    manifest["status"], manifest["ended"] = "complete", now()
    manifest["seconds"] = seconds_of(manifest, parts, began)
    files.write_json(folder / MANIFEST, manifest)
    return summary


def write_summary(
    folder: Path, manifest: schema.Manifest, records: Iterable[schema.Record], report: Report
) -> schema.Summary:
    """Write summary.json, summary.csv and report.md, and return the summary.

    `report` renders the text of report.md from manifest, summary and the names of the other files.
    Raises InputError on a full disk.
    """
    summary = summarise(records, manifest, manifest["seed"])
    strategy = (manifest.get("config") or {}).get("strategy")
    budget = strategy.get("budget") if isinstance(strategy, dict) else None
    tokens = [cell.get("context_tokens_mean") for cell in summary["by_type"].values()]
    means = [mean for mean in tokens if mean is not None]
    warning = f"all contexts are empty: no memory fits budget={budget}, or none was retrieved"
    nothing = budget is not None and means and not any(means)
    if nothing and warning not in summary["warnings"]:
        manifest["warnings"] = summary["warnings"] = [*summary["warnings"], warning]
    names = (RECORDS, files.RANKINGS, files.MEMORIES, files.INGEST, files.SUMMARY, MANIFEST)
    ours = [name for name in names if name in (files.SUMMARY, MANIFEST) or (folder / name).exists()]
    text = report(manifest, summary, ours)
    with files.writing(folder):
        files.write_json(folder / files.SUMMARY, summary)
        write_csv(folder / files.SUMMARY_CSV, summary)
        files.write_text(folder / files.REPORT_MD, text)
    return summary


def write_csv(path: Path, summary: schema.Summary) -> None:
    """Write the cells of `summary` as CSV, a row per question type; the ends of an interval are in
    columns of their own: `f1`, `f1_ci_low`, `f1_ci_high`.
    """
    cells = {name: with_ends(cell) for name, cell in summary["by_type"].items()}
    columns = list(dict.fromkeys(key for cell in cells.values() for key in cell))
    lines = [{"type": name, **cell} for name, cell in cells.items()]
    files.write_text(path, text_of(["type", *columns], lines, end="\r\n"))


def with_ends(cell: schema.Cell) -> schema.Cell:
    """Return `cell` with the ends of each interval, `f1_ci`, as `f1_ci_low` and `f1_ci_high`."""
    ends: schema.Cell = {}
    for column, value in cell.items():
        if column.endswith("_ci"):
            low, high = (None, None) if value is None else value
            ends |= {f"{column}_low": low, f"{column}_high": high}
        else:
            ends[column] = value
    return ends


def system_name(given: str | None, path: Path) -> str:
    """Return the name of the system behind the file at `path`: as given, or the file's name without
    endings. Raises InputError if it cannot be the name of a folder.
    """
    while path.suffix in ENDINGS:
        path = path.with_suffix("")
    name = path.name if given is None else given
    printable = bool(name.strip()) and name.isprintable() and len(name.encode()) <= _NAME
    if not printable or "/" in name:
        allowed = f"without a slash, of at most {_NAME} bytes that can be printed"
        raise InputError(f"--name {name!r:.60}: give a name {allowed}")
    return name


def describe_import(
    name: str,
    dataset: Dataset,
    config: Mapping[str, Any],
    command: Sequence[str],
    fields: Mapping[str, Any],
) -> schema.Manifest:
    """Return the manifest of an import from the system `name`, without its run_id.

    `config`: its parts `dataset` and `import`; `command` repeats the import; `fields` are further
    ones of the manifest.
    """
    whole = {**config, "scoring": {"protocols": list(PROTOCOLS)}, "seed": _SEED}
    described = {
        **schema.MANIFEST_DEFAULTS,
        **describe("", whole, {"strategy": name}, dataset, NO_MODELS),
        "kind": IMPORTED,
        "command": shlex.join(["python", "-m", *command]),
        **fields,
    }
    return cast(schema.Manifest, described)


def unanswered(question: Question) -> files.Row:
    """Return the fields of the record of a question that nobody answered here; most are null."""
    return {
        **schema.RECORD_DEFAULTS,
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
    manifest: schema.Manifest,
    records: Sequence[schema.Record],
    seconds: Mapping[str, float],
    report: Report,
    *,
    option: str,
    rankings: Iterable[Mapping[str, Any]] = (),
    memories: Iterable[Mapping[str, Any]] = (),
) -> schema.Summary:
    """Write the run folder of an import and return its summary.

    `seconds`: as in close, of the parts until now; `rankings` and `memories`: the lines of their
    files, none where the file is left out; `option`: as in check_empty. Raises InputError if the
    folder is not empty.
    """
    began = perf_counter() - sum(seconds.values())
    check_empty(folder, option)
    with files.writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        manifest["run_id"] = folder.name
        manifest = begin(folder, manifest, None)
        for name, lines in ((files.RANKINGS, list(rankings)), (files.MEMORIES, list(memories))):
            if lines:
                files.write_lines(folder / name, lines)
        files.write_lines(folder / RECORDS, records)
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
