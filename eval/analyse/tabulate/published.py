"""`tables: published` of an experiment: its own figures beside those that a paper printed.

What no run has measured is named, with what the run is expected to cost; contexts that no model
writes are counted without a run.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel

from eval.analyse.tabulate.grid import Grid, Own, expected_costs, load_grid, measured_jobs, page
from eval.datasets.files import validate
from eval.datasets.types import TYPES
from eval.metrics.protocols import protocols
from eval.metrics.stats.interval import Interval, scope
from eval.records.comma_separated import text_of
from eval.records.run import Run
from eval.rendering.blocks import Table
from eval.rendering.numbers import ABSENT, change, interval, number
from eval.summary.contrast import contrast
from eval.summary.measures import Measure, share, value
from eval.summary.quantities import Quantity, measured, objections
from eval.summary.sample import Sample
from eval.summary.summarise import OVERALL
from memsys.core.errors import InputError
from memsys.core.places import SHIPPED
from memsys.core.yaml_text import load_yaml

PUBLISHED = "published"  # request of an experiment
_NOT_MEASURED = "not measured"
_HEADINGS = {"judge": "Table 1, J", "f1": "Table 1, F1", "bleu1": "Table 1, BLEU-1"}
_COLUMNS = ("table", "row", "column", "published", "own", "own_low", "own_high", "n", "run_id")


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


class _Claim(BaseModel):
    """A percentage of the abstract: the figure of `system` by that of `against`, minus 1."""

    claim: str
    system: str
    against: str
    column: str
    change: float


class _Source(BaseModel):
    """The parts of a file of results/published that are tabulated."""

    title: str
    address: str
    labels: dict[str, dict[str, Any]]
    tables: list[_Scores]
    measurements: list[_Measurements]
    claims: list[_Claim]


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper; by the names of its rows, the jobs that measure them and the runs that there are."""

    source: _Source
    jobs: Mapping[str, Own]
    runs: Mapping[str, Run]
    commands: Sequence[str]


# Column of a file -> what is measured, and its factor to the unit printed.
_QUANTITIES: Mapping[str, tuple[Quantity, float]] = {
    "tokens": (Quantity("context_tokens", "context_tokens", None, 0), 1),
    "search_p50_s": (Quantity("retrieve_ms_p50", "retrieve_ms", 50, 1), 0.001),
    "search_p95_s": (Quantity("retrieve_ms_p95", "retrieve_ms", 95, 1), 0.001),
    "total_p50_s": (Quantity("total_ms_p50", "total_ms", 50, 1), 0.001),
    "total_p95_s": (Quantity("total_ms_p95", "total_ms", 95, 1), 0.001),
    "overall_judge": (Quantity("judge", "judge", None, 3), 100),  # for the ratio of its means
}


class _Figure(NamedTuple):
    """A cell: what the paper printed and what was measured, both in the paper's unit; a number
    without an interval is known without a run.
    """

    table: str
    row: str
    column: str
    digits: int
    published: float | None
    own: Interval | float | None = None
    run_id: str = ""


def as_page(grid: Grid, overrides: Sequence[str], runs: Path) -> tuple[str, str]:
    """Return the page of an experiment that requests `published`, and its numbers as CSV.

    `overrides`: those of its runs, which are in the folder `runs`. Raises InputError if the file of
    the paper is missing or wrong, or a run would refuse its settings.
    """
    paper = load_paper(grid, overrides, runs)
    figures = [*_scores(paper), *_measurements(paper)]
    own_runs = list({run.folder: run for run in paper.runs.values()}.values())
    manifests = [run.manifest for run in own_runs]
    costs, unknown = expected_costs(paper.jobs)
    text = page(
        "published.md.j2",
        grid,
        manifests,
        paper=paper,
        runs=own_runs,
        counts=sorted({len(run.records) for run in own_runs}),
        models=sorted({str(manifest["llm"]) for manifest in manifests}),
        judges=sorted({str((manifest["judge"] or {}).get("name")) for manifest in manifests}),
        scope=scope(len({record["conversation"] for record in run.counted}) for run in own_runs),
        claims=_claims(paper),
        tables=_tables(figures),
        unknown=unknown,
        costs=costs,
    )
    lines = [{**figure._asdict(), "n": getattr(figure.own, "n", None)} for figure in figures]
    return text, text_of(_COLUMNS, lines)


def load_paper(grid: Grid, overrides: Sequence[str], runs: Path) -> Paper:
    """Return the paper that an experiment requests, with its runs in the folder `runs`.

    `overrides`: those of the runs. Raises InputError if the file of the paper is missing or wrong,
    or a run would refuse its settings.
    """
    settings = grid.tables[PUBLISHED]
    path = SHIPPED / "results" / "published" / f"{settings['source']}.yaml"
    source = validate(_Source, load_yaml(path), str(path), "correct it")
    all_jobs = list(measured_jobs(grid, runs))
    jobs = {
        row: own
        for row, setting in settings["runs"].items()
        for own in all_jobs
        if setting in own.job.overrides
    }
    others = [override for override in overrides if not override.startswith("strategy=")]
    chunks = load_grid(settings["chunks"], others)
    for own in measured_jobs(chunks, runs):
        choices = dict(setting.partition("=")[::2] for setting in own.job.overrides)
        jobs[f"RAG, k={choices['k']}, {choices['memory.tokens']}"] = own
    done = {row: own.run for row, own in jobs.items() if own.run is not None}
    return Paper(source, jobs, done, (grid.command, chunks.command))


def _scores(paper: Paper) -> Iterator[_Figure]:
    """Yield the scores by question type, of F1 also by the other protocols of the own run."""
    for table in paper.source.tables:
        title = _HEADINGS[table.metric]
        for row in table.rows:
            run, keys = paper.runs.get(row.system), {title: table.metric}
            if run and table.metric == "f1":
                own, *others = protocols(run.manifest["scoring"])
                keys = {title: own.f1}
                keys |= {f"{title} by the protocol {other.name}": other.f1 for other in others}
            run_id = str(run.manifest["run_id"]) if run else ""
            for label, score in zip(table.columns, row.scores, strict=True):
                type_ = TYPES[paper.source.labels[label]["category"]]
                column = label if label.lower() == type_ else f"{label} ({type_})"
                rows = [record for record in run.counted if record["type"] == type_] if run else []
                for name, key in keys.items():
                    scores = [value(record, key) for record in rows]
                    mean = _scaled(Sample.of(rows, scores, run.seed).score(), 100) if run else None
                    theirs = score if name == title else None
                    yield _Figure(name, row.system, column, table.decimals, theirs, mean, run_id)


def _measurements(paper: Paper) -> Iterator[_Figure]:
    """Yield latencies, tokens and overall scores, and the sizes of stores."""
    for table in paper.source.measurements:
        name = table.name.partition(" (")[0]
        for cells in table.rows:
            by_column = dict(zip(table.columns, cells, strict=True))
            row = str(by_column["system"])
            if by_column.get("k") is not None:
                row = f"{row}, k={by_column['k']:.0f}, {by_column['tokens']:.0f}"
            for column, cell in by_column.items():
                if column not in ("system", "k"):
                    published = None if cell is None else float(cell)
                    yield _own_measurement(paper, name, row, column, published)


def _own_measurement(
    paper: Paper, table: str, row: str, column: str, published: float | None
) -> _Figure:
    digits = 0 if "tokens" in column else 2 if column == "overall_judge" else 3
    title = column.removesuffix("_s").replace("_", " ") + " s" * column.endswith("_s")
    title = {"overall_judge": "J", "store_tokens": "tokens of a store"}.get(column, title)
    figure = _Figure(table, row, title, digits, published)
    run, own = paper.runs.get(row), paper.jobs.get(row)
    if run is None:
        if own is None or (counted := own.expected) is None:
            return figure
        by_column = {"tokens": counted.context_tokens, "store_tokens": counted.store_tokens}
        return figure._replace(own=by_column.get(column))
    if column == "store_tokens":
        lines = [line for line in run.ingests if "tokens" in line.get("store", {})]
        sizes = [float(line["store"]["tokens"]) for line in lines]
        mean = Sample(sizes, [line["conversation"] for line in lines], run.seed).mean(0.0)
    else:
        quantity, factor = _QUANTITIES[column]
        mean = _scaled(measured(run, quantity), factor)
    return figure._replace(own=mean, run_id=str(run.manifest["run_id"]))


def _scaled(mean: Interval | None, factor: float) -> Interval | None:
    return mean and replace(
        mean, value=factor * mean.value, low=factor * mean.low, high=factor * mean.high
    )


def _claims(paper: Paper) -> Table:
    """Return a row for each claim: what the printed tables give, what was measured, the verdict."""
    lines = []
    for claim in paper.source.claims:
        ratio = _printed(paper, claim.system, claim.column) / _printed(
            paper, claim.against, claim.column
        )
        holds = abs(round(ratio - 1, 2)) >= abs(claim.change)
        own, verdict = _judged(paper, claim)
        theirs = f"{change(ratio - 1)}: {'holds' if holds else 'does not hold'}"
        lines.append([f"{claim.system}: {claim.claim}", theirs, interval(own, 1, change), verdict])
    return Table(["claim", "by the printed tables", "own", "verdict"], lines)


def _printed(paper: Paper, system: str, column: str) -> float:
    """Return a measurement as printed. Raises InputError if the file has none."""
    for table in paper.source.measurements:
        for cells in table.rows:
            row = dict(zip(table.columns, cells, strict=True))
            if row["system"] == system and row.get(column) is not None:
                return float(row[column] or 0)
    raise InputError(f"claims: {system} has no {column} in the file")


def _judged(paper: Paper, claim: _Claim) -> tuple[Interval | None, str]:
    """Return the own change of a claim, and the verdict on the claim."""
    quantity, _ = _QUANTITIES[claim.column]
    if missing := [name for name in (claim.system, claim.against) if name not in paper.runs]:
        return None, f"{_NOT_MEASURED}: no run of {' and '.join(missing)}"
    first, run = paper.runs[claim.against], paper.runs[claim.system]
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


def _tables(figures: Sequence[_Figure]) -> Iterator[tuple[str, Table]]:
    """Yield a heading and a table for each table of the paper."""
    for name in dict.fromkeys(figure.table for figure in figures):
        of_table = [figure for figure in figures if figure.table == name]
        columns = list(dict.fromkeys(figure.column for figure in of_table))
        lines = []
        for row in dict.fromkeys(figure.row for figure in of_table):
            cells = {figure.column: figure for figure in of_table if figure.row == row}
            of_row = [cells[column] for column in columns]
            theirs = [number(figure.published, figure.digits) for figure in of_row]
            own = [_own_text(figure) for figure in of_row]
            named = ([row, *theirs], [f"{row}, own", *own])
            lines += [line for line in named if {*line[1:]} != {ABSENT}]
        if lines:
            yield name, Table(["system", *columns], lines)


def _own_text(figure: _Figure) -> str:
    if isinstance(figure.own, float):
        return number(figure.own, figure.digits)
    return interval(figure.own, figure.digits)
