"""`python -m eval compare RUN RUN ...`: which run is better, on what, and how certain that is."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from eval.analyse.compare.comparable import Compared, best_first, compared
from eval.analyse.compare.conclusions import notes, title
from eval.analyse.compare.write import write
from eval.cli import add_runs, add_wide, code_of, parser
from eval.records.run import Run, load_runs
from eval.rendering.contrasts import conclusions, method, pairs, table
from eval.rendering.tables import type_name
from eval.rendering.width import sentence
from eval.summary.measures import UNANSWERED, types_of
from eval.summary.summarise import OVERALL
from memsys.core.errors import InputError


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare and print; returns the exit code: 2 for wrong input, 130 after Ctrl-C."""
    return code_of(lambda: _compare(_parser().parse_args(arguments)))


def _parser() -> argparse.ArgumentParser:
    command = parser(
        "compare",
        "Compare runs with the first one, paired by question: differences with intervals, p "
        "values adjusted for the number of comparisons, and a verdict in words.",
        epilog="Is graph_expand better than vector_only on multi-hop? "
        "python -m eval compare VECTOR_ONLY_RUN GRAPH_EXPAND_RUN --type multi_hop",
    )
    add_runs(command, compared=True)
    add = command.add_argument
    scores = (
        "f1, f1_mem0, bleu1, judge, evidence_recall, abstained or another score of the records, or "
        "a measure of the rankings, as recall_any@5, ndcg@10 or session_recall@10; repeatable "
        "(default: the first run's F1, the judge's verdicts if all runs have them, abstention, and "
        "evidence recall; "
        f"{' and '.join(UNANSWERED)} where a run has no answers, of sessions if a run ranked these)"
    )
    add("--score", action="append", default=[], metavar="NAME", help=scores)
    add("--type", metavar="TYPE", help="compare on this question type only, as multi_hop")
    which = "the reference: the first run, the best by the first score, or all: every pair of runs"
    add("--against", choices=("first", "best", "all"), default="first", help=which)
    add("--seed", type=int, default=0, help="seed of the resampling (default: 0)")
    files = "also write compare.md, .csv, .tex, and forest and heatmap as .png and .svg there"
    add("--out", type=Path, metavar="FOLDER", help=files)
    add("--force", action="store_true", help="compare runs despite objections, which are printed")
    add_wide(command)
    return command


def _compare(options: argparse.Namespace) -> None:
    if options.seed < 0:
        raise InputError(f"--seed {options.seed}: use a whole number of 0 or more")
    if options.out is not None and options.out.exists() and not options.out.is_dir():
        raise InputError(f"--out {options.out}: is a file; name a folder")
    if len(options.runs) < 2:
        raise InputError("RUN: one run; name two or more to compare")
    if options.out is not None and options.against == "all":
        raise InputError("--out: writes differences to one run; use --against first or best")
    runs = load_runs(options.runs, complete=False)
    found = compared(runs, options.score, options.type)
    if options.against != "first" and not found.against:
        runs = best_first(runs, found, options.type)
        found = compared(runs, options.score, options.type)
    if found.against and not options.force:
        raise InputError("; ".join(found.against) + "; or use --force to compare anyway")
    tables = found.tables(options.seed)
    if not any(tables):
        labels = ", ".join(run.label for run in runs)
        where = f" of {options.type}" if options.type else ""
        raise InputError(f"{labels}: no question{where} has a score in every run")
    warnings = [f"forced: {objection}" for objection in found.against]
    warnings += notes(runs, found.counted)
    for run in runs:
        print(f"{run.label}: {run.folder}")
    for warning in warnings:
        print(sentence(f"note: {warning}"))
    if options.against == "all":
        _show_pairs(found, runs, options.type or OVERALL, options.seed)
        return
    titled = [(title(m), rows) for (m, _), rows in zip(found.counted, tables, strict=True) if rows]
    for name, rows in titled:
        print(f"\n{name}\n{table(rows, runs).text()}")
    print("\n" + sentence(method(tables, runs, extra=found.extra)))
    if options.out is not None:
        names = write(options.out, titled, runs, warnings, method(tables, runs, extra=found.extra))
        print(f"written to {options.out}: {', '.join(names)}")
    print()
    print("\n".join(map(sentence, conclusions(tables, runs))))


def _show_pairs(found: Compared, runs: Sequence[Run], type_: str, seed: int) -> None:
    """Print the differences of every pair, the best run first."""
    rows = found.pairs(len(runs), type_, seed)
    for of_measure in rows:
        print(f"\n{of_measure[0].key}, {type_name(type_, types_of(runs))}")
        print(pairs(of_measure, runs).text())
    print("\n" + sentence(method(rows, runs, "its reference")))


if __name__ == "__main__":
    sys.exit(main())
