"""A command run again within this process, and what came of it."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from hydra import compose, initialize_config_dir
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from eval import naming
from eval.building import build
from eval.exits import blame
from eval.manifest import describe
from eval.protocols import protocols
from eval.records import Record
from eval.regressing.pins import DIGITS, SCORES, Outcome
from eval.runner import Runner
from eval.summary import summarise
from memsys.errors import InputError


def measure(arguments: Sequence[str]) -> Outcome:
    """Run `python -m eval.run ARGUMENTS` and keep nothing but its scores; one run, no sweep.

    Vectors come from and go to the cache as ever. Raises InputError on what eval.run refuses, and
    where a question fails: a score over fewer questions is no score to compare.
    """
    try:
        config, choices = _composed(arguments)
        built = build(config, choices, 0.0)
        resolved = cast(dict[str, Any], OmegaConf.to_container(config, resolve=True))
        manifest = describe("regress", resolved, choices, built.dataset, built.models.described())
        with tempfile.TemporaryDirectory() as folder:
            records = Runner(built, Path(folder), config.concurrency).run()
    except (HydraException, OmegaConfBaseException) as error:
        raise InputError(blame(error)) from error
    _check_answered(records)
    summary = summarise(
        records, manifest, manifest["seed"], resamples=2
    )  # no interval is looked at
    return Outcome(
        protocols(manifest["scoring"])[0].name,
        {file["name"]: file["sha256"] for file in manifest["data"]},
        {name: _cell(cell) for name, cell in summary["by_type"].items() if cell["n"]},
    )


def _composed(arguments: Sequence[str]) -> tuple[DictConfig, dict[str, str]]:
    """The configuration and the chosen options, as eval.run composes them."""
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False)
    parser.add_argument("--config-dir")
    options, overrides = parser.parse_known_args(list(arguments))
    if flags := [one for one in overrides if one.startswith("-")]:
        raise InputError(f"command: {flags[0]}: a pin is of one run; --config-dir is known alone")
    if options.config_dir:
        overrides.append(f"hydra.searchpath=[file://{Path(options.config_dir).resolve()}]")
    naming.register()
    with initialize_config_dir(str(naming.CONF.resolve()), version_base="1.3"):
        config = compose("config", overrides, return_hydra_config=True)
    named = config.hydra.runtime.choices.items()
    choices = {name: option for name, option in named if "hydra" not in name}
    OmegaConf.set_struct(config, False)
    del config["hydra"]
    OmegaConf.set_struct(config, True)
    return config, choices


def _check_answered(records: Sequence[Record]) -> None:
    failed = [record for record in records if record["status"] == "error"]
    if failed:
        first = failed[0]
        raise InputError(
            f"{len(failed)} of {len(records)} questions failed, the first {first['id']} in "
            f"{first['error']['phase']}: {first['error']['kind']}: {first['error']['message']}"
        )


def _cell(cell: Mapping[str, Any]) -> dict[str, float | None]:
    values = {name: cell[name] for name in SCORES}
    return {
        "n": cell["n"],
        **{name: None if one is None else round(one, DIGITS) for name, one in values.items()},
    }
