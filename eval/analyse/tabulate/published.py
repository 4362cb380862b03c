"""`tables: published` of an experiment: its own figures beside those that a paper printed.

What no run has measured is named, with what the run is expected to cost; contexts that no model
writes are counted without a run.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from eval.analyse.tabulate.grid import Grid, files_of, made, page
from eval.analyse.tabulate.paper import QUANTITIES, Own, Paper, judged, load_paper, printed
from eval.datasets.types import TYPES
from eval.metrics.protocols import protocols
from eval.metrics.stats.interval import Interval, scope
from eval.records.comma_separated import text_of
from eval.rendering.blocks import Table
from eval.rendering.numbers import ABSENT, change, interval, number
from eval.summary.measures import value
from eval.summary.quantities import measured
from eval.summary.sample import Sample

_HEADINGS = {"judge": "Table 1, J", "f1": "Table 1, F1", "bleu1": "Table 1, BLEU-1"}
_COLUMNS = ("table", "row", "column", "published", "own", "own_low", "own_high", "n", "run_id")


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
    known = list({run.folder: run for own in paper.jobs.values() if (run := own.run)}.values())
    manifests = [run.manifest for run in known]
    missing: dict[int, tuple[str, Own]] = {}  # a job may measure several rows
    for row, own in paper.jobs.items():
        if own.run is None:
            missing.setdefault(id(own), (row, own))
    text = page(
        "published.md.j2",
        grid,
        paper=paper,
        runs=known,
        counts=sorted({len(run.records) for run in known}),
        made=made(manifests),
        files=files_of(manifests),
        models=sorted({str(one["llm"]) for one in manifests}),
        judges=sorted({str((one["judge"] or {}).get("name")) for one in manifests}),
        scope=scope(len({one["conversation"] for one in run.counted}) for run in known),
        claims=_claims(paper),
        tables=_tables(figures),
        missing=missing,
        unknown=dict.fromkeys(own.unknown for _, own in missing.values() if own.unknown),
        costs=_costs(missing.values()),
    )
    lines = [{**one._asdict(), "n": getattr(one.own, "n", None)} for one in figures]
    return text, text_of(_COLUMNS, lines)


def _scores(paper: Paper) -> Iterator[_Figure]:
    """Yield the scores by question type, of F1 also by the other protocols of the own run."""
    for table in paper.source.tables:
        title = _HEADINGS[table.metric]
        for row in table.rows:
            run, keys = paper.run(row.system), {title: table.metric}
            if run and table.metric == "f1":
                own, *others = protocols(run.manifest["scoring"])
                keys = {title: own.f1}
                keys |= {f"{title} by the protocol {one.name}": one.f1 for one in others}
            run_id = str(run.manifest["run_id"]) if run else ""
            for label, score in zip(table.columns, row.scores, strict=True):
                type_ = TYPES[paper.source.labels[label]["category"]]
                column = label if label.lower() == type_ else f"{label} ({type_})"
                rows = [one for one in run.counted if one["type"] == type_] if run else []
                for name, key in keys.items():
                    scores = [value(one, key) for one in rows]
                    mean = _scaled(Sample.of(rows, scores, run.seed).score(), 100) if run else None
                    printed_score = score if name == title else None
                    cell = name, row.system, column, table.decimals, printed_score, mean, run_id
                    yield _Figure(*cell)


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
    if own is None or (run := own.run) is None:
        if own is None or (counted := own.expected) is None:
            return figure
        known = {"tokens": counted.context_tokens, "store_tokens": counted.store_tokens}
        return figure._replace(own=known.get(column))
    if column == "store_tokens":
        lines = [line for line in run.ingests if "tokens" in line.get("store", {})]
        sizes = [float(line["store"]["tokens"]) for line in lines]
        found = Sample(sizes, [line["conversation"] for line in lines], run.seed).mean(0.0)
    else:
        quantity, factor = QUANTITIES[column]
        found = _scaled(measured(run, quantity), factor)
    return figure._replace(own=found, run_id=str(run.manifest["run_id"]))


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


def _tables(figures: Sequence[_Figure]) -> Iterator[tuple[str, Table]]:
    """Yield a heading and a table for each table of the paper."""
    for name in dict.fromkeys(one.table for one in figures):
        of_table = [one for one in figures if one.table == name]
        columns = list(dict.fromkeys(one.column for one in of_table))
        lines = []
        for row in dict.fromkeys(one.row for one in of_table):
            cells = {one.column: one for one in of_table if one.row == row}
            chosen = [cells[column] for column in columns]
            theirs = [number(one.published, one.digits) for one in chosen]
            own = [_own(one) for one in chosen]
            named = ([row, *theirs], [f"{row}, own", *own])
            lines += [line for line in named if {*line[1:]} != {ABSENT}]
        if lines:
            yield name, Table(["system", *columns], lines)


def _own(one: _Figure) -> str:
    if isinstance(one.own, float):
        return number(one.own, one.digits)
    return interval(one.own, one.digits)


def _costs(missing: Iterable[tuple[str, Own]]) -> Table:
    """Return what each of the missing runs is expected to cost, as far as known, and their sum."""
    known = [(row, own.expected) for row, own in missing if own.expected is not None]
    costs = [(row, one.calls, one.system_usd, one.judge_usd) for row, one in known]
    if costs:
        _, *columns = zip(*costs, strict=True)
        calls, system, judge = (sum(one or 0 for one in column) for column in columns)
        costs.append(("together", calls, system, judge))
    rows = [[row, f"{n:,}", number(system, 2), number(judge, 2)] for row, n, system, judge in costs]
    return Table(["system", "calls", "system $", "judge $"], rows)
