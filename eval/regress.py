"""`python -m eval.regress [PIN ...]`: run pinned commands, compare with pinned scores."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from eval.exits import BAD_INPUT, FAILED, INTERRUPTED
from eval.regressing.measured import measure
from eval.regressing.pins import Pin, load_pins
from eval.regressing.repin import repin
from eval.regressing.show import report
from eval.regressing.verdicts import Result, Verdict, judge, worst
from memsys.errors import InputError

_CHANGELOG = Path("CHANGELOG.md")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, judge and print markdown; returns the exit code: 1 where a pin fails, 2 for wrong input,
    130 after Ctrl-C. The table also goes to the file that $GITHUB_STEP_SUMMARY names, if any.
    """
    options = _parser().parse_args(arguments)
    try:
        results = [check(pin) for pin in load_pins(options.pins)]
        _show(report(results))
        if options.repin is not None:
            changed = repin(results, options.repin, _CHANGELOG)
            print(f"pinned anew: {', '.join(changed) or 'nothing, all scores are as expected'}")
            return 0
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        return INTERRUPTED
    return FAILED if worst(results) == Verdict.FAIL else 0


def check(pin: Pin) -> Result:
    """Run the command of `pin` and judge it; a run that cannot be, or that fails, is a FAIL."""
    print(f"{pin.name}: {pin.command}", file=sys.stderr)
    try:
        return judge(pin, measure(pin.arguments))
    except InputError as error:
        return Result(pin, None, reasons=(str(error),))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m eval.regress",
        description="Run pinned commands again and compare their scores by question type: OK "
        "(equal to four digits), OKish (within the pin's tolerance), FAIL (lower or higher). "
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
    return parser


def _show(text: str) -> None:
    print(text)
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(text + "\n")


if __name__ == "__main__":
    sys.exit(main())
