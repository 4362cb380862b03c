"""A run's folder: begun, locked, gone on with, and closed with its summary."""

from __future__ import annotations

import csv
import fcntl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

from eval.records.jsonl import INGEST, MANIFEST, RECORDS, SUMMARY, Record, write_json
from eval.records.manifest import check_same_run, git_state, load_manifest, now
from eval.rendering.tables import by_key, by_protocol, by_type, key_sentences, markdown
from eval.summary.subset_score import sentences
from eval.summary.summarise import summarise
from memsys.errors import InputError


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder for this process; raises InputError if another holds it."""
    with (folder / ".lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise InputError(f"{folder}: another process is writing this run") from error
        yield


def begin(folder: Path, manifest: dict[str, Any], resume: str | int | None) -> dict[str, Any]:
    """Write the manifest of a new run, or take up that of the run in `folder`.

    Raises InputError if the run to resume is another one, or has another configuration or data, or
    if a new run's folder holds one already.
    """
    if resume is not None and Path(str(resume)).name != folder.name:
        raise InputError(
            f"resume={resume}: hydra.run.dir names another run ({folder.name}); leave one of the "
            "two out"
        )
    if resume is None:
        if (folder / RECORDS).exists():
            raise InputError(f"{folder}: holds a run already; add resume={folder.name} to go on")
        write_json(folder / MANIFEST, manifest)
        return manifest
    old = load_manifest(folder)
    check_same_run(old, manifest)
    state = git_state()
    old["resumed"].append({"at": now(), "git": state})
    old["status"] = "running"
    if state != old["git"]:
        old["warnings"].append("resumed by other code than it was started with (see resumed)")
    write_json(folder / MANIFEST, old)
    return old


def close(
    folder: Path,
    manifest: dict[str, Any],
    records: Sequence[Record],
    seconds: Mapping[str, float],
    began: float,
) -> dict[str, Any]:
    """Write summary.json, summary.csv and report.md, then the manifest as complete.

    `seconds`: of each part of this process's run, which `began` at that reading of perf_counter.
    """
    started = perf_counter()
    summary = write_summary(folder, manifest, records)
    seconds = {**seconds, "summary": perf_counter() - started}
    manifest |= {"status": "complete", "ended": now(), "seconds": _sum(manifest, seconds, began)}
    write_json(folder / MANIFEST, manifest)
    return summary


def _sum(
    manifest: Mapping[str, Any], seconds: Mapping[str, float], began: float
) -> dict[str, float]:
    """Seconds by part and in total of all processes that worked on a run, killed ones left out."""
    spent = {**seconds, "total": perf_counter() - began}
    before = manifest.get("seconds", {})
    return {part: round(before.get(part, 0.0) + value, 3) for part, value in spent.items()}


def write_summary(
    folder: Path, manifest: Mapping[str, Any], records: Sequence[Record]
) -> dict[str, Any]:
    """Write summary.json, summary.csv and report.md, and return the summary."""
    summary = summarise(records, manifest, manifest["seed"])
    write_json(folder / SUMMARY, summary)
    _write_csv(folder / "summary.csv", summary)
    written = [RECORDS, INGEST] if (folder / INGEST).exists() else [RECORDS]
    report = _report(manifest, summary, [*written, SUMMARY, MANIFEST])
    (folder / "report.md").write_text(report, encoding="utf-8")
    return summary


def interrupt(
    folder: Path, manifest: dict[str, Any], seconds: Mapping[str, float], began: float
) -> None:
    """Mark the run as stopped before its end; `seconds` and `began` as for close."""
    ended = {"status": "interrupted", "ended": now(), "seconds": _sum(manifest, seconds, began)}
    write_json(folder / MANIFEST, manifest | ended)


def discard_if_empty(folder: Path) -> None:
    """Remove a folder that a refused run left with nothing in it."""
    if not folder.is_dir():
        return
    if {path.name for path in folder.iterdir()} <= {".lock"}:
        (folder / ".lock").unlink(missing_ok=True)
        folder.rmdir()


def _write_csv(path: Path, summary: Mapping[str, Any]) -> None:
    columns = list(dict.fromkeys(key for cell in summary["by_type"].values() for key in cell))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["type", *columns])
        writer.writeheader()
        writer.writerows({"type": name, **cell} for name, cell in summary["by_type"].items())


def _report(manifest: Mapping[str, Any], summary: Mapping[str, Any], files: Sequence[str]) -> str:
    lines = [
        f"# {summary['strategy']} on {summary['dataset']}",
        "",
        f"Run {summary['run_id']}: `{manifest['command']}`",
        "",
        markdown(*by_type(summary)),
        "",
        f"Scores are 0 to 1 with a 95% interval ({summary['interval']}). "
        f"F1 is that of the protocol {summary['scoring'][0]}. "
        f"{summary['errors']} of {summary['n']} questions failed; they are in no mean.",
    ]
    if len(summary["protocols"]) > 1:
        lines += ["", "The same answers under each protocol:", "", markdown(*by_protocol(summary))]
    if told := key_sentences(summary):
        lines += ["", " ".join(told)]
    if summary["key"] is not None:
        lines += ["", "The same answers under both answer keys:", "", markdown(*by_key(summary))]
    lines += [f"\n{told}" for told in sentences(summary)]
    lines += [f"\nWarning: {warning}" for warning in summary["warnings"]]
    return "\n".join(lines) + f"\n\nFiles: {', '.join(files)}\n"
