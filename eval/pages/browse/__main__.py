"""`python -m eval browse [RUN ...]`: runs in a browser: questions, conversations and the report.

Without RUN, a list of all runs of a folder: complete, under way, interrupted, or broken with the
reason.
"""

import argparse
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache, partial
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from markupsafe import Markup

from eval.cli import add_cache, add_runs, code_of
from eval.cli import parser as command_parser
from eval.pages.browse.server import (
    MISSING,
    Fields,
    Reply,
    add_options,
    answer_site,
    read_site,
    refusal,
    serve,
    show,
)
from eval.pages.browse.site import PACKAGE, STYLE, Site
from eval.records.files import SUMMARY
from eval.records.manifest import load_manifest, resume_command
from eval.records.schema import Manifest
from eval.rendering.numbers import ABSENT, number
from eval.rendering.page import policy, render, static
from eval.summary.summarise import OVERALL
from memsys.core.errors import InputError, check_number
from memsys.core.files import open_entry, read_bytes
from memsys.core.json_text import parse_json
from memsys.core.places import MANIFEST, RECORDS, RUNS, find_run

COMPLETE, BROKEN = "complete", "broken"
SCORES = ("F1", "judge", "evidence recall", "context tokens", "n")
_SILENT = 600  # seconds without an answer after which a run may have been killed
_BLOCK = 1 << 20
_SCRIPT = static(PACKAGE, "runs.js")
_POLICY = policy(_SCRIPT, connect=True, submit=True)
_SITES = 3  # selections of runs that stay in memory


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until Ctrl-C, or write a folder. Returns the exit code: 0, or 2 for invalid input."""
    parser = command_parser(
        "browse",
        description="Show runs in a browser on this machine: all questions with their answers and "
        "contexts, filtered by words, type, verdict and difference; the conversations with their "
        f"turns and scores; and the report. Without RUN: a list of all runs in {RUNS}.",
    )
    add_runs(parser, compared=True, optional=True)
    add_options(parser)
    add_cache(parser, ", whose prompts and replies the cards show")
    return code_of(lambda: _browse(parser.parse_args(arguments)))


def _browse(options: argparse.Namespace) -> None:
    check_number("--port", options.port, 0, 65535)
    folders = [find_run(name) for name in options.runs]
    if folders:
        show(options, folders, options.cache)
    elif options.out is not None:
        raise InputError("--out: name the runs to write")
    else:
        read = partial(read_site, cache=options.cache, listing="/")
        serve(options, lambda: RunList(RUNS, read).answer)


class RunList:
    """Answers with a list of the runs in a folder, and with the pages of those chosen from it, at
    the address `/NAME,NAME/`.
    """

    def __init__(self, folder: Path, read: Callable[[Sequence[Path]], Site]) -> None:
        """`read` returns the site of some run folders; it raises InputError if it cannot."""
        self._folder, self._lock = folder, threading.Lock()
        self._site = lru_cache(_SITES)(lambda folders, _: answer_site(read(folders)))

    def answer(self, path: str, fields: Fields) -> Reply:
        """See Answer."""
        runs = all_runs(self._folder)
        names = {run.name for run in runs}
        if path == "/":
            ticked = [value for name, value in fields if name == "run"]
            if ticked:  # the latest is listed first, and the first begun is the reference
                selected = [run.name for run in reversed(runs) if run.name in ticked]
                return _redirect(f"/{','.join(quote(name, safe='') for name in selected)}/")
            return Reply(list_page(self._folder, runs), policy=_POLICY)
        first, slash, rest = path.removeprefix("/").partition("/")
        selected = [unquote(name) for name in first.split(",")]
        if not names.issuperset(selected):
            return MISSING
        if not slash:
            return _redirect(f"/{first}/")
        folders = tuple(self._folder / name for name in selected)
        try:
            with self._lock:  # two requests do not read a run twice
                stamps = tuple((folder / MANIFEST).stat().st_mtime_ns for folder in folders)
                site = self._site(folders, stamps)
            return site(f"/{rest}", fields)
        except (InputError, FileNotFoundError) as error:
            return refusal("These runs cannot be shown", error, back="/")


def _redirect(location: str) -> Reply:
    return Reply("", HTTPStatus.SEE_OTHER, location="/" if location == "//" else location)


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
    runs = []
    for path in folder.iterdir():
        if not path.is_dir() or path.name.startswith("."):
            continue
        try:
            runs.append(_of_manifest(path, load_manifest(path)))
        except (InputError, OSError) as error:
            reason = str(error).removeprefix(f"{path}: ").removeprefix(f"{path / MANIFEST}: ")
            changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
            runs.append(Listed(path.name, changed.isoformat(timespec="seconds"), detail=reason))
    return sorted(runs, key=lambda run: (run.started, run.name), reverse=True)


def list_page(folder: Path, runs: Sequence[Listed]) -> str:
    """Return the page of the list of `runs` in `folder`; complete ones have a link and a box."""
    return render(
        "runs.html.j2",
        STYLE,
        PACKAGE,
        title="Runs",
        policy=_POLICY,
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
        summary = parse_json(read_bytes(path, linked=False))
    except (InputError, ValueError):
        return {}
    return summary if isinstance(summary, dict) and isinstance(summary.get("by_type"), dict) else {}


def _mean(cell: Mapping[str, Any], column: str, digits: int) -> str:
    value, ends = cell.get(column), cell.get(f"{column}_ci")
    if not isinstance(value, float | int) or not isinstance(ends, list):
        return ABSENT
    low, high = (number(end, digits) for end in ends)
    return f"{number(value, digits)} [{low}, {high}]"
