"""`python -m eval.regress [PIN ...]`: run pinned commands, compare with pinned scores."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from eval.cli import BAD_INPUT, FAILED, INTERRUPTED
from eval.regress.measure import measure
from eval.regress.pins import Pin, load_pins
from eval.regress.repin import repin
from eval.regress.tables import report
from eval.regress.verdicts import Result, Verdict, judge, worst
from memsys.errors import InputError

_CHANGELOG = Path("CHANGELOG.md")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, judge and print markdown; returns the exit code: 1 where a pin fails, 2 for wrong input,
    130 after Ctrl-C. The table also goes to the file that $GITHUB_STEP_SUMMARY names, if any.
    """
    options = _parser().parse_args(arguments)
    try:
        pins = load_pins(options.pins)
        _check_live(pins, options)
        results = [check(pin, live=options.live) for pin in pins]
        _show(report(results))
        if options.repin is not None:
            changed = repin(results, options.repin, _CHANGELOG)
            print(f"pinned anew: {', '.join(changed) or 'nothing, all scores are as expected'}")
            _warn_of_holes([result for result in results if result.pin.name in changed])
            return 0
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        return INTERRUPTED
    return FAILED if worst(results) == Verdict.FAIL else 0


def check(pin: Pin, live: bool = False) -> Result:
    """Run the command of `pin` and judge it; a run that cannot be, or that fails, is a FAIL.

    `live`: models are asked, whatever has been recorded.
    """
    print(f"{pin.name}: {pin.command}", file=sys.stderr)
    try:
        return judge(pin, measure(pin.arguments, pin.answers, live))
    except InputError as error:
        return Result(pin, None, reasons=(str(error),))


def _check_live(pins: Sequence[Pin], options: argparse.Namespace) -> None:
    """A pin that is replayed has to hold the scores of what is replayed."""
    replayed = [pin for pin in pins if pin.bundle]
    if options.live and options.repin is not None and replayed:
        raise InputError(
            f"{replayed[0].name}: --live with --repin: it replays {replayed[0].bundle}; make that "
            "bundle anew and pin the replay, without --live"
        )


def _warn_of_holes(results: Sequence[Result]) -> None:
    """A question that failed is pinned as one, and is in no mean: better to know it."""
    for result in results:
        questions = (result.found.questions if result.found else None) or {}
        failed = [id_ for id_, one in questions.items() if one.failed]
        if failed:
            print(f"{result.pin.name}: {len(failed)} questions failed and are pinned so: {failed}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m eval.regress",
        description="Run pinned commands again and compare their scores by question type: OK "
        "(equal to four digits), OKish (within the pin's tolerance, or where a model is called no "
        "difference shown by the interval paired by question), FAIL (lower or higher). "
        "docs/regression.md tells how to pin a strategy of your own.",
    )
    parser.add_argument(
        "pins",
        nargs="*",
        metavar="PIN",
        help="a YAML file, a folder of them, or a name of results/expected (default: all there)",
    )
    parser.add_argument(
        "--repin",
        metavar="REASON",
        help="take what comes out as expected from now on, and note the reason in CHANGELOG.md",
    )
    parser.add_argument(
        "--live",
        action="store_true",
        help="ask the models anew (llm.cache=off), where a pin would replay recorded answers",
    )
    return parser


def _show(text: str) -> None:
    print(text)
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(text + "\n")


if __name__ == "__main__":
    sys.exit(main())
