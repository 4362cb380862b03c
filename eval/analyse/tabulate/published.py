"""`tables: published` of an experiment: its own figures beside those that a paper printed.

What no run has measured is named, with what the run is expected to cost; contexts that no model
writes are counted without a run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from eval.analyse.tabulate.grid import Grid, heading, made
from eval.analyse.tabulate.paper import QUANTITIES, Own, Paper, judged, load_paper, printed
from eval.datasets.types import TYPES
from eval.metrics.protocols import protocols
from eval.metrics.stats.interval import Interval, scope
from eval.records.comma_separated import text_of
from eval.records.run import Run
from eval.rendering.blocks import Table
from eval.rendering.numbers import ABSENT, change, interval, number
from eval.summary.measures import value
from eval.summary.quantities import measured
from eval.summary.sample import Sample

_COLUMNS = ("table", "row", "column", "published", "own", "own_low", "own_high", "n", "run_id")


@dataclass(frozen=True, slots=True)
class _Figure:
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
    source = paper.source
    figures = [*_scores(paper), *_measurements(paper)]
    known = list({run.folder: run for own in paper.jobs.values() if (run := own.run)}.values())
    parts = [
        *heading(grid),
        "\n".join(f"    {command}" for command in paper.commands[1:]),
        f"{source.title} ({source.address}). Each row of the paper is followed by an own one, with "
        "95% intervals; scores are in percent. Own contexts are counted in o200k tokens, the "
        "paper's in cl100k, of a single chunk where there are two. Columns have the paper's names, "
        "and behind them the official ones of the question types that they stand for.",
        _provenance(known),
        "## Claims",
        _claims(paper).markdown(),
        "A claim is refuted where the interval of the own figure ends short of it, and shown where "
        "it does not and excludes no change.",
        *_tables(figures),
        *_costs(paper),
    ]
    lines = []
    for one in figures:
        n = one.own.n if isinstance(one.own, Interval) else None
        named = {"table": one.table, "row": one.row, "column": one.column, "run_id": one.run_id}
        lines.append({**named, "published": one.published, "own": one.own, "n": n})
    return "\n\n".join(part for part in parts if part) + "\n", text_of(_COLUMNS, lines)


def _scores(paper: Paper) -> Iterator[_Figure]:
    """Yield the scores by question type, of F1 also by the other protocols of the own run."""
    for table in paper.source.tables:
        for row in table.rows:
            run = paper.run(row.system)
            for label, score in zip(table.columns, row.scores, strict=True):
                type_ = TYPES[paper.source.labels[label].category]
                column = label if label.lower() == type_ else f"{label} ({type_})"
                rows = [one for one in run.counted if one["type"] == type_] if run else []
                for name, key in _keys(table.metric, run):
                    scores = [value(one, key) for one in rows]
                    own = Sample.of(rows, scores, run.seed).score() if run else None
                    yield _Figure(
                        name,
                        row.system,
                        column,
                        table.decimals,
                        score if name == _heading(table.metric) else None,
                        _scaled(own, 100),
                        run_id="" if run is None else str(run.manifest["run_id"]),
                    )


def _heading(metric: str) -> str:
    return {"judge": "Table 1, J", "f1": "Table 1, F1", "bleu1": "Table 1, BLEU-1"}[metric]


def _keys(metric: str, run: Run | None) -> Iterator[tuple[str, str]]:
    """Yield heading and score of the records for a metric of the paper."""
    if metric != "f1" or run is None:
        yield _heading(metric), metric
        return
    own, *others = protocols(run.manifest["scoring"])
    yield _heading(metric), own.f1
    for one in others:
        yield f"{_heading(metric)} by the protocol {one.name}", one.f1


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
    own = paper.jobs.get(row)
    if own is None:
        return figure
    if own.run is None:
        if own.expected is None:
            return figure
        counted = own.expected
        known = {"tokens": counted.context_tokens, "store_tokens": counted.store_tokens}
        return replace(figure, own=known.get(column))
    run_id = str(own.run.manifest["run_id"])
    if column == "store_tokens":
        lines = [line for line in own.run.ingests if "tokens" in line.get("store", {})]
        sizes = [float(line["store"]["tokens"]) for line in lines]
        stored = Sample(sizes, [line["conversation"] for line in lines], own.run.seed).mean(0.0)
        return replace(figure, own=stored, run_id=run_id)
    quantity, factor = QUANTITIES[column]
    return replace(figure, own=_scaled(measured(own.run, quantity), factor), run_id=run_id)


def _scaled(found: Interval | None, factor: float) -> Interval | None:
    return found and replace(
        found, value=factor * found.value, low=factor * found.low, high=factor * found.high
    )


def _claims(paper: Paper) -> Table:
    """Return a row for each claim: what the printed tables give, what was measured, the verdict."""
    lines = []
    for one in paper.source.claims:
        ratio = printed(paper, one.system, one.column) / printed(paper, one.against, one.column)
        holds = abs(round(ratio - 1, 2)) >= abs(one.change)
        own, verdict = judged(paper, one)
        lines.append(
            [
                f"{one.system}: {one.claim}",
                f"{change(ratio - 1)}: {'holds' if holds else 'does not hold'}",
                ABSENT if own is None else interval(own, 1, change),
                verdict,
            ]
        )
    return Table(["claim", "by the printed tables", "own", "verdict"], lines)


def _tables(figures: Sequence[_Figure]) -> Iterator[str]:
    """Yield a heading and a table for each table of the paper."""
    for name in dict.fromkeys(one.table for one in figures):
        of_table = [one for one in figures if one.table == name]
        columns = list(dict.fromkeys(one.column for one in of_table))
        lines = []
        for row in dict.fromkeys(one.row for one in of_table):
            cells = {one.column: one for one in of_table if one.row == row}
            theirs = [number(cells[column].published, cells[column].digits) for column in columns]
            own = [
                number(one.own, one.digits)
                if isinstance(one.own, float)
                else interval(one.own, one.digits)
                for one in (cells[column] for column in columns)
            ]
            if set(theirs) != {ABSENT}:
                lines.append([row, *theirs])
            if set(own) != {ABSENT}:
                lines.append([f"{row}, own", *own])
        if lines:
            yield f"## {name}"
            yield Table(["system", *columns], lines).markdown()


def _costs(paper: Paper) -> Iterator[str]:
    """Yield what the missing runs are expected to cost."""
    missing: list[tuple[str, Own]] = []
    for row, own in paper.jobs.items():
        if own.run is None and all(own is not other for _, other in missing):
            missing.append((row, own))
    if not missing:
        return
    known = [(row, own.expected) for row, own in missing if own.expected is not None]
    yield "## What the missing rows cost"
    for reason in dict.fromkeys(own.unknown for _, own in missing if own.unknown):
        yield f"Unknown: {reason}."
    if known:
        lines = [
            [row, f"{one.calls:,}", number(one.system_usd, 2), number(one.judge_usd, 2)]
            for row, one in known
        ]
        totals = [
            [one.system_usd or 0 for _, one in known],
            [one.judge_usd or 0 for _, one in known],
        ]
        calls = sum(one.calls for _, one in known)
        lines.append(["together", f"{calls:,}", *(number(sum(usd), 2) for usd in totals)])
        yield Table(["system", "calls", "system $", "judge $"], lines).markdown()
        yield (
            "Expected, as by `estimate=true`. Own tokens above without an interval are counted "
            "without a run: whole contexts exactly, those of chunks as k chunks of mean length."
        )


def _provenance(runs: Sequence[Run]) -> str:
    if not runs:
        return "No run was made: own figures are contexts, which need no model."
    models = {str(run.manifest["llm"]) for run in runs}
    judges = {str((run.manifest["judge"] or {}).get("name")) for run in runs}
    counts = sorted({len(run.records) for run in runs})
    data = {f"{one['name']} {one['sha256'][:10]}" for run in runs for one in run.manifest["data"]}
    over = scope(len({one["conversation"] for one in run.counted}) for run in runs)
    return (
        f"{len(runs)} runs of {', '.join(map(str, counts))} questions, "
        f"{made([run.manifest for run in runs])}; data {', '.join(sorted(data))}; model "
        f"{', '.join(sorted(models))}, judge {', '.join(sorted(judges))}; intervals {over}."
    )
