"""The folder of a run: named, locked, begun, resumed, interrupted."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

from eval.records.jsonl import MANIFEST, RECORDS, write_json
from eval.records.manifest import check_same_run, git_state, load_manifest, now
from eval.records.schema import Manifest
from memsys.errors import InputError


def run_id(resume: str | int | None, strategy: str) -> str:
    """Return the name of a run's folder: that of the run to resume, else UTC time and strategy.

    Microseconds distinguish the runs of a sweep.
    """
    if resume is not None:
        return Path(str(resume)).name  # a name of digits alone is read as a number
    return f"{datetime.now(UTC):%Y-%m-%d_%H-%M-%S-%f}_{strategy}"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock the folder for this process; raises InputError if another process has locked it."""
    with (folder / ".lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise InputError(f"{folder}: another process is writing this run") from error
        yield


def begin(folder: Path, manifest: Manifest, resume: str | int | None) -> Manifest:
    """Write the manifest of a new run, or load that of the run in `folder` to resume it.

    Raises InputError if the run to resume is another one, or has another configuration or data, or
    if the folder of a new run contains one already.
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


def seconds_of(manifest: Manifest, seconds: Mapping[str, float], began: float) -> dict[str, float]:
    """Return the seconds by part and in total of all processes of a run, without killed ones.

    `began`: reading of perf_counter at the start of this process's run.
    """
    spent = {**seconds, "total": perf_counter() - began}
    before = manifest.get("seconds", {})
    return {part: round(before.get(part, 0.0) + value, 3) for part, value in spent.items()}


def interrupt(folder: Path, manifest: Manifest, seconds: Mapping[str, float], began: float) -> None:
    """Mark the run as interrupted; `seconds` and `began` as in seconds_of."""
    total = seconds_of(manifest, seconds, began)
    ended = {"status": "interrupted", "ended": now(), "seconds": total}
    write_json(folder / MANIFEST, {**manifest, **ended})


def discard_if_empty(folder: Path) -> None:
    """Remove the empty folder of a refused run."""
    if not folder.is_dir():
        return
    if {path.name for path in folder.iterdir()} <= {".lock"}:
        (folder / ".lock").unlink(missing_ok=True)
        folder.rmdir()
