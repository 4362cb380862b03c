"""`tables: matrix` of an experiment, in place of all other tables: the values of its last parameter
by all data sets.

What is missing is named, and the rest is tabulated. `reference`: the value of the last parameter
that differences are to.
"""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.analyse.tabulate.effects import context_tokens
from eval.analyse.tabulate.grid import Grid, Job, files_of, find_folders, load_job, page
from eval.datasets.types import ADVERSARIAL
from eval.metrics.retrieval.registry import parse
from eval.metrics.stats.interval import FEWEST, ClusterBootstrap, Interval
from eval.records.run import Run
from eval.records.schema import Manifest, Record
from eval.rendering.blocks import Table
from eval.rendering.contrasts import csv_lines
from eval.rendering.numbers import ABSENT, interval, number
from eval.summary.contrast import contrast
from eval.summary.measures import FAILED, Measure, Shared, share
from eval.summary.retrieval import by_type, is_selected, unknown
from eval.summary.sample import Sample
from eval.summary.summarise import OVERALL, percentile
from memsys.core.errors import InputError

RECALL, NDCG, TOKENS, LATENCY = "recall@10", "ndcg@10", "context_tokens", "retrieve_ms_p95"
MATRIX, _REFERENCE = "matrix", "reference"
_TITLES = {
    RECALL: "Recall@10",
    NDCG: "nDCG@10",
    TOKENS: "Context tokens",
    LATENCY: "Retrieval latency, p95 in ms",
}
_RANKINGS = tuple(Measure(name, (OVERALL,), parse(name)) for name in (RECALL, NDCG))
_ALIKE, _SELECTED = " ≈", " †"
_ALL = parse("recall")
_P = 95


def measure_columns(grid: Grid, runs: Path) -> list[Column]:
    """Measure the runs of `grid` in the folder `runs`, one data set after the other, as the
    rankings of all need much memory. Raises InputError if there is no run.
    """
    reference = _reference(grid)
    folders = find_folders(grid, runs)
    if not any(folders):
        raise InputError(f"{runs}: no run of {grid.name} is there; run {grid.command}")
    pairs = zip(grid.jobs, folders, strict=True)
    columns = []
    for _, members in itertools.groupby(pairs, key=lambda pair: pair[0].group):
        of_group = list(members)
        done = {job.label: load_job(grid, job, path) for job, path in of_group if path is not None}
        gaps = _gaps(grid, [job for job, path in of_group if path is None], len(of_group))
        first = of_group[0][0]
        values = dict(setting.split("=", 1) for setting in first.overrides)
        others = [setting for setting in first.group.split() if not setting.startswith("dataset=")]
        name = " ".join([values.get("dataset", first.group), *others])
        columns.append(measured(name, done, reference, gaps))
    return columns


def as_page(grid: Grid, columns: Sequence[Column]) -> str:
    """Return the page in markdown: data sets, how to read it, a matrix per measure, what is
    missing.
    """
    manifests = [manifest for column in columns for manifest in column.manifests]
    header = [grid.factor, *(column.name for column in columns)]
    matrices = {}
    for key, title in _TITLES.items():
        cells = [
            [f"`{row}`", *(column.cells.get(key, {}).get(row, ABSENT) for column in columns)]
            for row in dict.fromkeys(job.label for job in grid.jobs)
        ]
        matrices[title] = Table(header, [line for line in cells if set(line[1:]) != {ABSENT}])
    described = ["data set", "questions with evidence", "conversations", "embedder", "file"]
    return page(
        "matrix.md.j2",
        grid,
        manifests,
        readers=sorted({str(manifest["models"]["reader"]) for manifest in manifests}),
        datasets=Table(described, [_row_of(column) for column in columns]),
        few=[column.name for column in columns if 0 < column.conversations < FEWEST],
        fewest=FEWEST,
        reference=_reference(grid),
        matrices=matrices,
        gaps=[f"{column.name}: {gap}" for column in columns for gap in column.gaps],
    )


def _reference(grid: Grid) -> str:
    settings = grid.tables[MATRIX]
    if not isinstance(settings, Mapping) or settings.get(_REFERENCE) is None:
        raise InputError(
            f"conf/experiment/{grid.name}.yaml: tables: {MATRIX}: set {_REFERENCE} to the value of "
            f"{grid.factor} that differences are to"
        )
    return str(settings[_REFERENCE])


def _gaps(grid: Grid, jobs: Sequence[Job], of: int) -> list[str]:
    """Name the jobs without a complete run, and the command that runs them."""
    if not jobs:
        return []
    which = "no run" if len(jobs) == of else f"no run of {', '.join(job.label for job in jobs)}"
    values = dict(setting.split("=", 1) for setting in jobs[0].overrides)
    values[grid.factor] = ",".join(job.label for job in jobs)
    settings = [f"{name}={value}" for name, value in values.items()]
    command = shlex.join(["python", "-m", "eval.run", "-m", f"experiment={grid.name}", *settings])
    return [f"{which}; `{command}`"]


def _row_of(column: Column) -> list[str]:
    counts = [f"{count:,}" if count else ABSENT for count in (column.n, column.conversations)]
    used: set[str] = set()
    for manifest in column.manifests:
        others = manifest.get("embedders") or {}  # by conversation
        used.update(others.values())
        own = manifest["models"]["embedder"]
        if own is not None and not (others and {*(manifest.get("stores") or ())} <= {*others}):
            used.add(own)
    files = files_of(column.manifests)
    return [column.name, *counts, ", ".join(sorted(used)) or ABSENT, files or ABSENT]


@dataclass(frozen=True, slots=True)
class Column:
    """A data set: `n` questions with evidence of `conversations`, both 0 if no ranking is known.

    `cells`: texts by measure and strategy. `lines`: means and differences to the reference, of the
    CSV file. `gaps`: what is missing or left out. `manifests`: of the runs.
    """

    name: str
    cells: Mapping[str, Mapping[str, str]]
    lines: Sequence[Mapping[str, object]]
    n: int
    conversations: int
    gaps: tuple[str, ...]
    manifests: tuple[Manifest, ...]


def measured(name: str, runs: Mapping[str, Run], reference: str, gaps: Sequence[str]) -> Column:
    """Measure the runs, by strategy, of the data set `name`; rankings are compared on the questions
    that all have answered. Differences are to `reference`, or to the first run if it is missing.
    """
    seed = next((run.seed for run in runs.values()), 0)
    ordered = dict(sorted(runs.items(), key=lambda pair: pair[0] != reference))
    problems: dict[str, str] = {}  # why the measures of rankings are unknown
    for strategy, run in ordered.items():
        try:
            measures = [_ALL] if is_selected(run) else [parse(RECALL), parse(NDCG)]
            reasons = unknown(run, measures)
        except InputError as error:
            reasons = {"": str(error)}
        if reasons:
            problems[strategy] = next(iter(reasons.values()))
    by_strategy = {strategy: run for strategy, run in ordered.items() if strategy not in problems}
    ranked = {strategy: run for strategy, run in by_strategy.items() if not is_selected(run)}
    cells: dict[str, dict[str, str]] = {key: {} for key in (RECALL, NDCG, TOKENS, LATENCY)}
    shared = [share(list(ranked.values()), measure) for measure in _RANKINGS] if ranked else []
    tables = contrast(list(zip(_RANKINGS, shared, strict=False)), seed)
    for rows, questions in zip(tables, shared, strict=True):
        for row in rows:
            texts = _marked(row.means, questions, seed)
            cells[row.key] = dict(zip(ranked, texts, strict=True))
    lines: list[dict[str, object]] = []
    for strategy, run in ordered.items():
        base = next(iter(ordered.values()))
        if strategy in by_strategy.keys() - ranked and (
            recall := by_type(run, [_ALL], run.seed)[0].get(OVERALL, {}).get(str(_ALL))
        ):
            cells[RECALL][strategy] = interval(recall) + _SELECTED
            lines.append(_line(str(_ALL), run, base, recall))
        if tokens := context_tokens(run):
            cells[TOKENS][strategy] = interval(tokens, 0)
            more = None if run is base else _more_tokens(run, base)
            lines.append(_line(TOKENS, run, base, tokens, more))
        latency, first = _latency(run), _latency(base)
        if latency is not None:
            ratio = f" ({latency / first:.1f}×)" if first else ""
            cells[LATENCY][strategy] = number(latency, 1) + ratio
            lines.append(_line(LATENCY, run, base, latency))
    all_rows = [row for rows in tables for row in rows]
    failures = [
        f"{label}: questions that failed, left out of the whole column: {why[FAILED]}"
        for questions in shared[:1]
        for label, why in questions.why.items()
        if FAILED in why
    ]
    if runs and not all_rows:
        gaps = [*gaps, "no ranking of a question with evidence is known"]
    return Column(
        name,
        cells,
        [*csv_lines(tables, list(ranked.values())), *lines],
        all_rows[0].n if all_rows else 0,
        all_rows[0].clusters if all_rows else 0,
        (*gaps, *problems.values(), *failures),
        tuple(run.manifest for run in runs.values()),
    )


def _marked(means: Sequence[Interval], shared: Shared, seed: int) -> Iterator[str]:
    """Yield the text of each mean: the highest in bold, and ≈ after those whose paired
    difference from it has an interval that contains 0.
    """
    mask = shared.of(OVERALL)
    scores = shared.scores[:, mask]
    bootstrap = ClusterBootstrap(shared.conversations[mask].tolist(), seed)
    highest = scores[int(scores.mean(axis=1).argmax())]
    for mean, values in zip(means, scores, strict=True):
        difference = bootstrap.mean((values - highest).tolist())
        if values.mean() == highest.mean():
            yield f"**{interval(mean)}**"
        elif difference is not None and difference.low <= 0 <= difference.high:
            yield interval(mean) + _ALIKE
        else:
            yield interval(mean)


def _answerable(run: Run) -> list[Record]:
    return [record for record in run.counted if record["category"] != ADVERSARIAL]


def _more_tokens(run: Run, base: Run) -> Interval | None:
    """Return the mean difference of tokens, paired by question, run minus base."""
    of_base = {record["id"]: record["context_tokens"] for record in _answerable(base)}
    rows = [record for record in _answerable(run) if of_base.get(record["id"]) is not None]
    pairs = [(record["context_tokens"], of_base[record["id"]]) for record in rows]
    more = [None if mine is None or other is None else mine - other for mine, other in pairs]
    return Sample.of(rows, more, run.seed).mean()


def _latency(run: Run) -> float | None:
    return percentile([record["latency_ms"]["retrieve"] for record in _answerable(run)], _P)


def _line(
    key: str, run: Run, base: Run, mean: Interval | float, more: Interval | None = None
) -> dict[str, object]:
    """Return a line of CSV with the columns of contrasts; a number has neither n nor interval."""
    named = {"score": key, "type": OVERALL, "run": run.label, "run_id": run.manifest["run_id"]}
    line: dict[str, object] = {**named, "reference": base.label, "mean": mean, "difference": more}
    if isinstance(mean, Interval):
        line |= {"n": mean.n, "conversations": mean.clusters}
    return line
