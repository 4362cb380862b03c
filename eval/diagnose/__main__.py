"""`python -m eval.diagnose RUN`: where answers are lost. docs/losses.md explains the tables."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from eval.cli import code_of
from eval.diagnose.abstention import abstaining
from eval.diagnose.expansion import expansion
from eval.diagnose.gate import Case, cases, gating
from eval.diagnose.pairing import pair_with_direct, pair_with_expanded
from eval.diagnose.retrieval_vs_reading import Marking, stages
from eval.metrics.registry import columns
from eval.records.run import Run, load_run
from eval.rendering.section import Section, as_text
from memsys.errors import InputError


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; returns the exit code: 2 for wrong input, 130 after Ctrl-C."""
    options = _parser().parse_args(arguments)
    return code_of(lambda: _losses(options))


def report(run: Run, direct: Run | None, expanded: Run | None, marking: Marking) -> list[Section]:
    """The sections of `run`; `expanded` needs `direct`.

    Raises InputError if the other runs are not its counterparts.
    """
    pairs = pair_with_direct(run, direct) if direct else None
    found: list[Case] | None = None
    if pairs is not None and expanded:
        always = [other for _, other in pair_with_expanded(run, expanded)]
        found = cases(run.counted, [other for _, other in pairs], always)
    return [stages(run, marking), expansion(run, pairs), gating(run, found), abstaining(run)]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m eval.diagnose",
        description="Where a run's answers are lost: in retrieval or in reading, by expansion, at "
        "the gate, by refusing. docs/losses.md explains the tables.",
    )
    parser.add_argument("run", metavar="RUN", help="a run folder, or an id under results/runs")
    parser.add_argument("--direct", metavar="RUN", help="the same run without expansion")
    parser.add_argument("--expanded", metavar="RUN", help="the same run with its gate always open")
    parser.add_argument(
        "--score",
        metavar="NAME",
        help="f1_mem0, bleu1 or another score that the records hold (default: the run's own F1)",
    )
    parser.add_argument(
        "--correct",
        type=float,
        default=0.5,
        metavar="SCORE",
        help="least score of a right answer that no judge has seen (default: 0.5)",
    )
    return parser


def _losses(options: argparse.Namespace) -> None:
    if not 0 < options.correct <= 1:
        raise InputError(f"--correct {options.correct:g}: scores are 0 to 1; use more than 0")
    if options.expanded and not options.direct:
        raise InputError("--expanded: needs --direct RUN as well, the run without expansion")
    run = load_run(options.run)
    direct, expanded = (
        load_run(name) if name else None for name in (options.direct, options.expanded)
    )
    sections = report(run, direct, expanded, Marking(_key(run, options.score), options.correct))
    print(f"Where {run.strategy} loses on {run.manifest['dataset']}")
    print(f"{_about(run)}\n")
    print(as_text(sections))


def _key(run: Run, name: str | None) -> str:
    """The key in a record of the score called `name`, as in summaries or in records."""
    if name is None or name == "f1":
        return run.own_f1
    return columns().get(name, name)


def _about(run: Run) -> str:
    excluded = len(run.excluded)
    failed = len(run.records) - len(run.counted) - excluded
    aside = f"{failed} failed" + (f", {excluded} left out by the answer key" if excluded else "")
    conversations = {record["conversation"] for record in run.records.values()}
    return (
        f"{len(run.records)} questions of {len(conversations)} conversations; in no figure: "
        f"{aside}.\nIn brackets: 95% intervals, over conversations if there are several."
    )


if __name__ == "__main__":
    sys.exit(main())
