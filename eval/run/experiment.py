"""Run one composed configuration into its folder: the same for the command and for Python."""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from hydra import compose, initialize_config_dir
from omegaconf import DictConfig, OmegaConf

from eval.pricing.ledger import PaidCalls
from eval.records import folder as folders
from eval.records.manifest import describe
from eval.rendering.run_tables import report_md
from eval.run import hydra_help
from eval.run.build import build
from eval.run.ingest import THROUGH
from eval.run.runner import Runner
from eval.run.terminal import show_end, show_start, show_stop
from eval.summary.closing import close
from memsys.errors import InputError


def composed(arguments: Sequence[str]) -> tuple[DictConfig, dict[str, str]]:
    """Compose the configuration and the chosen options from the arguments of `eval.run`.

    Raises HydraException on an unknown option, InputError on flags other than --config-dir.
    """
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False)
    parser.add_argument("--config-dir")
    options, overrides = parser.parse_known_args(list(arguments))
    if flags := [one for one in overrides if one.startswith("-")]:
        raise InputError(f"{flags[0]}: a single run takes overrides and --config-dir alone")
    if options.config_dir:
        overrides.append(f"hydra.searchpath=[file://{Path(options.config_dir).resolve()}]")
    hydra_help.register()
    with initialize_config_dir(str(hydra_help.CONF.resolve()), version_base="1.3"):
        config = compose("config", overrides, return_hydra_config=True)
    choices = options_of(config.hydra.runtime.choices)
    OmegaConf.set_struct(config, False)
    del config["hydra"]
    OmegaConf.set_struct(config, True)
    return config, choices


def options_of(choices: Mapping[str, str]) -> dict[str, str]:
    """The chosen option of each group of memsys, without Hydra's own."""
    return {name: option for name, option in choices.items() if "hydra" not in name}


def execute(
    config: DictConfig,
    choices: dict[str, str],
    folder: Path,
    resume: str | int | None = None,
    overrides: Sequence[str] = (),
    arguments: Sequence[str] | None = None,
    details: Mapping[str, Any] | None = None,
    note: str | None = None,
) -> None:
    """Build, run and close one run in `folder`, with its start and end on the terminal.

    `arguments` (None: those of this process) and `overrides` make up the manifest's command;
    `details` are further fields of the manifest; `note` is printed after the start. Raises
    InputError and BudgetReached, and KeyboardInterrupt after marking the run as interrupted.
    """
    began = time.perf_counter()
    built = build(config, choices, PaidCalls(folder))
    resolved = cast(dict[str, Any], OmegaConf.to_container(config, resolve=True))
    manifest = describe(
        folder.name, resolved, choices, built.dataset, built.described(), overrides, arguments
    )
    manifest["sweep"] = None
    manifest.update(details or {})  # type: ignore[typeddict-item] # fields of the manifest
    with folders.locked(folder):
        manifest = folders.begin(folder, manifest, resume)
        show_start(manifest, built.dataset)
        if note is not None:
            print(note)
        gc.freeze()  # the loaded data stays: collecting it again and again costs a tenth
        runner = Runner(built, folder, config.concurrency)
        try:
            records = runner.run()
        except (KeyboardInterrupt, *THROUGH):
            folders.interrupt(folder, manifest, runner.clock.seconds(), began)
            show_stop(folder, manifest)
            raise
        manifest["warnings"] += runner.warnings
        manifest["system"] = runner.details or manifest.get("system")
        seconds = runner.clock.seconds()
        summary = close(folder, manifest, records, seconds, began, report_md)
        show_end(folder, summary, records)
