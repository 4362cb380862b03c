"""A sweep: which runs are its own, whatever process or machine they ran on.

Hydra's launchers hand a job to this process (basic), to processes beside it (joblib) or to those of
a cluster (ray). What a process has to know of the sweep comes with Hydra's callbacks, which every
launcher sends along; what the sweep has to know of its runs is in their manifests.
"""

from __future__ import annotations

import shlex
import sys
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.records import folder as folders
from eval.records.jsonl import MANIFEST
from eval.records.manifest import load_manifest
from eval.records.run import RUNS
from eval.records.schema import Manifest
from memsys.errors import InputError


@dataclass(frozen=True, slots=True)
class Sweep:
    """One `python -m eval.run -m ARGUMENTS`; `before`: names that its folder held already."""

    id: str
    folder: Path
    arguments: tuple[str, ...]
    before: frozenset[str]


@dataclass(slots=True)
class _State:
    begun: Sweep | None = None  # by this process, whose end is the sweep's
    job: tuple[Sweep, int] | None = None  # that this process is at, and its number


_state = _State()


def begin(folder: Path) -> Sweep:
    """A new sweep of this process, whose runs will be in `folder`."""
    before = frozenset(path.name for path in folder.iterdir()) if folder.is_dir() else frozenset()
    _state.begun = Sweep(uuid.uuid4().hex, folder, tuple(sys.argv[1:]), before)
    return _state.begun


def enter(sweep: Sweep, number: int) -> None:
    """Begin job `number` of `sweep` in this process."""
    _state.job = (sweep, number)
    if _elsewhere():  # the arguments of a worker are its launcher's; a manifest tells the user's
        sys.argv[1:] = sweep.arguments


def end() -> None:
    """Forget the sweep."""
    _state.begun = _state.job = None


def described() -> dict[str, Any] | None:
    """The sweep's id and the job's number, for the manifest; None where there is no sweep."""
    return None if _state.job is None else {"id": _state.job[0].id, "job": _state.job[1]}


def in_a_worker() -> bool:
    """Whether this process does a job of a sweep that another one began."""
    return _state.job is not None and _elsewhere()


def left_behind(folder: Path) -> Path | None:
    """The run, beside `folder`, that a killed worker left of the job that this worker is given.

    Ray gives out again what a killed worker was at: the run then goes on, as by resume=.
    """
    if not in_a_worker() or _state.job is None:
        return None
    sweep, number = _state.job
    for path, manifest in _runs(sweep, folder.parent):
        if _job(manifest) == number and manifest["status"] != "complete" and _free(path):
            return path
    return None


def runs() -> list[tuple[Path, Manifest]]:
    """Folder and manifest of each run of the sweep that this process began, in the order of jobs;
    of several of one job the complete one, if there is any.
    """
    if _state.begun is None:
        return []
    found: dict[int, tuple[Path, Manifest]] = {}
    for path, manifest in _runs(_state.begun, _state.begun.folder):
        number = _job(manifest)
        if number not in found or manifest["status"] == "complete":
            found[number] = (path, manifest)
    return [found[number] for number in sorted(found)]


def resume_command(folder: Path, manifest: Manifest) -> str:
    """What goes on with the run in `folder`."""
    place = [] if folder.parent.resolve() == RUNS.resolve() else [f"hydra.run.dir={folder}"]
    return shlex.join([*shlex.split(manifest["command"]), *place, f"resume={folder.name}"])


def _runs(sweep: Sweep, folder: Path) -> list[tuple[Path, Manifest]]:
    """Of `sweep` alone: others may be putting theirs into the same folder."""
    found = []
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        if path.name not in sweep.before and (path / MANIFEST).is_file():
            manifest = load_manifest(path)
            if (manifest["sweep"] or {}).get("id") == sweep.id:
                found.append((path, manifest))
    return found


def _job(manifest: Manifest) -> int:
    return int((manifest["sweep"] or {})["job"])


def _free(folder: Path) -> bool:
    """Whether nobody writes the run: a process that is killed lets go of its lock."""
    try:
        with folders.locked(folder):
            return True
    except InputError:
        return False


def _elsewhere() -> bool:
    """Whether another process began the sweep of the job under way."""
    begun, job = _state.begun, _state.job
    return job is not None and (begun is None or begun.id != job[0].id)
