"""Close a run: write its summary files and mark the manifest as complete."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from time import perf_counter

from eval.records.comma_separated import text_of
from eval.records.environment import now
from eval.records.files import write_text, writing
from eval.records.folder import seconds_of
from eval.records.jsonl import (
    INGEST,
    MEMORIES,
    RANKINGS,
    REPORT_MD,
    SUMMARY,
    SUMMARY_CSV,
    write_json,
)
from eval.records.schema import Cell, Manifest, Record, Summary
from eval.summary.summarise import summarise
from memsys.core.places import MANIFEST, RECORDS

Report = Callable[[Manifest, Summary, Sequence[str]], str]


def close(
    folder: Path,
    manifest: Manifest,
    records: Iterable[Record],
    seconds: Mapping[str, float],
    began: float,
    report: Report,
) -> Summary:
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
    write_json(folder / MANIFEST, manifest)
    return summary


def write_summary(
    folder: Path, manifest: Manifest, records: Iterable[Record], report: Report
) -> Summary:
    """Write summary.json, summary.csv and report.md, and return the summary.

    `report` renders the text of report.md from manifest, summary and the names of the other files.
    Raises InputError on a full disk.
    """
    summary = summarise(records, manifest, manifest["seed"])
    warning = _empty_contexts(manifest, summary)
    if warning is not None and warning not in summary["warnings"]:
        manifest["warnings"] = summary["warnings"] = [*summary["warnings"], warning]
    files = (RECORDS, RANKINGS, MEMORIES, INGEST, SUMMARY, MANIFEST)
    ours = [name for name in files if name in (SUMMARY, MANIFEST) or (folder / name).exists()]
    text = report(manifest, summary, ours)
    with writing(folder):
        write_json(folder / SUMMARY, summary)
        write_csv(folder / SUMMARY_CSV, summary)
        write_text(folder / REPORT_MD, text)
    return summary


def _empty_contexts(manifest: Manifest, summary: Summary) -> str | None:
    """Return a warning if a strategy with a token budget retrieved nothing for any question."""
    strategy = (manifest.get("config") or {}).get("strategy")
    budget = strategy.get("budget") if isinstance(strategy, dict) else None
    means = [cell.get("context_tokens_mean") for cell in summary["by_type"].values()]
    means = [mean for mean in means if mean is not None]
    if budget is None or not means or any(means):
        return None
    return f"all contexts are empty: no memory fits budget={budget}, or none was retrieved"


def write_csv(path: Path, summary: Summary) -> None:
    """Write the cells of `summary` as CSV, a row per question type; the ends of an interval are in
    columns of their own: `f1`, `f1_ci_low`, `f1_ci_high`.
    """
    cells = {name: with_ends(cell) for name, cell in summary["by_type"].items()}
    columns = list(dict.fromkeys(key for cell in cells.values() for key in cell))
    lines = [{"type": name, **cell} for name, cell in cells.items()]
    write_text(path, text_of(["type", *columns], lines, end="\r\n"))


def with_ends(cell: Cell) -> Cell:
    """Return `cell` with the ends of each interval, `f1_ci`, as `f1_ci_low` and `f1_ci_high`."""
    ends: Cell = {}
    for column, value in cell.items():
        if column.endswith("_ci"):
            low, high = (None, None) if value is None else value
            ends |= {f"{column}_low": low, f"{column}_high": high}
        else:
            ends[column] = value
    return ends
