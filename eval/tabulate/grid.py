"""The runs that an experiment consists of, and where they were left."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hydra import compose, initialize_config_dir
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException

from eval.records.jsonl import MANIFEST
from eval.records.manifest import OPERATIONAL, load_manifest
from eval.records.run import RUNS, Run, load_run
from eval.records.schema import Manifest
from eval.rendering.errors import CONF, blame, one_line
from eval.run import hydra_help as naming
from memsys.errors import InputError


@dataclass(frozen=True, slots=True)
class Job:
    """One run of a grid: its overrides, `name=value` each. Jobs of one `group` are set against its
    first; they differ in the grid's last parameter alone, and `label` is its value.
    """

    overrides: tuple[str, ...]
    group: str
    label: str


@dataclass(frozen=True, slots=True)
class Grid:
    """An experiment: `command` runs it, `factor` is its last parameter."""

    name: str
    title: str
    command: str
    factor: str
    jobs: tuple[Job, ...]


def load_grid(name: str, overrides: Sequence[str] = ()) -> Grid:
    """The grid of conf/experiment/NAME.yaml, with `overrides` as they were given to its sweep.

    Raises InputError on an unknown experiment or override.
    """
    naming.register()
    try:
        with initialize_config_dir(str(CONF.resolve()), version_base="1.3"):
            config = compose("config", [f"experiment={name}"], return_hydra_config=True)
        params = config.hydra.sweeper.params or {}
        texts = [f"{key}={values}" for key, values in params.items()]
        parsed = OverridesParser.create().parse_overrides([*texts, *overrides])
    except HydraException as error:
        raise InputError(blame(error) or one_line(error)) from error
    values: dict[str, list[str]] = {}  # what is given takes the place of the grid's own values
    for one in parsed:
        key = one.get_key_element()
        swept = one.is_sweep_override()
        values[key] = list(
            one.sweep_string_iterator() if swept else [one.get_value_element_as_str()]
        )
    varied = [key for key in params if len(values[key]) > 1]
    if not varied:
        raise InputError(f"experiment={name}: a single run; eval.tabulate needs several")
    jobs = []
    for combination in itertools.product(*values.values()):
        chosen = dict(zip(values, combination, strict=True))
        group = " ".join(f"{key}={chosen[key]}" for key in varied[:-1])
        told = tuple(f"{key}={value}" for key, value in chosen.items())
        jobs.append(Job(told, group, chosen[varied[-1]]))
    command = shlex.join(["python", "-m", "eval.run", "-m", f"experiment={name}", *overrides])
    title = naming.title(CONF / "experiment" / f"{name}.yaml")
    return Grid(name, title, command, varied[-1], tuple(jobs))


def find_runs(grid: Grid, runs: Path = RUNS) -> list[Run]:
    """The newest complete run of each job, in the grid's order, from the folder `runs`.

    Raises InputError if one is missing.
    """
    newest: dict[frozenset[str], Path] = {}
    for path in sorted(runs.glob(f"*/{MANIFEST}")):
        manifest = load_manifest(path.parent)
        own = manifest["choices"].get("experiment") == grid.name
        if own and manifest["status"] == "complete":
            newest[_told(manifest)] = path.parent
    wanted = [frozenset({f"experiment={grid.name}", *job.overrides}) for job in grid.jobs]
    missing = [job for job, key in zip(grid.jobs, wanted, strict=True) if key not in newest]
    if missing:
        raise InputError(
            f"{runs}: {len(missing)} of {len(grid.jobs)} runs are missing (the first: "
            f"{' '.join(missing[0].overrides)}); run {grid.command}"
        )
    return [
        _load(job, newest[key], grid.factor) for job, key in zip(grid.jobs, wanted, strict=True)
    ]


def _told(manifest: Manifest) -> frozenset[str]:
    """The overrides of a run's command that have a part in what came out."""
    words = shlex.split(manifest["command"])
    overrides = [word for word in words if "=" in word]
    return frozenset(
        one
        for one in overrides
        if not one.startswith("hydra.") and one.partition("=")[0] not in OPERATIONAL
    )


def _load(job: Job, folder: Path, factor: str) -> Run:
    label = f"{job.group} {factor}={job.label}".strip()
    run = load_run(folder, label=label)
    for record in run.records.values():
        record["retrieved"] = None  # frees most of the memory of many runs; no table needs it
        record["trace"].pop("expansion", None)
    return run
