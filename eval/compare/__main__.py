"""`python -m eval.compare RUN RUN ...`: which run is better, on what, and how certain that is."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from eval.cli import add_runs, add_wide, code_of, parser
from eval.compare.comparable import objections
from eval.compare.conclusions import notes, title
from eval.compare.write import write
from eval.records.run import load_runs
from eval.rendering.contrasts import conclusions, method, table
from eval.rendering.terminal import fitted
from eval.rendering.width import sentence
from eval.summary.contrast import contrast
from eval.summary.measures import UNANSWERED, choose
from eval.summary.shared import share
from memsys.errors import InputError


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare and print; returns the exit code: 2 for wrong input, 130 after Ctrl-C."""
    return code_of(lambda: _compare(_parser().parse_args(arguments)))


def _parser() -> argparse.ArgumentParser:
    command = parser(
        "compare",
        "Compare runs with the first one, paired by question: differences with intervals, p "
        "values adjusted for the number of comparisons, and a verdict in words.",
        epilog="Is graph_expand better than vector_only on multi-hop? "
        "python -m eval.compare VECTOR_ONLY_RUN GRAPH_EXPAND_RUN --type multi_hop",
    )
    add_runs(command, compared=True)
    add = command.add_argument
    scores = (
        "f1, f1_mem0, bleu1, judge, evidence_recall, abstained or another score of the records, or "
        "a measure of the rankings, as recall_any@5, ndcg@10 or session_recall@10; repeatable "
        "(default: the first run's F1, the judge's verdicts if all runs have them, and abstention; "
        f"{' and '.join(UNANSWERED)} where a run has no answers, of sessions if a run ranked these)"
    )
    add("--score", action="append", default=[], metavar="NAME", help=scores)
    add("--type", metavar="TYPE", help="compare on this question type only, as multi_hop")
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
    runs = load_runs(options.runs, complete=False)
    measures = choose(runs, options.score, options.type)
    against = objections(runs, measures, options.score)
    if against and not options.force:
        raise InputError("; ".join(against) + "; or use --force to compare anyway")
    counted = [(measure, share(runs, measure)) for measure in measures]
    tables = contrast(counted, options.seed)
    if not any(tables):
        labels = ", ".join(run.label for run in runs)
        where = f" of {options.type}" if options.type else ""
        raise InputError(f"{labels}: no question{where} has a score in every run")
    warnings = [f"forced: {objection}" for objection in against] + notes(runs, counted)
    titled = [(title(m), rows) for m, rows in zip(measures, tables, strict=True) if rows]
    for run in runs:
        print(f"{run.label}: {run.folder}")
    for warning in warnings:
        print(sentence(f"note: {warning}"))
    for name, rows in titled:
        print(f"\n{name}\n{fitted(*table(rows, runs))}")
    print("\n" + sentence(method(tables, runs)))
    if options.out is not None:
        print(f"written to {options.out}: {', '.join(write(options.out, titled, runs, warnings))}")
    print()
    print("\n".join(map(sentence, conclusions(tables, runs))))


if __name__ == "__main__":
    sys.exit(main())
