"""`python -m eval tabulate NAME`: the runs of an experiment as results/tables/NAME.md and .csv."""

import argparse
import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from eval.analyse.tabulate import published
from eval.analyse.tabulate.effects import Effects, effects, requested, rows_of, types_as_csv
from eval.analyse.tabulate.grid import Grid, find_runs, load_grid, page
from eval.analyse.tabulate.matrix import MATRIX, as_page, measure_columns
from eval.cli import code_of, parser
from eval.datasets.types import TYPES, types_in
from eval.metrics.stats.interval import scope
from eval.records.comma_separated import text_of
from eval.records.files import write_text
from eval.records.run import Run
from eval.rendering.contrasts import COLUMNS, csv_lines
from eval.summary.measures import RECALL
from eval.summary.summarise import OVERALL
from memsys.core.errors import InputError
from memsys.core.places import RUNS

TABLES = Path("results/tables")
_LONGEST = 80  # characters of arguments in the name of a file


def main(arguments: Sequence[str] | None = None) -> int:
    """Write and print the tables; returns the exit code: 2 for wrong input, 130 after Ctrl-C."""
    command = parser(
        "tabulate",
        "Tabulate the runs of `python -m eval.run -m experiment=NAME`: differences to the first "
        "value of the sweep's last parameter, paired by question, with intervals; of mem0_paper, "
        "own figures beside the published ones.",
    )
    add = command.add_argument
    add("name", metavar="NAME", help="experiment, as in conf/experiment")
    add("overrides", nargs="*", help="overrides that were given to eval.run")
    add("--runs", type=Path, default=RUNS, help=f"folder of runs ({RUNS})")
    add("--picture", action="store_true", help="draw the scores over a swept number: PNG and SVG")
    add("--out", type=Path, default=TABLES, help=f"folder of tables ({TABLES})")
    return code_of(lambda: _tabulate(command.parse_args(arguments)))


def _tabulate(options: argparse.Namespace) -> None:
    grid = load_grid(options.name, options.overrides)
    groups: list[Effects] = []
    if MATRIX in grid.tables:
        columns = measure_columns(grid, options.runs)
        text = as_page(grid, columns)
        lines = text_of(COLUMNS, (line for column in columns for line in column.lines))
    elif published.PUBLISHED in grid.tables:
        text, lines = published.as_page(grid, options.overrides, options.runs)
    else:
        runs = find_runs(grid, options.runs)
        groups = effects(grid, runs, runs[0].seed)
        text = as_markdown(grid, runs, groups)
        of_runs = (line for group in groups for line in csv_lines(group.tables, group.runs))
        lines = text_of(COLUMNS, of_runs)
        if "by_type" in grid.tables:
            lines += types_as_csv(runs, runs[0].seed)
    if options.picture and not groups:
        raise InputError(f"--picture: {grid.name} is no sweep over a number; leave it out")
    options.out.mkdir(parents=True, exist_ok=True)
    name = grid.name
    if options.out == TABLES and (options.overrides or options.runs != RUNS):
        given = [*options.overrides, *(() if options.runs == RUNS else (str(options.runs),))]
        name = _beside(name, given)  # the shipped tables are those of the experiment alone
    drawn = draw(groups, grid.factor, options.out / name) if options.picture else []
    write_text(options.out / f"{name}.md", text)
    write_text(options.out / f"{name}.csv", lines)
    files = [f"{name}.md", f"{name}.csv", *drawn]
    print(text)
    if files[2:] or name != grid.name:
        print(f"written to {options.out}: {', '.join(files)}")


def _beside(name: str, arguments: Sequence[str]) -> str:
    """Return a name for the files of a command that was given `arguments`, beside the `name` of
    those that it writes without any.
    """
    words = re.sub(r"[^\w.=-]+", "-", "-".join(arguments)).strip("-")
    digest = hashlib.sha256("\0".join(arguments).encode("utf-8", "replace")).hexdigest()[:8]
    return f"{name}-{words}" if len(words) <= _LONGEST else f"{name}-{words[:_LONGEST]}-{digest}"


def as_markdown(grid: Grid, runs: Sequence[Run], groups: Sequence[Effects]) -> str:
    """Return the page: its provenance, the effects, and the tables that the experiment requests."""
    records = [record for run in runs for record in run.records.values()]
    manifests = [run.manifest for run in runs]
    return page(
        "effects.md.j2",
        grid,
        manifests,
        runs=runs,
        counts=sorted({len(run.records) for run in runs}),
        errors=sum(record["status"] == "error" for record in records),
        reader=manifests[0]["models"]["reader"],
        is_locomo=types_in(runs[0].records.values()) is TYPES,
        scope=scope(row.clusters for group in groups for rows in group.tables for row in rows),
        effects=rows_of(grid, groups),
        requested=requested(grid, runs, runs[0].seed),
    )


def draw(groups: Sequence[Effects], factor: str, path: Path) -> list[str]:
    """Write PATH.png and PATH.svg: F1 and evidence recall over the numbers of the parameter that
    names the groups, a line for each value of `factor`, the last parameter. Data without evidence
    have no recall to draw.

    Returns the names of the files. Raises InputError where the groups are not named by numbers,
    before it writes anything.
    """
    import pandas as pd  # noqa: PLC0415 - a picture alone needs it

    from eval.rendering.plots import figure, files_of, trend  # noqa: PLC0415

    parameter, _, _ = groups[0].group.partition("=")
    rows = []
    for group in groups:
        try:
            number = float(group.group.partition("=")[2])
        except ValueError:
            name = group.group or "this experiment"
            text = f"{name}: no number to draw scores over; leave out --picture"
            raise InputError(text) from None
        by_key = {row.key: row for table in group.tables for row in table if row.type == OVERALL}
        for i, run in enumerate(group.runs):
            of_run = {parameter: number, factor: run.label.rpartition("=")[2]}
            for title, key in (("F1", run.own_f1), ("evidence recall", RECALL)):
                if key not in by_key:
                    continue
                mean = by_key[key].means[i]
                ends = {"low": mean.low, "high": mean.high}
                rows.append(of_run | {"score": title, "mean": mean.value} | ends)
    table = pd.DataFrame(rows)
    with figure(path, 3.6) as drawn:
        titles = table["score"].unique()
        places = drawn.subplots(1, len(titles), squeeze=False)[0]
        for axes, title in zip(places, titles, strict=True):
            trend(table[table["score"] == title], parameter, ax=axes, colour=factor)
            axes.set(title=f"{title}, 95% interval", ylabel="", ylim=(0, None))
        handles, labels = axes.get_legend_handles_labels()
        drawn.legend(handles, labels, loc="outside lower center", ncols=4)
    return files_of(path)
