"""`tables: matrix` of an experiment, in place of all other tables: the values of its last parameter
by all data sets.

What is missing is named, and the rest is tabulated. `reference`: the value of the last parameter
that differences are to.
"""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from eval.analyse.tabulate.column import LATENCY, NDCG, RECALL, TOKENS, Column, measured
from eval.analyse.tabulate.grid import Grid, Job, find_folders, load_job
from eval.analyse.tabulate.provenance import heading, made
from eval.metrics.stats.interval import FEWEST
from eval.records.schema import Manifest
from eval.rendering.numbers import ABSENT
from eval.rendering.terminal import markdown
from memsys.core.errors import InputError

MATRIX, _REFERENCE = "matrix", "reference"
_TITLES = {
    RECALL: "Recall@10",
    NDCG: "nDCG@10",
    TOKENS: "Context tokens",
    LATENCY: "Retrieval latency, p95 in ms",
}


def measure_columns(grid: Grid, runs: Path) -> list[Column]:
    """Measure the runs of `grid` in the folder `runs`, one data set after the other, as the
    rankings of all need much memory. Raises InputError if there is no run.
    """
    reference = _reference(grid)
    folders = find_folders(grid, runs)
    if not any(folders):
        raise InputError(f"{runs}: no run of {grid.name} is there; run {grid.command}")
    pairs = zip(grid.jobs, folders, strict=True)
    found = []
    for _, members in itertools.groupby(pairs, key=lambda pair: pair[0].group):
        of_group = list(members)
        done = {job.label: load_job(grid, job, path) for job, path in of_group if path is not None}
        gaps = _absent(grid, [job for job, path in of_group if path is None], len(of_group))
        found.append(measured(_name(of_group[0][0]), done, reference, gaps))
    return found


def as_page(grid: Grid, columns: Sequence[Column]) -> str:
    """Return the page in markdown: data sets, how to read it, a matrix per measure, what is
    missing.
    """
    manifests = [manifest for one in columns for manifest in one.manifests]
    readers = sorted({str(one["models"]["reader"]) for one in manifests})
    parts = [
        *heading(grid),
        f"{len(manifests)} runs, {made(manifests)}; reader {', '.join(readers)}.",
        markdown(
            ["data set", "questions with evidence", "conversations", "embedder", "file"],
            [_described(one) for one in columns],
        ),
        _reading(grid, columns),
    ]
    rows = dict.fromkeys(job.label for job in grid.jobs)
    for key, title in _TITLES.items():
        cells = [
            [f"`{row}`", *(one.cells.get(key, {}).get(row, ABSENT) for one in columns)]
            for row in rows
        ]
        known = [line for line in cells if set(line[1:]) != {ABSENT}]
        parts += [f"## {title}", markdown([grid.factor, *(one.name for one in columns)], known)]
    if gaps := [f"- {one.name}: {gap}" for one in columns for gap in one.gaps]:
        parts += ["## Missing", "\n".join(gaps)]
    return "\n\n".join(parts) + "\n"


def _reference(grid: Grid) -> str:
    settings = grid.tables[MATRIX]
    if not isinstance(settings, Mapping) or settings.get(_REFERENCE) is None:
        raise InputError(
            f"conf/experiment/{grid.name}.yaml: tables: {MATRIX}: set {_REFERENCE} to the value of "
            f"{grid.factor} that differences are to"
        )
    return str(settings[_REFERENCE])


def _name(job: Job) -> str:
    """Return the data set, with the values of other parameters than the last, if any vary."""
    values = dict(one.split("=", 1) for one in job.overrides)
    name = values.get("dataset", job.group)
    others = [one for one in job.group.split() if not one.startswith("dataset=")]
    return " ".join([name, *others])


def _absent(grid: Grid, jobs: Sequence[Job], of: int) -> list[str]:
    """Name the jobs without a complete run, and the command that runs them."""
    if not jobs:
        return []
    which = "no run" if len(jobs) == of else f"no run of {', '.join(job.label for job in jobs)}"
    values = dict(one.split("=", 1) for one in jobs[0].overrides)
    values[grid.factor] = ",".join(job.label for job in jobs)
    settings = [f"{name}={value}" for name, value in values.items()]
    command = shlex.join(["python", "-m", "eval.run", "-m", f"experiment={grid.name}", *settings])
    return [f"{which}; `{command}`"]


def _described(column: Column) -> list[str]:
    files = {f"{f['name']} {f['sha256'][:10]}" for one in column.manifests for f in one["data"]}
    counts = [f"{one:,}" if one else ABSENT for one in (column.n, column.conversations)]
    used = set().union(*map(_embedders, column.manifests))
    named = (", ".join(sorted(names)) or ABSENT for names in (used, files))
    return [column.name, *counts, *named]


def _embedders(manifest: Manifest) -> set[str]:
    """Return the run's embedder, if any conversation has it, and those of other languages."""
    others = manifest.get("embedders") or {}
    all_others = bool(others) and set(manifest.get("stores") or {}) <= set(others)
    own = manifest["models"]["embedder"]
    return {*others.values(), *([] if all_others or own is None else [own])}


def _reading(grid: Grid, columns: Sequence[Column]) -> str:
    reference = _reference(grid)
    few = [one.name for one in columns if 0 < one.conversations < FEWEST]
    exceptions = (
        f", and of fewer than {FEWEST} ({', '.join(few)}) over their questions, which says nothing "
        "of other conversations"
        if few
        else ""
    )
    return (
        "Types 1 to 4 of LoCoMo, elsewhere all types but 5; recall and nDCG of the questions with "
        "evidence that all runs of a column answered, tokens and latency of all. 95% intervals "
        f"over conversations{exceptions}. **Bold**: the highest mean of its column. ≈: the "
        "difference from it, paired by question, has an interval that contains 0 (without "
        "adjustment for the number of rows). †: memories without an order: the recall of all that "
        "was put before the "
        f"reader, compared with no other. (…×): times the latency of {reference}; latencies are of "
        "one run on one machine and have no interval. The CSV file has the differences from "
        f"{reference}, paired by question, with intervals and p by Holm's method over both "
        "measures of a data set (docs/statistics.md)."
    )
