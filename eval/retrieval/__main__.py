"""`python -m eval.retrieval RUN [RUN ...]`: recall, nDCG and their kin of the runs' rankings."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from eval.cli import code_of, parser
from memsys.errors import InputError
from memsys.places import find_run
from memsys.text.files import is_there

UNITS, KINDS = ("turn", "session"), ("fraction", "any", "all")
_ENDINGS = {".gz", ".json", ".jsonl", ".trec", ".run", ".txt", ".tsv"}


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
    add("--unit", choices=UNITS, default="turn", help="what is ranked (default: turn)")
    kinds = "recall: the fraction of the evidence, any of it, or all of it (default: all three)"
    add("--kind", choices=KINDS, help=kinds)
    add("--at", type=_cutoffs, metavar="N,N,...", help="cutoffs (default: 10)")
    add("--type", metavar="TYPE", help="this question type only, as multi_hop")
    measure = "measure such as recall@5, session_ndcg@10 or recall@512tokens; repeatable"
    add("--measure", action="append", default=[], metavar="NAME", help=measure)
    add("--all", action="store_true", help="every definition, side by side")
    add("--seed", type=int, default=0, help="seed of the resampling (default: 0)")
    files = "also write retrieval.md, retrieval.csv and the curves there"
    add("--out", type=Path, metavar="FOLDER", help=files)
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
    folders = [_folder(given, options) for given in options.runs]
    print("\n".join(map(str, folders)))


def _folder(given: Path, options: argparse.Namespace) -> Path:
    """Return the run folder that `given` stands for, or the one that a FILE becomes."""
    path = given if is_there(given) or given.suffix in _ENDINGS else find_run(given)
    return path if path.is_dir() else _from_file(path, options)


def _from_file(path: Path, _: argparse.Namespace) -> Path:
    """Score the rankings in the file `path`; return the run folder that they become."""
    raise InputError(f"{path}: not a run folder")


if __name__ == "__main__":
    sys.exit(main())
