"""`python -m eval.losses RUN`: where answers are lost. docs/losses.md explains the tables."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from eval.exits import BAD_INPUT, INTERRUPTED
from eval.losing.abstaining import abstaining
from eval.losing.counterparts import pair_with_direct, pair_with_expanded
from eval.losing.expansion import expansion
from eval.losing.gating import Case, cases, gating
from eval.losing.runs import Run, load_run
from eval.losing.section import Section, as_markdown, as_plain
from eval.losing.stages import Marking, stages
from memsys.errors import InputError


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; returns the exit code: 2 for wrong input, 130 after Ctrl-C."""
    options = _parser().parse_args(arguments)
    try:
        _losses(options)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m eval.losses",
        description="Where a run's answers are lost: in retrieval or in reading, by expansion, at "
        "the gate, by refusing. docs/losses.md explains the tables.",
    )
    parser.add_argument("run", metavar="RUN", help="a run folder, or an id under results/runs")
    parser.add_argument("--direct", metavar="RUN", help="the same run without expansion")
    parser.add_argument("--expanded", metavar="RUN", help="the same run with its gate always open")
    parser.add_argument(
        "--score", default="locomo_f1", help="the score of an answer (default: locomo_f1)"
    )
    parser.add_argument(
        "--correct",
        type=float,
        default=0.5,
        metavar="SCORE",
        help="least score of a right answer that no judge has seen (default: 0.5)",
    )
    parser.add_argument("--out", type=Path, metavar="FILE.md", help="write the tables as markdown")
    return parser


def _losses(options: argparse.Namespace) -> None:
    if not 0 < options.correct <= 1:
        raise InputError(f"--correct {options.correct:g}: scores are 0 to 1; use more than 0")
    if options.expanded and not options.direct:
        raise InputError("--expanded: needs --direct RUN as well, the run without expansion")
    if options.out and not options.out.parent.is_dir():
        raise InputError(f"--out {options.out}: no folder {options.out.parent}; make it first")
    run = load_run(options.run)
    sections = report(
        run,
        load_run(options.direct) if options.direct else None,
        load_run(options.expanded) if options.expanded else None,
        Marking(options.score, options.correct),
    )
    title = f"Where {run.strategy} loses on {run.manifest['dataset']}"
    about = _about(run)
    print(f"{title}\n{about}\n\n{as_plain(sections)}")
    if options.out:
        options.out.write_text(as_markdown(title, about, sections), encoding="utf-8")
        print(f"\nwritten: {options.out}")


def report(run: Run, direct: Run | None, expanded: Run | None, marking: Marking) -> list[Section]:
    """The sections of `run`; raises InputError if the other runs are not its counterparts."""
    pairs = pair_with_direct(run, direct) if direct else None
    found: list[Case] | None = None
    if pairs is not None and expanded:
        always = [other for _, other in pair_with_expanded(run, expanded)]
        found = cases(run.answered, [other for _, other in pairs], always)
    return [stages(run, marking), expansion(run, pairs), gating(run, found), abstaining(run)]


def _about(run: Run) -> str:
    failed = len(run.records) - len(run.answered)
    conversations = {record["conversation"] for record in run.answered}
    return (
        f"{len(run.records)} questions of {len(conversations)} conversations, {failed} failed (in "
        "no figure). In brackets: 95% intervals, over conversations if there are several "
        "(docs/losses.md)."
    )


if __name__ == "__main__":
    sys.exit(main())
