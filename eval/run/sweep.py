"""A sweep: several runs by one command, in this process or in those of a launcher.

Hydra's launchers give a job to this process (basic), to other processes of this machine (joblib)
or to those of a cluster (ray). A process learns of its sweep by Hydra's callback, which every
launcher sends along; the sweep finds its runs by their manifests.
"""

import json
import shlex
import sys
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra.experimental.callback import Callback
from omegaconf import DictConfig, OmegaConf

from eval.records import folder as folders
from eval.records.files import SUMMARY
from eval.records.head import shared_head
from eval.records.manifest import load_manifest, resume_command
from eval.records.schema import Manifest, Summary
from eval.rendering.tables import answered, answerless, by_run, how_to_read, scope_note
from eval.rendering.terminal import command_lines, fitted, sentence
from eval.run import composing
from eval.run.console import after_sweep, in_place, show_next
from memsys.core.errors import InputError
from memsys.core.files import read_bytes
from memsys.core.places import MANIFEST
from memsys.strategies.shared import Shared

# Here, since the worker of a launcher imports this module with the callback that it is sent, and
# needs the resolvers before it makes a run's folder.
composing.register()


@dataclass(frozen=True, slots=True)
class Sweep:
    """One `python -m eval.run -m ARGUMENTS`; `before`: names that its folder contained already."""

    id: str
    folder: Path
    arguments: tuple[str, ...]
    before: frozenset[str]


@dataclass(slots=True)
class State:
    """What this process knows of the sweep that it began, or whose job it runs.

    `arguments`: of the command. `job`: the sweep and number of the job that is under way, and
    `cell` its values of what the sweep varies, such as `k=3 strategy=bm25`. `shared`: by the jobs
    that the process of the command runs one after another.
    """

    arguments: tuple[str, ...] = ()
    begun: Sweep | None = None
    job: tuple[Sweep, int] | None = None
    cell: str = ""
    shared: Shared | None = None

    @property
    def described(self) -> dict[str, Any] | None:
        """The sweep's id and the job's number, for the manifest; None if there is no sweep."""
        return None if self.job is None else {"id": self.job[0].id, "job": self.job[1]}

    @property
    def in_a_worker(self) -> bool:
        """Whether this process runs a job of a sweep that another process began."""
        begun, job = self.begun, self.job
        return job is not None and (begun is None or begun.id != job[0].id)


state = State()


class SweepCallback(Callback):
    """Passes the sweep to each of its jobs. Launchers send the callback, as it is after
    `on_multirun_start`, to the processes of their jobs.
    """

    def __init__(self) -> None:
        self._sweep: Sweep | None = None

    def on_multirun_start(self, config: DictConfig, **_: Any) -> None:
        """Begin the sweep, in the process of the command."""
        folder = Path(config.hydra.sweep.dir)
        before = [path.name for path in folder.iterdir()] if folder.is_dir() else []
        self._sweep = Sweep(uuid.uuid4().hex, folder, state.arguments, frozenset(before))
        state.begun, state.shared = self._sweep, Shared()

    def on_job_start(self, config: DictConfig, **_: Any) -> None:
        """Begin a job, in any process; a single run belongs to no sweep."""
        if self._sweep is not None:
            state.job = self._sweep, config.hydra.job.num
            state.cell = _cell(config, self._sweep)

    def on_job_end(self, *_: Any, **__: Any) -> None:
        """Write what the job printed, which a worker else does only when it ends."""
        sys.stdout.flush()


def left_behind(folder: Path) -> Path | None:
    """Return the unfinished run, beside `folder`, of the job that this worker was given, if any.

    Ray repeats the job of a worker that was killed: the run is then resumed, as by resume=.
    """
    if not state.in_a_worker or state.job is None:
        return None
    sweep, number = state.job
    for path, manifest in _runs(sweep, folder.parent):
        if _job(manifest) == number and manifest["status"] != "complete" and _free(path):
            return path
    return None


def runs() -> list[tuple[Path, Manifest]]:
    """Return folder and manifest of each run of the sweep that this process began, by job; of
    several runs of one job the complete one, if there is any.
    """
    if state.begun is None:
        return []
    by_job: dict[int, tuple[Path, Manifest]] = {}
    for path, manifest in _runs(state.begun, state.begun.folder):
        number = _job(manifest)
        if number not in by_job or manifest["status"] == "complete":
            by_job[number] = (path, manifest)
    return [by_job[number] for number in sorted(by_job)]


def show_sweep() -> None:
    """Print the complete runs of the sweep side by side, then how to resume the others, and forget
    the sweep. Prints nothing after a single run.

    A row is named by the arguments in which the runs differ. Hydra's `on_multirun_end` is not used:
    it is not called if a run of the sweep failed.
    """
    sweep_runs = runs()
    _await_forwarded_lines()
    complete = [
        (folder, manifest)
        for folder, manifest in sweep_runs
        if manifest["status"] == "complete" and (folder / SUMMARY).exists()
    ]
    if complete:
        read = (read_bytes(folder / SUMMARY, linked=False) for folder, _ in complete)
        summaries: list[Summary] = list(map(json.loads, read))
        given = [shlex.split(manifest["command"]) for _, manifest in complete]
        common = set.intersection(*map(set, given))
        rows = []
        for arguments, summary in zip(given, summaries, strict=True):
            own = [arg.removeprefix("strategy=") for arg in arguments if arg not in common]
            rows.append((" ".join(own) or summary["strategy"], summary))
        counted = {answered(summary["by_type"]) for summary in summaries}
        title = " or ".join(sorted(counted, reverse=True))
        print("\n" + sentence(shared_head([manifest for _, manifest in complete])))
        print(f"{title[0].upper()}{title[1:]}, mean with 95% interval:\n" + fitted(*by_run(rows)))
        notes = [how_to_read(summaries[0]), scope_note(summaries).strip()]
        print("\n" + "\n".join(sentence(note) for note in notes if note))
        show_next(after_sweep(complete, answered=not any(map(answerless, summaries))))
    for folder, manifest in sweep_runs:
        if manifest["status"] != "complete":
            folders.mark_dead(folder, manifest)
            print(
                f"not finished: {folder.name}; resume it by:\n"
                + command_lines(in_place(resume_command(manifest), folder)),
                file=sys.stderr,
            )
    state.begun = state.job = state.shared = None
    state.cell = ""


def _await_forwarded_lines() -> None:
    """Leave Ray, if it was used: it then waits for what its workers still have to print."""
    ray = sys.modules.get("ray")
    if state.begun is not None and ray is not None and ray.is_initialized():
        ray.shutdown(_exiting_interpreter=True)  # True: the wait; see its docstring


def _cell(config: DictConfig, sweep: Sweep) -> str:
    listed = (argument.partition("=")[0] for argument in sweep.arguments if "," in argument)
    varied = {*(OmegaConf.select(config, "hydra.sweeper.params") or ()), *listed}
    return " ".join(arg for arg in config.hydra.overrides.task if arg.partition("=")[0] in varied)


def _runs(sweep: Sweep, folder: Path) -> list[tuple[Path, Manifest]]:
    """Return the runs of `sweep` in `folder`, which may contain runs of other sweeps."""
    sweep_runs = []
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        if path.name not in sweep.before and (path / MANIFEST).is_file():
            manifest = load_manifest(path)
            if (manifest["sweep"] or {}).get("id") == sweep.id:
                sweep_runs.append((path, manifest))
    return sweep_runs


def _job(manifest: Manifest) -> int:
    return int((manifest["sweep"] or {})["job"])


def _free(folder: Path) -> bool:
    """Whether no process writes the run: the lock of a killed process is released."""
    try:
        with folders.locked(folder):
            return True
    except InputError:
        return False
