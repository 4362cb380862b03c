"""`python -m eval.run`: run one experiment and print its scores; -m runs a sweep."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import cast

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from eval.cli import heeding_termination
from eval.records import folder as folders
from eval.run import sweep, sweep_errors
from eval.run.again import plan
from eval.run.estimate import add_estimate, add_every_strategy, show_estimates
from eval.run.experiment import execute, options_of
from eval.run.unused import without_effect
from memsys.core.places import CONF

_NAMES = ("hydra.run.dir", "hydra.sweep.subdir")  # settings that name a run's folder
_ASKED = {"strategy", "experiment"}  # settings that name the strategies to estimate
_PHASES = {"judge": ("judge",), "answer": ("answer", "judge")}  # of a run, done again by from=


@hydra.main(version_base="1.3", config_path=str(CONF), config_name="config")
def _main(config: DictConfig) -> None:
    job = HydraConfig.get()
    in_sweep = job.mode == RunMode.MULTIRUN
    named = any(one.startswith(_NAMES) for one in job.overrides.hydra)
    resume = config.resume
    with heeding_termination():  # also in the workers of a launcher
        folder = folders.claim(Path(job.runtime.output_dir), rename=resume is None and not named)
        if resume is not None and not named and not in_sweep:
            resume = folder.name  # to which the configuration has resolved it
        with sweep_errors.shown(folder, sweep=in_sweep):
            code = _run(config, options_of(job.runtime.choices), folder, resume)
        if code:
            sweep_errors.end(code, sweep=in_sweep)


def _run(
    config: DictConfig, choices: dict[str, str], folder: Path, resume: str | int | None
) -> int:
    """Run one configuration, or print an estimate; return the exit code."""
    if config.estimate:
        folders.discard_if_empty(folder)
        _estimate(config, choices)
        return 0
    if left := sweep.left_behind(folder):
        folders.discard_if_empty(folder)
        folder, resume = left, left.name
    overrides = HydraConfig.get().overrides.task
    details = {"sweep": sweep.described()}
    hint = _sweep_hint()
    return execute(config, choices, folder, resume, overrides, details=details, note=hint)


def _estimate(config: DictConfig, choices: dict[str, str]) -> None:
    """Estimate this run (with `from=`, the part of another that is done again), or every strategy
    if a single run names none. A sweep shows one table at its end, but for jobs in other processes,
    each of which shows its own.
    """
    job = HydraConfig.get()
    config, choices, again = plan(config, choices, job.overrides.task)
    strategy = choices["strategy"]
    names = {override.lstrip("+~").partition("=")[0] for override in job.overrides.task}
    is_sweep = job.mode == RunMode.MULTIRUN
    if is_sweep or again or any(name.partition(".")[0] in _ASKED for name in names):
        others = [one for one in job.overrides.task if not one.startswith("strategy=")]
        for note in without_effect(config, choices, job.overrides.task):
            print(note, file=sys.stderr)
        add_estimate(config, strategy, others, _PHASES.get(again.part) if again else None)
    else:
        add_every_strategy(config)
    if not is_sweep or sweep.in_a_worker():
        show_estimates()


def _sweep_hint() -> str | None:
    """Return a note if an experiment is named without -m, which gives one run of its sweep; None if
    all parameters of the experiment are set, as in a command that repeats one run.
    """
    job = HydraConfig.get()
    varied = set(OmegaConf.select(cast(DictConfig, job), "sweeper.params") or ())
    chosen = {override.partition("=")[0] for override in job.overrides.task}
    name = cast(str | None, job.runtime.choices.get("experiment"))
    if name is None or job.mode == RunMode.MULTIRUN or varied <= chosen:
        return None
    return (
        f"note: experiment={name} is a sweep, and this is one run of it; to run all: "
        f"python -m eval.run -m experiment={name}"
    )


if __name__ == "__main__":
    try:
        sweep_errors.leave(_main)
    finally:
        show_estimates()
