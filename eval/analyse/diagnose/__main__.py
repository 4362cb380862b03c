"""`python -m eval diagnose RUN`: error analysis of a run, explained in docs/diagnose.md."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from eval.analyse.diagnose.expansion import expansion
from eval.analyse.diagnose.gate import abstention, gate
from eval.analyse.diagnose.pairing import pair_with_direct, pair_with_expanded
from eval.analyse.diagnose.retrieval_vs_reading import Marking, retrieval_and_reading
from eval.cli import add_run, add_wide, code_of, parser
from eval.metrics.registry import columns
from eval.metrics.stats.interval import scope
from eval.records.run import Run, load_run
from eval.rendering.blocks import Section, as_text
from eval.summary.gate_cases import Case, cases
from eval.summary.sample import by_type
from memsys.core.errors import InputError


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; returns the exit code: 2 for wrong input, 130 after Ctrl-C."""
    return code_of(lambda: _diagnose(_parser().parse_args(arguments)))


def report(run: Run, direct: Run | None, expanded: Run | None, marking: Marking) -> list[Section]:
    """Return the four sections on `run`; `expanded` requires `direct`.

    A run without answers has the first alone. Raises InputError if the other runs differ in more
    than expansion and gate.
    """
    if not run.has_answers:
        return [retrieval_and_reading(run, marking)]
    pairs = pair_with_direct(run, direct) if direct else None
    gated: list[Case] | None = None
    if pairs is not None and expanded:
        always = [other for _, other in pair_with_expanded(run, expanded)]
        gated = cases(run.counted, [other for _, other in pairs], always)
    return [
        retrieval_and_reading(run, marking),
        expansion(run, pairs),
        gate(run, gated),
        abstention(run),
    ]


def _parser() -> argparse.ArgumentParser:
    command = parser(
        "diagnose",
        "Analyse the errors of a run: points lost in retrieval and in reading, the effect of graph "
        "expansion, the decisions of the gate, and refusals. docs/diagnose.md explains the tables.",
    )
    add_run(command)
    add = command.add_argument
    add("--direct", metavar="RUN", help="the same run without expansion")
    add("--expanded", metavar="RUN", help="the same run with its gate always open")
    scores = "f1_mem0, bleu1 or another score of the records (default: the run's own F1)"
    add("--score", metavar="NAME", help=scores)
    least = "least score of a correct answer where no judge gave a verdict (default: 0.5)"
    add("--correct", type=float, default=0.5, metavar="SCORE", help=least)
    add_wide(command)
    return command


def _diagnose(options: argparse.Namespace) -> None:
    if not 0 < options.correct <= 1:
        raise InputError(f"--correct {options.correct:g}: scores are 0 to 1; use more than 0")
    if options.expanded and not options.direct:
        raise InputError("--expanded: needs --direct RUN as well, the run without expansion")
    run = load_run(options.run)
    direct, expanded = (
        load_run(name) if name else None for name in (options.direct, options.expanded)
    )
    score = run.own_f1 if options.score in {None, "f1"} else options.score
    marking = Marking(columns().get(score, score), options.correct)
    sections = report(run, direct, expanded, marking)
    print(f"Error analysis of {run.strategy} on {run.manifest['dataset']}")
    print(f"{_coverage(run)}\n")
    print(as_text(sections))


def _coverage(run: Run) -> str:
    excluded = len(run.excluded)
    failed = len(run.records) - len(run.counted) - excluded
    aside = f"{failed} failed" + (f", {excluded} excluded by the answer key" if excluded else "")
    conversations = {record["conversation"] for record in run.records.values()}
    groups = by_type(run.counted)
    over = scope(len({record["conversation"] for record in records}) for _, records in groups)
    return (
        f"{len(run.records)} questions of {len(conversations)} conversations; not counted: "
        f"{aside}.\nIn brackets: 95% intervals, {over}."
    )


if __name__ == "__main__":
    sys.exit(main())
