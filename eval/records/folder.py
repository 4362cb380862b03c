"""The folder of a run: named, claimed, locked, begun, resumed, interrupted."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import cast

from filelock import FileLock, Timeout

from eval.records.environment import git_state, now
from eval.records.files import (
    CONTEXTS,
    FILES,
    INGEST,
    RANKINGS,
    read_lines,
    torn_at,
    write_json,
    writing,
)
from eval.records.manifest import check_same_run, load_manifest
from eval.records.schema import INGEST_LINE, RECORD, Manifest, Record, store_of
from memsys.core.errors import InputError
from memsys.core.files import check_entry, is_there
from memsys.core.places import MANIFEST, RECORDS, RUNS, find_run

_LOCK = ".lock"
_SPARE = 1_000  # blanks in the manifest of a running run, for the fields that its end adds
_claimed: set[Path] = set()  # by this process


def run_id(strategy: str) -> str:
    """Return the name of a new run's folder: UTC time to the microsecond, and strategy."""
    return f"{datetime.now(UTC):%Y-%m-%d_%H-%M-%S-%f}_{strategy}"


def run_folder(resume: str | int | None, strategy: str) -> str:
    """Return the folder of a run: that of the run to resume, see find_run, or a new one."""
    if resume is None:
        return str(RUNS / run_id(strategy))
    return str(find_run(str(resume), empty=True))  # a name of digits alone is read as a number


def claim(folder: Path) -> None:
    """Create `folder`, or take it over if no process has it. Raises InputError if it cannot be
    created.
    """
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            (folder / _LOCK).open("x").close()
            _claimed.add(folder.resolve())


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock the folder for this process; raises InputError if another process has locked it, or if
    it cannot be written.
    """
    check_entry(folder / _LOCK)
    lock = FileLock(folder / _LOCK)  # the system frees it if this process dies
    with writing(folder):
        try:
            lock.acquire(blocking=False)
        except Timeout:
            raise InputError(f"{folder}: another process is writing this run") from None
    try:
        yield
    finally:
        lock.release()


def begin(folder: Path, manifest: Manifest, resume: str | int | None) -> Manifest:
    """Write the manifest of a new run, or load that of the run in `folder` to resume it.

    Raises InputError if the run to resume is another one, has another configuration or data, or is
    damaged, or if the folder of a new run contains one already, or a file that it would write.
    """
    if resume is not None and Path(str(resume)).name != folder.name:
        raise InputError(
            f"resume={resume}: hydra.run.dir names another run ({folder.name}); leave one of the "
            "two out"
        )
    if resume is None:
        if (folder / RECORDS).exists():
            raise InputError(f"{folder}: holds a run already; add resume={folder.name} to go on")
        for name in FILES:
            if os.path.lexists(folder / name):
                raise InputError(
                    f"{folder / name}: is there already, and a run would replace it; name a new "
                    f"folder by hydra.run.dir=..., or add resume={folder.name} if it is of a run"
                )
        write_json(folder / MANIFEST, manifest, spare=_SPARE)
        return manifest
    old = load_manifest(folder)
    check_same_run(old, manifest)
    _check_files(folder, old)
    state = git_state()
    old["resumed"].append({"at": now(), "git": state})
    old["status"] = "running"
    old.pop("budget_usd", None)
    if state != old["git"]:
        old["warnings"].append("resumed by other code than it was started with (see resumed)")
    write_json(folder / MANIFEST, old, spare=_SPARE)
    return old


def _check_files(folder: Path, manifest: Manifest) -> None:
    """Raise InputError on a damaged line of the run to resume, and if a file is gone that its
    answers belong to. A line that a kill left unfinished is cut off when files are opened; of
    ingest.jsonl, only if its store has no answers, which are not repeated.
    """
    ingests = folder / INGEST
    indexed = {
        line["conversation"]
        for line in read_lines(ingests, torn=True, schema=INGEST_LINE)
        if line["phase"] == "index" and line["status"] == "ok"
    }
    is_torn = torn_at(ingests) is not None
    for record in read_lines(folder / RECORDS, torn=True, schema=RECORD):
        store = store_of(cast(Record, record))
        if is_torn and record["status"] == "ok" and store not in indexed:
            raise InputError(
                f"{ingests}: the last line is incomplete, and {store:.60} has answers already; "
                "restore the file from a copy, or run it again from the start"
            )
        needed = {
            CONTEXTS: record.get("context_sha256") is not None,
            RANKINGS: manifest["retrieval"] is not None and bool(record.get("retrieved", True)),
        }
        for name, is_needed in needed.items():
            if is_needed and record["status"] == "ok" and not is_there(folder / name):
                raise InputError(
                    f"{folder / name}: is gone, and {record['id']:.60} has an answer; restore it "
                    "from a copy, or run it again from the start"
                )


def seconds_of(manifest: Manifest, seconds: Mapping[str, float], began: float) -> dict[str, float]:
    """Return the seconds by part and in total of all processes of a run, without killed ones.

    `began`: reading of perf_counter at the start of this process's run.
    """
    spent = {**seconds, "total": perf_counter() - began}
    before = manifest.get("seconds", {})
    return {part: round(before.get(part, 0.0) + value, 3) for part, value in spent.items()}


def interrupt(folder: Path, manifest: Manifest, seconds: Mapping[str, float], began: float) -> None:
    """Mark the run as interrupted, where its manifest can still be written; `seconds` and `began`
    as in seconds_of.
    """
    total = seconds_of(manifest, seconds, began)
    ended = {"status": "interrupted", "ended": now(), "seconds": total}
    with suppress(InputError):
        write_json(folder / MANIFEST, {**manifest, **ended})


def mark_dead(folder: Path, manifest: Manifest) -> None:
    """Mark a run as interrupted whose process has died without doing so."""
    if manifest["status"] == "running":
        with suppress(InputError), locked(folder):  # no process has the lock any more
            write_json(folder / MANIFEST, {**manifest, "status": "interrupted", "ended": now()})


def discard_if_empty(folder: Path) -> None:
    """Remove the empty folder of a refused run, if this process created it."""
    if folder.resolve() not in _claimed:
        return
    with suppress(OSError):
        if {path.name for path in folder.iterdir()} <= {_LOCK}:
            (folder / _LOCK).unlink(missing_ok=True)
            folder.rmdir()
