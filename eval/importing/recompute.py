"""Compute the scores of a run anew from its records, which stay as they are otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tqdm import tqdm

from eval.folder import locked, write_summary
from eval.importing.imports import IMPORTED, add_account
from eval.manifest import SCHEMA_VERSION, git_state, load_manifest, now
from eval.records import MANIFEST, RECORDS, Record, read_lines, write_json, write_lines
from eval.scoring import score
from memsys.errors import InputError


def recompute(folder: Path) -> tuple[dict[str, Any], int]:
    """Score the run in `folder` again; returns its summary and how many records changed a score.

    records.jsonl, summary and report are written anew, and the manifest's `rescored` says so.
    Answers, a judge's verdicts and whatever else stands in a record stay. Raises InputError if the
    folder holds no run, another version's, or one that has not come to its end.
    """
    manifest = load_manifest(folder)
    if manifest["schema_version"] != SCHEMA_VERSION:
        raise InputError(
            f"{folder}: written by another version of memsys (schema "
            f"{manifest['schema_version']}, now {SCHEMA_VERSION}); run it again"
        )
    if manifest["status"] != "complete":
        raise InputError(f"{folder}: the run is {manifest['status']}; resume it to its end first")
    with locked(folder):
        old = list(read_lines(folder / RECORDS))
        if not old:
            raise InputError(f"{folder}: holds no records; name a run folder that has them")
        bar = tqdm(old, desc=folder.name, unit="answer", disable=None)
        records = [_rescored(record) for record in bar]
        write_lines(folder / RECORDS, records)
        summary = write_summary(folder, manifest, records)
        if manifest.get("kind") == IMPORTED:
            add_account(folder, manifest)
        again = {"at": now(), "git": git_state()}
        write_json(
            folder / MANIFEST, manifest | {"rescored": [*manifest.get("rescored", []), again]}
        )
    changed = sum(one["scores"] != two["scores"] for one, two in zip(old, records, strict=True))
    return summary, changed


def _rescored(record: Record) -> Record:
    if record["status"] != "ok":
        return record
    retrieved = record["retrieved"]
    turns = None if retrieved is None else {turn for _, own, *_ in retrieved for turn in own}
    computed = score(
        record["category"], record["gold"], record["answer"], record["evidence"], turns
    )
    kept = {"judge": record["scores"].get("judge")}  # a verdict cannot be computed
    return record | {"scores": record["scores"] | computed | kept}
