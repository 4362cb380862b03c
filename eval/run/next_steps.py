"""The commands that make sense after a run or a sweep, which its last lines name."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from eval.records.jsonl import MANIFEST
from eval.records.manifest import load_manifest, resume_command
from eval.records.schema import Manifest, Record, Summary
from eval.rendering.tables import answerless
from eval.run.failures import LOG
from memsys.core.errors import InputError
from memsys.core.places import RUNS
from memsys.core.program import as_started

_SEARCHED = 50  # newest runs that may be one to compare with
# Arguments that name a strategy and its settings, or this one run.
_OF_THE_RUN = ("strategy=", "strategy.", "resume=", "hydra.run.dir=")
_BASELINE, _OTHER = "vector_only", "graph_expand"


def after_run(folder: Path, manifest: Manifest, summary: Summary) -> list[str]:
    """Return commands that compare the run with the newest other one on the same data, or run
    another strategy with the same settings, and that show it.
    """
    run = _name(folder)
    if answerless(summary):
        return [f"python -m eval retrieval {run}"]
    other = _newest_other(folder, manifest)
    if other is None:
        return [
            *_another_strategy(manifest),
            f"python -m eval report {run}",
            f"python -m eval browse {run}",
        ]
    both = f"{_name(other)} {run}"
    return [
        f"python -m eval compare {both}",
        f"python -m eval report {both}",
        f"python -m eval browse {run}",
    ]


def after_sweep(runs: Sequence[tuple[Path, Manifest]], *, answered: bool = True) -> list[str]:
    """Return the commands that compare and show the complete `runs` on each data set."""
    groups: dict[str, list[str]] = {}
    for folder, manifest in runs:
        groups.setdefault(str(manifest["data"]), []).append(_name(folder))
    commands = ("compare", "report", "browse") if answered else ("retrieval",)
    return [
        f"python -m eval {command} {' '.join(names)}"
        for names in groups.values()
        for command in (commands if len(names) > 1 else commands[-2:])
    ]


def after_failure(folder: Path, manifest: Manifest, first: Record) -> list[str]:
    """Return what to mend in a run of which `first` failed, and the command that resumes it."""
    error = first["error"]
    if error is not None and "traceback" in error:
        remedy = f"correct the code that {folder / LOG} names, and resume the run:"
    elif manifest["llm"] or manifest["judge"]:
        remedy = "check llm.base_url, llm.model and the key of the endpoint, and resume the run:"
    else:
        remedy = "correct the cause, and resume the run:"
    return [remedy, in_place(resume_command(manifest), folder)]


def show_next(steps: Sequence[str]) -> None:
    """Print the steps, a command on a line of its own, so that it can be copied: of the console
    script, if that was started, since a folder with a file `eval.py` has no other.
    """
    if steps:
        print("\n".join(["\nNext:", *(f"  {as_started(step)}" for step in steps)]))


def in_place(command: str, folder: Path) -> str:
    """Return `command` with the folder of its run, if that is not the usual one."""
    own = f"hydra.run.dir={folder}"
    if folder.parent.resolve() == RUNS.resolve() or own in shlex.split(command):
        return command
    return f"{command} {shlex.quote(own)}"


def _another_strategy(manifest: Manifest) -> list[str]:
    """Return the command that repeats the run with another strategy and its default settings."""
    arguments = shlex.split(manifest["command"])
    if any(one.startswith("from=") for one in arguments):
        return []  # such a run has the strategy of another
    rest = [one for one in arguments if not one.lstrip("+~").startswith(_OF_THE_RUN)]
    other = _OTHER if manifest["strategy"] == _BASELINE else _BASELINE
    return [shlex.join([*rest, f"strategy={other}"])]


def _newest_other(folder: Path, manifest: Manifest) -> Path | None:
    """Return the newest complete run beside `folder` on the same questions with other settings."""
    names = sorted((one.name for one in folder.parent.iterdir() if one.is_dir()), reverse=True)
    for path in (folder.parent / name for name in names[:_SEARCHED] if name != folder.name):
        if not (path / MANIFEST).is_file():
            continue
        try:
            other = load_manifest(path)
        except InputError:
            continue
        if other["status"] == "complete" and _comparable(manifest, other):
            return path
    return None


def _comparable(one: Manifest, other: Manifest) -> bool:
    mine, others = one["config"], other["config"]
    return one["config_sha256"] != other["config_sha256"] and (
        all(one.get(name) == other.get(name) for name in ("data", "key", "scoring"))
        and all(mine.get(name) == others.get(name) for name in ("dataset", "questions", "only"))
        and (one["judge"] is None) == (other["judge"] is None)
    )


def _name(folder: Path) -> str:
    """Return what a command calls the run: its id, or its folder elsewhere than in RUNS."""
    is_usual = folder.parent.resolve() == RUNS.resolve()
    return shlex.quote(folder.name if is_usual else str(folder))
