"""Finished runs, found by folder or id and checked as they are read."""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path
from typing import Any

from eval.records.jsonl import RECORDS, Record, read_lines
from eval.records.manifest import SCHEMA_VERSION, load_manifest
from memsys.errors import InputError

RUNS = Path("results/runs")


def find_folder(name: str) -> Path:
    """The run folder `name`, or the one of that id under results/runs; InputError if none is."""
    for folder in (Path(name), RUNS / name):
        if folder.is_dir():
            return folder
    raise InputError(f"{name}: no such run; name a run folder, or an id under {RUNS}")


def load_checked(folder: Path) -> dict[str, Any]:
    """The manifest of a run; raises InputError if another version of memsys wrote it."""
    manifest = load_manifest(folder)
    if manifest.get("schema_version") != SCHEMA_VERSION:
        raise InputError(
            f"{folder}: written by another version of memsys (schema "
            f"{manifest.get('schema_version')}, now {SCHEMA_VERSION}); run it again"
        )
    return manifest


def load_records(folder: Path, needed: Set[str]) -> dict[str, Record]:
    """Records by question, in order; one asked again after a failure counts as it ended.

    Raises InputError naming the line that lacks one of the fields `needed`, and if there is none.
    """
    path = folder / RECORDS
    found: dict[str, Record] = {}
    for number, record in enumerate(read_lines(path), 1):
        missing = needed - record.keys() if isinstance(record, dict) else needed
        if missing:
            raise InputError(
                f"{path}: line {number} is no record (no {', '.join(sorted(missing))}); "
                "docs/records.md lists the fields"
            )
        found[record["id"]] = record
    if not found:
        raise InputError(f"{path}: holds no records; name a run that answered questions")
    return found
