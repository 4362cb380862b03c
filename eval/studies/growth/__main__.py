"""`python -m eval.studies.growth [RUN ...]`: what retrieval loses as a store grows."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from eval.analyse.tabulate.grid import find_folders, load_grid
from eval.cli import add_runs, beside, code_of, parser
from eval.records.run import load_runs
from eval.studies.growth.picture import draw
from eval.studies.growth.report import as_csv, page
from eval.studies.growth.series import series_of
from memsys.core.errors import InputError, check_whole

_NAME = "growth"
_TABLES, _PICTURES = Path("results/tables"), Path("docs/pictures")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write; return the exit code: 2 for bad input."""
    command = parser(
        "studies.growth",
        "Compare runs on dataset=grown that differ in the strategy and in dataset.unrelated: "
        "recall, nDCG, tokens, latency, memory and ingestion time against the memories in the "
        "store, and in how many doublings of the store recall halves. Without RUN: the newest "
        "runs of `python -m eval.run -m experiment=growth`. docs/growth.md explains the tables.",
    )
    add_runs(command, optional=True)
    add = command.add_argument
    add("--largest", type=int, metavar="N", help="leave out runs with more unrelated sessions")
    add("--out", type=Path, default=_TABLES, help=f"folder of growth.md and .csv ({_TABLES})")
    pictures = f"folder of growth.png and .svg ({_PICTURES})"
    add("--pictures", type=Path, default=_PICTURES, help=pictures)
    given = command.parse_args(arguments)
    words = sys.argv[1:] if arguments is None else arguments
    return code_of(lambda: _study(given, list(words)))


def _study(options: argparse.Namespace, words: Sequence[str]) -> None:
    if options.largest is not None:
        check_whole("--largest", options.largest, 0)
    commands = [shlex.join(["python", "-m", "eval.studies.growth", *words])]
    runs, missing = list(options.runs), 0
    if not runs:
        grid = load_grid(_NAME)
        found = find_folders(grid)
        runs = [folder for folder in found if folder is not None]
        missing = found.count(None)
        commands.insert(0, grid.command)
        if not runs:
            raise InputError(f"no run of the experiment here; run {grid.command}")
    series = series_of(load_runs(runs), options.largest)
    text = page(series, commands)
    chosen = [] if not options.runs and options.largest is None else words
    default = options.out == _TABLES or options.pictures == _PICTURES
    name = beside(_NAME, chosen) if chosen and default else _NAME  # the shipped files: all runs
    for folder in (options.out, options.pictures):
        folder.mkdir(parents=True, exist_ok=True)
    (options.out / f"{name}.md").write_text(text, encoding="utf-8")
    (options.out / f"{name}.csv").write_text(as_csv(series), encoding="utf-8")
    draw(series, options.pictures / name)
    print(text)
    if missing:
        print(f"{missing} of the experiment's {len(found)} runs are missing and left out")
    print(f"written: {options.out / name}.md and .csv, {options.pictures / name}.png and .svg")


if __name__ == "__main__":
    sys.exit(main())
