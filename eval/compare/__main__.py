"""`python -m eval.compare RUN RUN ...`: which run is better, on what, and is it sure."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from eval.cli import code_of
from eval.compare.comparable import objections
from eval.compare.conclusions import conclusions, method, notes, title
from eval.compare.tables import table
from eval.compare.write import write
from eval.records.run import load_runs
from eval.rendering.tables import plain
from eval.summary.contrast import contrast
from eval.summary.measures import choose
from eval.summary.shared import share
from memsys.errors import InputError


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare and print; returns the exit code: 2 for wrong input, 130 after Ctrl-C."""
    options = _parser().parse_args(arguments)
    return code_of(lambda: _compare(options))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m eval.compare",
        description="Compare runs with the first one, paired by question: differences with "
        "intervals, tests adjusted for their number, and a verdict in words.",
        epilog="Is graph_expand better than vector_only on multi-hop? "
        "python -m eval.compare VECTOR_ONLY_RUN GRAPH_EXPAND_RUN --type multi_hop",
    )
    parser.add_argument(
        "runs", nargs="+", metavar="RUN", help="a run folder, or an id under results/runs"
    )
    parser.add_argument(
        "--score",
        action="append",
        default=[],
        metavar="NAME",
        help="f1, f1_mem0, bleu1, judge, evidence_recall, abstained or another score that the "
        "records hold; may be repeated (default: the runs' own F1, the judge's verdicts if all "
        "have them, and abstention)",
    )
    parser.add_argument("--type", metavar="TYPE", help="only this question type, as multi_hop")
    parser.add_argument("--seed", type=int, default=0, help="of the resampling (default: 0)")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="also write compare.md, .csv, .tex, forest.png and heatmap.png there",
    )
    parser.add_argument(
        "--force", action="store_true", help="compare even what should not be compared"
    )
    return parser


def _compare(options: argparse.Namespace) -> None:
    if options.seed < 0:
        raise InputError(f"--seed {options.seed}: use a whole number of 0 or more")
    if options.out is not None and options.out.exists() and not options.out.is_dir():
        raise InputError(f"--out {options.out}: is a file; name a folder")
    if len(options.runs) < 2:
        raise InputError("RUN: one run; name two or more to compare")
    runs = load_runs(options.runs, complete=False)
    measures = choose(runs, options.score, options.type)
    against = objections(runs, measures, options.score)
    if against and not options.force:
        raise InputError("; ".join(against) + "; or compare all the same by --force")
    counted = [(measure, share(runs, measure)) for measure in measures]
    tables = contrast(counted, options.seed)
    if not any(tables):
        labels = ", ".join(run.label for run in runs)
        where = f" of {options.type}" if options.type else ""
        raise InputError(f"{labels}: no question{where} has a score in every run")
    warnings = [f"forced: {one}" for one in against] + notes(runs, counted)
    shown = [(title(m), rows) for m, rows in zip(measures, tables, strict=True) if rows]
    for run in runs:
        print(f"{run.label}: {run.folder}")
    for warning in warnings:
        print(f"note: {warning}")
    for name, rows in shown:
        print(f"\n{name}\n{plain(*table(rows, runs))}")
    print(f"\n{method(tables, runs)}")
    if options.out is not None:
        print(f"written to {options.out}: {', '.join(write(options.out, shown, runs, warnings))}")
    print()
    print("\n".join(conclusions(tables, runs)))


if __name__ == "__main__":
    sys.exit(main())
