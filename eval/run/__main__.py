"""`python -m eval.run`: build what the configuration names, run it, show what came out."""

from __future__ import annotations

import gc
import time
from pathlib import Path
from typing import Any, cast

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from eval.pricing.ledger import PaidCalls
from eval.records import folder as folders
from eval.records.manifest import describe
from eval.run import sweep
from eval.run import sweep_errors as exits
from eval.run.build import build
from eval.run.estimate import show_estimate
from eval.run.ingest import THROUGH
from eval.run.runner import Runner
from eval.run.terminal import show_end, show_one_of_many, show_start, show_stop


@hydra.main(version_base="1.3", config_path="../../conf", config_name="config")
def _main(config: DictConfig) -> None:
    job = HydraConfig.get()
    folder = Path(job.runtime.output_dir)
    with exits.one_line(folder, sweep=job.mode == RunMode.MULTIRUN):
        _run(config, {k: v for k, v in job.runtime.choices.items() if "hydra" not in k}, folder)


def _run(config: DictConfig, choices: dict[str, str], folder: Path) -> None:
    began = time.perf_counter()
    if config.estimate:
        show_estimate(config)
        folders.discard_if_empty(folder)
        return
    resume = config.resume
    if left := sweep.left_behind(folder):
        folders.discard_if_empty(folder)
        folder, resume = left, left.name
    built = build(config, choices, PaidCalls(folder))
    resolved = cast(dict[str, Any], OmegaConf.to_container(config, resolve=True))
    described, overrides = built.described(), HydraConfig.get().overrides.task
    manifest = describe(folder.name, resolved, choices, built.dataset, described, overrides)
    manifest["sweep"] = sweep.described()
    with folders.locked(folder):
        manifest = folders.begin(folder, manifest, resume)
        show_start(manifest, built.dataset)
        show_one_of_many(_swept())
        gc.freeze()  # what is loaded stays: to search it for garbage again and again is a tenth
        runner = Runner(built, folder, config.concurrency)
        try:
            records = runner.run()
        except (KeyboardInterrupt, *THROUGH):
            folders.interrupt(folder, manifest, runner.clock.seconds(), began)
            show_stop(folder, manifest)
            raise
        manifest["warnings"] += runner.warnings
        manifest["system"] = runner.details or manifest.get("system")
        summary = folders.close(folder, manifest, records, runner.clock.seconds(), began)
        show_end(folder, summary, records)


def _swept() -> str | None:
    """The experiment of which this is but one run, as the -m was left out; None where all that the
    experiment varies was given, as in a command that repeats one of its runs.
    """
    job = HydraConfig.get()
    varied = set(job.sweeper.get("params") or ())
    given = {override.partition("=")[0] for override in job.overrides.task}
    if job.mode == RunMode.MULTIRUN or varied <= given:
        return None
    return cast(str | None, job.runtime.choices.get("experiment"))


if __name__ == "__main__":
    exits.leave(_main)
