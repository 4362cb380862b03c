"""All runs of a folder as a list: complete, under way, interrupted, or broken with the reason."""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from eval.pages.browse.site import PACKAGE, STYLE
from eval.records.jsonl import SUMMARY
from eval.records.manifest import load_manifest, resume_command
from eval.records.schema import Manifest
from eval.rendering.numbers import ABSENT, number
from eval.rendering.page import policy, render, static
from eval.summary.summarise import OVERALL
from memsys.core.errors import InputError
from memsys.core.files import open_entry, read_bytes
from memsys.core.json_text import parse_json
from memsys.core.places import MANIFEST, RECORDS

COMPLETE, BROKEN = "complete", "broken"
SCORES = ("F1", "judge", "evidence recall", "context tokens", "n")
_SILENT = 600  # seconds without an answer after which a run may have been killed
_BLOCK = 1 << 20
_SCRIPT = static(PACKAGE, "runs.js")


@dataclass(frozen=True, slots=True)
class Listed:
    """A folder of runs. `detail`: its progress, how to go on, or why it is broken. `asked` and
    `total`: questions of an unfinished run; `total` is None in runs of earlier versions. `scores`:
    texts in the order of SCORES.
    """

    name: str
    started: str
    strategy: str = ""
    dataset: str = ""
    state: str = BROKEN
    detail: str = ""
    command: str = ""
    asked: int = 0
    total: int | None = None
    scores: tuple[str, ...] = (ABSENT,) * len(SCORES)


def all_runs(folder: Path) -> list[Listed]:
    """Return the runs in `folder`, the one begun last first; [] if it does not exist."""
    if not folder.is_dir():
        return []
    found = []
    for one in folder.iterdir():
        if not one.is_dir() or one.name.startswith("."):
            continue
        try:
            found.append(_of_manifest(one, load_manifest(one)))
        except (InputError, OSError) as error:
            reason = str(error).removeprefix(f"{one}: ").removeprefix(f"{one / MANIFEST}: ")
            changed = datetime.fromtimestamp(one.stat().st_mtime, UTC)
            found.append(Listed(one.name, changed.isoformat(timespec="seconds"), detail=reason))
    return sorted(found, key=lambda one: (one.started, one.name), reverse=True)


def list_page(folder: Path, runs: Sequence[Listed]) -> str:
    """Return the page of the list of `runs` in `folder`; complete ones have a link and a box."""
    return render(
        "runs.html.j2",
        STYLE,
        PACKAGE,
        title="Runs",
        policy=list_policy(),
        script=Markup(_SCRIPT),  # noqa: S704 - the static file
        folder=str(folder),
        runs=runs,
        scores=SCORES,
        shown=[
            name
            for place, name in enumerate(SCORES)
            if any(run.scores[place] != ABSENT for run in runs)
        ],
        addresses={
            run.name: f"/{quote(run.name, safe='')}/" for run in runs if run.state == COMPLETE
        },
    )


def list_policy() -> str:
    """Return the content security policy of the list."""
    return policy(_SCRIPT, connect=True, submit=True)


def _of_manifest(folder: Path, manifest: Manifest) -> Listed:
    state = manifest["status"]
    records = folder / RECORDS
    named = (folder.name, manifest["started"], manifest["strategy"], manifest["dataset"], state)
    if state != COMPLETE:
        asked, total = 0, manifest.get("questions")
        with suppress(FileNotFoundError), open_entry(records) as file:
            asked = sum(block.count(b"\n") for block in iter(lambda: file.read(_BLOCK), b""))
        asked = asked if total is None else min(asked, total)  # failed ones are asked again
        resume = resume_command(manifest)
        return Listed(*named, _progress(records, state, asked, total), resume, asked, total)
    if not records.is_file():
        raise InputError(f"{folder}: {RECORDS} is missing; restore it from a copy")
    summary = _summary(folder / SUMMARY)
    cell = summary.get("by_type", {}).get(OVERALL, {})
    errors = summary.get("errors") or 0
    detail = f"{errors} of {summary.get('n')} questions failed" if errors else ""
    means = [_mean(cell, column, 3) for column in ("f1", "judge", "evidence_recall")]
    scores = (*means, _mean(cell, "context_tokens_mean", 0), number(cell.get("n"), 0))
    return Listed(*named, detail, manifest["command"], scores=scores)


def _progress(records: Path, state: str, asked: int, total: int | None) -> str:
    text = f"{asked:,} questions" if total is None else f"{asked:,} of {total:,} questions"
    if state != "running":
        return text
    if not records.exists():
        return f"{text}; nothing answered yet"
    silent = max(0.0, time.time() - records.stat().st_mtime)
    since = timedelta(seconds=int(silent))
    perhaps = ": perhaps it was killed" if silent > _SILENT else ""
    return f"{text}, the last {since} ago{perhaps}"


def _summary(path: Path) -> Mapping[str, Any]:
    """Return the summary of a run; {} where there is none that can be read."""
    try:
        found = parse_json(read_bytes(path, linked=False))
    except (InputError, ValueError):
        return {}
    return found if isinstance(found, dict) and isinstance(found.get("by_type"), dict) else {}


def _mean(cell: Mapping[str, Any], column: str, digits: int) -> str:
    value, ends = cell.get(column), cell.get(f"{column}_ci")
    if not isinstance(value, float | int) or not isinstance(ends, list):
        return ABSENT
    low, high = (number(end, digits) for end in ends)
    return f"{number(value, digits)} [{low}, {high}]"
