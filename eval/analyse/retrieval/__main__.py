"""`python -m eval retrieval RUN [RUN ...]`: recall, nDCG, MRR and others of rankings, by type."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from eval.analyse.retrieval.evaluation import Request, evaluate
from eval.analyse.retrieval.from_files import add_options, run_folders
from eval.analyse.retrieval.measured import KINDS
from eval.analyse.retrieval.write import write
from eval.cli import add_wide, code_of, parser
from eval.metrics.retrieval.registry import UNITS, parse
from eval.records.run import load_runs
from eval.rendering.blocks import as_text
from memsys.core.errors import InputError


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return the exit code: 2 for wrong input, 130 after Ctrl-C."""
    return code_of(lambda: _retrieval(_parser().parse_args(arguments)))


def _parser() -> argparse.ArgumentParser:
    command = parser(
        "retrieval",
        "Measure the rankings of runs against the evidence of their questions, by question type "
        "and with intervals; further runs are compared with the first. A FILE is a ranking that "
        "another system made: it is scored and becomes a run folder. docs/retrieval.md explains "
        "the measures.",
    )
    add = command.add_argument
    runs = "run folder, id under results/runs or a part of it, or last; or a FILE of rankings"
    add("runs", nargs="+", type=Path, metavar="RUN", help=runs)
    units = "what is ranked (default: turn, or session if a run ranked sessions; with --all: both)"
    add("--unit", choices=UNITS, help=units)
    kinds = "recall: the fraction of the evidence, any of it, or all of it (default: all three)"
    add("--kind", choices=KINDS, help=kinds)
    cutoffs = "cutoffs, as 5,10,20 (default: 10; with --all: 5,10)"
    add("--at", type=_cutoffs, metavar="N[,N...]", help=cutoffs)
    add("--type", metavar="TYPE", help="this question type only, as multi_hop")
    measure = "measure such as recall@5, session_ndcg@10 or recall@512tokens; repeatable"
    add("--measure", action="append", default=[], metavar="NAME", help=measure)
    add("--all", action="store_true", help="every definition, side by side")
    add("--seed", type=int, default=0, help="seed of the resampling (default: 0)")
    files = "also write there retrieval.md, retrieval.csv with every measure, and the curves"
    add("--out", type=Path, metavar="FOLDER", help=files)
    add_wide(command)
    add_options(command)
    return command


def _cutoffs(text: str) -> tuple[int, ...]:
    try:
        found = tuple(sorted({int(part) for part in text.split(",")}))
    except ValueError:
        found = (0,)
    if found[0] < 1:
        raise argparse.ArgumentTypeError(f"{text!r:.60}: give whole numbers above 0, as 5,10,20")
    return found


def _retrieval(options: argparse.Namespace) -> None:
    request = _request(options)
    runs = load_runs(run_folders(options, request), complete=False)
    found = evaluate(runs, request)
    print(as_text(found.sections))
    if options.out is not None:
        print(f"\nwritten to {options.out}: {', '.join(write(options.out, found, request))}")


def _request(options: argparse.Namespace) -> Request:
    if options.seed < 0:
        raise InputError(f"--seed {options.seed}: use a whole number of 0 or more")
    if options.out is not None and options.out.exists() and not options.out.is_dir():
        raise InputError(f"--out {options.out}: is a file; name a folder")
    named = [f"--{name}" for name in ("unit", "kind", "at") if getattr(options, name)]
    if options.measure and (named or options.all):
        raise InputError(
            f"--measure: names unit, kind and cutoff itself; leave out {[*named, '--all'][0]}"
        )
    return Request(
        unit=options.unit,
        kind=options.kind,
        cutoffs=options.at,
        type=options.type,
        measures=tuple(dict.fromkeys(map(parse, options.measure))),
        every=options.all,
        seed=options.seed,
    )


if __name__ == "__main__":
    sys.exit(main())
