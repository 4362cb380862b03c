"""A paper's figures, the runs that measure its systems, and the verdicts on its claims."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from hydra import compose, initialize_config_dir
from omegaconf import DictConfig, OmegaConf
from pydantic import BaseModel

from eval.analyse.tabulate.grid import Grid, Job, find_folders, load_grid, load_job
from eval.datasets.files import NotHereError, validate
from eval.metrics.stats.interval import Interval
from eval.records.run import Run
from eval.rendering.errors import configuration_errors
from eval.run.estimate import Expected, expected
from eval.summary.contrast import contrast
from eval.summary.measures import Measure, share
from eval.summary.quantities import Quantity, objections
from eval.summary.summarise import OVERALL
from memsys.core.errors import InputError
from memsys.core.places import CONF, SHIPPED
from memsys.core.yaml_text import load_yaml

PUBLISHED = "published"  # request of an experiment
_NOT_MEASURED = "not measured"
_VALUES = ("k", "memory.tokens")  # settings of chunks, set without composing anew, which is slow


class _Row(BaseModel):
    system: str
    scores: list[float]


class _Scores(BaseModel):
    name: str
    metric: str
    columns: list[str]
    decimals: int
    rows: list[_Row]


class _Measurements(BaseModel):
    name: str
    columns: list[str]
    rows: list[list[str | float | None]]


class Claim(BaseModel):
    """A percentage of the abstract: the figure of `system` by that of `against`, minus 1."""

    claim: str
    system: str
    against: str
    column: str
    change: float


class Source(BaseModel):
    """The parts of a file of results/published that are tabulated."""

    title: str
    address: str
    labels: dict[str, dict[str, Any]]
    tables: list[_Scores]
    measurements: list[_Measurements]
    claims: list[Claim]


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
class Paper:
    """A paper and the jobs that measure its systems, by the names of its rows."""

    source: Source
    jobs: Mapping[str, Own]
    commands: Sequence[str]

    def run(self, system: str) -> Run | None:
        """Return the run that measures a row, None if there is none."""
        return self.jobs[system].run if system in self.jobs else None


# Column of a file -> what is measured, and its factor to the unit printed.
QUANTITIES: Mapping[str, tuple[Quantity, float]] = {
    "tokens": (Quantity("context_tokens", "context_tokens", None, 0), 1),
    "search_p50_s": (Quantity("retrieve_ms_p50", "retrieve_ms", 50, 1), 0.001),
    "search_p95_s": (Quantity("retrieve_ms_p95", "retrieve_ms", 95, 1), 0.001),
    "total_p50_s": (Quantity("total_ms_p50", "total_ms", 50, 1), 0.001),
    "total_p95_s": (Quantity("total_ms_p95", "total_ms", 95, 1), 0.001),
    "overall_judge": (Quantity("judge", "judge", None, 3), 100),  # for the ratio of its means
}


def load_paper(grid: Grid, overrides: Sequence[str], runs: Path) -> Paper:
    """Return the paper that an experiment requests, with its runs in the folder `runs`.

    `overrides`: those of the runs. Raises InputError if the file of the paper is missing or wrong,
    or a run would refuse its settings.
    """
    settings = grid.tables[PUBLISHED]
    path = SHIPPED / "results" / "published" / f"{settings['source']}.yaml"
    source = validate(Source, load_yaml(path), str(path), "correct it")
    found = list(_owns(grid, runs))
    jobs = {
        row: own
        for row, setting in settings["runs"].items()
        for own in found
        if setting in own.job.overrides
    }
    others = [one for one in overrides if not one.startswith("strategy=")]
    chunks = load_grid(settings["chunks"], others)
    for own in _owns(chunks, runs):
        chosen = dict(one.partition("=")[::2] for one in own.job.overrides)
        jobs[f"RAG, k={chosen['k']}, {chosen['memory.tokens']}"] = own
    return Paper(source, jobs, (grid.command, chunks.command))


def _owns(grid: Grid, runs: Path) -> Iterator[Own]:
    """Yield each job of `grid` with its run, or what that is expected to take."""
    composed: dict[tuple[str, ...], DictConfig] = {}
    for job, folder in zip(grid.jobs, find_folders(grid, runs), strict=True):
        if folder is not None:
            yield Own(job, load_job(grid, job, folder))
            continue
        values = [one for one in job.overrides if one.partition("=")[0] in _VALUES]
        options = tuple(one for one in job.overrides if one not in values)
        try:
            with configuration_errors(), initialize_config_dir(str(CONF), version_base="1.3"):
                if options not in composed:
                    composed[options] = compose("config", [f"experiment={grid.name}", *options])
                config = OmegaConf.merge(composed[options], OmegaConf.from_dotlist(values))
                own = Own(job, None, expected(cast(DictConfig, config)))
        except NotHereError as error:
            own = Own(job, None, unknown=str(error))
        yield own


def printed(paper: Paper, system: str, column: str) -> float:
    """Return a measurement as printed. Raises InputError if the file has none."""
    for table in paper.source.measurements:
        for cells in table.rows:
            row = dict(zip(table.columns, cells, strict=True))
            if row["system"] == system and row.get(column) is not None:
                return float(row[column] or 0)
    raise InputError(f"claims: {system} has no {column} in the file")


def judged(paper: Paper, claim: Claim) -> tuple[Interval | None, str]:
    """Return the own change of a claim, and the verdict on the claim."""
    first, run = paper.run(claim.against), paper.run(claim.system)
    quantity, _ = QUANTITIES[claim.column]
    missing = [name for name in (claim.system, claim.against) if paper.run(name) is None]
    if first is None or run is None:
        return None, f"{_NOT_MEASURED}: no run of {' and '.join(missing)}"
    if against := objections(first, run, quantity):
        return None, f"{_NOT_MEASURED}: {against[0]}"
    measure = Measure(quantity.name, (OVERALL,), quantity=quantity)
    (rows,) = contrast([(measure, share([first, run], measure))], run.seed)
    if not rows:
        return None, f"{_NOT_MEASURED}: no question in both runs"
    own, sign = rows[0].contrasts[0].difference, math.copysign(1, claim.change)
    nearest, farthest = sorted((sign * own.low, sign * own.high))
    if farthest < abs(claim.change):
        return own, "refuted"
    return own, "shown" if nearest > 0 else "not decided"
