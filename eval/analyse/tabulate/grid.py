"""The runs of an experiment: its sweep, their folders, what missing ones are expected to cost, and
the page of its tables, with where they are from.
"""

import itertools
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from hydra import compose, initialize_config_dir
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig, OmegaConf

from eval.datasets.files import NotHereError
from eval.records.manifest import OPERATIONAL, load_manifest
from eval.records.run import Run, load_run
from eval.records.schema import Manifest
from eval.rendering.blocks import Table
from eval.rendering.errors import configuration_errors
from eval.rendering.numbers import number
from eval.rendering.page import page_markdown
from eval.run.composing import register
from eval.run.estimate import Expected, expected
from eval.run.option_help import title as title_of
from memsys.core.errors import InputError
from memsys.core.places import CONF, MANIFEST, RUNS

HASH = 10  # digits of a sha256 in tables
_VALUES = ("k", "memory.tokens")  # settings that are set without composing anew, which is slow


@dataclass(frozen=True, slots=True)
class Job:
    """One run of a sweep: its overrides, `name=value` each.

    Jobs of one `group` differ only in the sweep's last parameter, whose value is the `label`; they
    are compared with the first of the group.
    """

    overrides: tuple[str, ...]
    group: str
    label: str


@dataclass(frozen=True, slots=True)
class Own:
    """A job of the experiment: its run, or else what that is expected to take, or why the latter is
    not known.
    """

    job: Job
    run: Run | None
    expected: Expected | None = None
    unknown: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """An experiment: `command` runs it, `factor` is the last parameter of its sweep.

    `tables`: names and settings of the tables that it requests besides the effects.
    """

    name: str
    title: str
    command: str
    factor: str
    jobs: tuple[Job, ...]
    tables: Mapping[str, Any]


def load_grid(name: str, overrides: Sequence[str] = ()) -> Grid:
    """Load the grid of conf/experiment/NAME.yaml with the `overrides` that its sweep was given.

    Raises InputError on an unknown experiment or override.
    """
    register()
    with configuration_errors():
        with initialize_config_dir(str(CONF), version_base="1.3"):
            config = compose("config", [f"experiment={name}"], return_hydra_config=True)
        params = config.hydra.sweeper.params or {}
        texts = [f"{key}={values}" for key, values in params.items()]
        parsed = OverridesParser.create().parse_overrides([*texts, *overrides])
    values: dict[str, list[str]] = {}  # overrides replace the values of the file
    for override in parsed:
        key = override.get_key_element()
        swept = override.is_sweep_override()
        values[key] = list(
            override.sweep_string_iterator() if swept else [override.get_value_element_as_str()]
        )
    varied = [key for key in params if len(values[key]) > 1]
    if not varied:
        raise InputError(f"experiment={name}: a single run; memsys tabulate needs several")
    jobs = []
    for combination in itertools.product(*values.values()):
        choices = dict(zip(values, combination, strict=True))
        group = " ".join(f"{key}={choices[key]}" for key in varied[:-1])
        settings = tuple(f"{key}={value}" for key, value in choices.items())
        jobs.append(Job(settings, group, choices[varied[-1]]))
    command = shlex.join(["python", "-m", "eval.run", "-m", f"experiment={name}", *overrides])
    title = title_of(CONF / "experiment" / f"{name}.yaml")
    tables = cast(
        dict[str, Any], OmegaConf.to_container(config.get("tables") or OmegaConf.create())
    )
    return Grid(name, title, command, varied[-1], tuple(jobs), tables)


def find_runs(grid: Grid, runs: Path = RUNS) -> list[Run]:
    """Load the newest complete run of each job from the folder `runs`, in the grid's order.

    Raises InputError if a run is missing.
    """
    pairs = list(zip(grid.jobs, find_folders(grid, runs), strict=True))
    if missing := [job for job, folder in pairs if folder is None]:
        raise InputError(
            f"{runs}: {len(missing)} of {len(grid.jobs)} runs are missing (the first: "
            f"{' '.join(missing[0].overrides)}); run {grid.command}"
        )
    return [load_job(grid, job, folder) for job, folder in pairs if folder is not None]


def find_folders(grid: Grid, runs: Path = RUNS) -> list[Path | None]:
    """Return the folder of the newest complete run of each job, in the grid's order; None where
    there is none.
    """
    newest: dict[frozenset[str], Path] = {}
    for path in sorted(runs.glob(f"*/{MANIFEST}")):
        manifest = load_manifest(path.parent)
        of_grid = manifest["choices"].get("experiment") == grid.name
        if of_grid and manifest["status"] == "complete":
            given = [arg for arg in shlex.split(manifest["command"]) if "=" in arg]
            names = {arg: arg.partition("=")[0] for arg in given if not arg.startswith("hydra.")}
            settings = frozenset(arg for arg, key in names.items() if key not in OPERATIONAL)
            newest[settings] = path.parent
    return [newest.get(frozenset({f"experiment={grid.name}", *job.overrides})) for job in grid.jobs]


def load_job(grid: Grid, job: Job, folder: Path) -> Run:
    """Load the run of a job without what no table needs, which is most of its memory."""
    run = load_run(folder, label=f"{job.group} {grid.factor}={job.label}".strip())
    for record in run.records.values():
        record["retrieved"] = None
        record["trace"].pop("expansion", None)
        record["trace"].pop("memory_score", None)
    return run


def measured_jobs(grid: Grid, runs: Path) -> Iterator[Own]:
    """Yield each job of `grid` with its run in the folder `runs`, or what that is expected to take.

    Raises InputError if a run would refuse its settings.
    """
    composed: dict[tuple[str, ...], DictConfig] = {}
    for job, folder in zip(grid.jobs, find_folders(grid, runs), strict=True):
        if folder is not None:
            yield Own(job, load_job(grid, job, folder))
            continue
        values = [setting for setting in job.overrides if setting.partition("=")[0] in _VALUES]
        options = tuple(setting for setting in job.overrides if setting not in values)
        try:
            with configuration_errors(), initialize_config_dir(str(CONF), version_base="1.3"):
                if options not in composed:
                    composed[options] = compose("config", [f"experiment={grid.name}", *options])
                config = OmegaConf.merge(composed[options], OmegaConf.from_dotlist(values))
                own = Own(job, None, expected(cast(DictConfig, config)))
        except NotHereError as error:
            own = Own(job, None, unknown=str(error))
        yield own


def expected_costs(jobs: Mapping[str, Own]) -> tuple[Table, list[str]]:
    """Return what each of the named jobs without a run is expected to cost, as far as known, with
    the sum, and why the costs of others are not known. A job may have several names.
    """
    missing: dict[int, tuple[str, Own]] = {}
    for row, own in jobs.items():
        if own.run is None:
            missing.setdefault(id(own), (row, own))
    estimates = [(row, own.expected) for row, own in missing.values() if own.expected is not None]
    costs = [(row, cost.calls, cost.system_usd, cost.judge_usd) for row, cost in estimates]
    if costs:
        _, *columns = zip(*costs, strict=True)
        calls, system, judge = (sum(value or 0 for value in column) for column in columns)
        costs.append(("together", calls, system, judge))
    rows = [[row, f"{n:,}", number(system, 2), number(judge, 2)] for row, n, system, judge in costs]
    unknown = dict.fromkeys(own.unknown for _, own in missing.values() if own.unknown)
    return Table(["system", "calls", "system $", "judge $"], rows), list(unknown)


def label_of(run: Run, *, grouped: bool) -> str:
    """Return the label of a row: the value of the sweep's last parameter or, of `grouped` runs, all
    values.
    """
    return f"`{run.label if grouped else run.label.partition('=')[2]}`"


def page(template: str, grid: Grid, manifests: Sequence[Manifest], **values: object) -> str:
    """Return the page of an experiment by a template that extends page.md.j2; `manifests`: of its
    runs.
    """
    of_runs = {"manifests": manifests, "made": _provenance(manifests), "files": files_of(manifests)}
    named = {"grid": grid, "name": shlex.quote(grid.name)}
    return page_markdown(template, __name__.rpartition(".")[0], **named, **of_runs, **values)


def files_of(manifests: Iterable[Manifest]) -> str:
    """Return the distinct data files of runs with the first digits of their hashes."""
    files = {f"{file['name']} {file['sha256'][:HASH]}" for m in manifests for file in m["data"]}
    return ", ".join(sorted(files))


def _provenance(manifests: Sequence[Manifest]) -> str:
    """Return the days and commits of runs, as `2026-11-22, commit 585bff7933 with changes`."""
    states = {(manifest["git"] or {}).get("commit", "unknown")[:10] for manifest in manifests}
    dirty = any((manifest["git"] or {}).get("dirty") for manifest in manifests)
    days = sorted({manifest["started"][:10] for manifest in manifests})
    changed = " with changes" if dirty else ""
    return f"{', '.join(days)}, commit {', '.join(sorted(states))}{changed}"
