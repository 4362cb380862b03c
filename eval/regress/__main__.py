"""`python -m eval regress [PIN ...]`: run pinned commands, compare with pinned scores."""

import argparse
import os
import sys
import tempfile
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from omegaconf import OmegaConf

from eval.cli import FAILED, code_of, parser
from eval.metrics.protocols import protocols
from eval.records.bundle import read_calls
from eval.records.files import INGEST, read_lines
from eval.records.manifest import describe
from eval.records.run import error_of
from eval.regress.by_question import of_records
from eval.regress.pins import DIGITS, SCORES, Outcome, Pin, load_pins, save_pin
from eval.regress.verdicts import Result, Verdict, judge, report, worst
from eval.rendering.errors import configuration_errors
from eval.run.build import build
from eval.run.composing import composed
from eval.run.runner import Runner
from eval.summary.measures import JUDGE
from eval.summary.summarise import OVERALL, summarise
from memsys.core.errors import InputError
from memsys.llm.budget import BudgetReached
from memsys.llm.recording import Recording

_CHANGELOG = Path("CHANGELOG.md")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, judge and print Markdown, also to the file named by $GITHUB_STEP_SUMMARY, if any.

    Returns the exit code: 1 if a pin fails, 2 for wrong input, 130 after Ctrl-C.
    """
    return code_of(lambda: _regress(_parser().parse_args(arguments)))


def check(pin: Pin, live: bool = False) -> Result:
    """Run the command of `pin` and judge it; a run that is refused or fails is a FAIL.

    `live`: call the models, even where answers are recorded.
    """
    print(f"{pin.name}: {pin.command}", file=sys.stderr)
    try:
        return judge(pin, measure(pin.arguments, pin.answers, live))
    except InputError as error:
        return Result(pin, None, reasons=(str(error),))


def repin(results: Sequence[Result], reason: str, changelog: Path) -> list[str]:
    """Save the found scores of every pin that is not OK, with a note in `changelog`.

    Returns the names of these pins. Raises InputError, before anything is written, if a pin gave no
    scores or `reason` is empty.
    """
    if not reason.strip():
        raise InputError("--repin: needs a reason, as --repin 'BM25 drops stop words'")
    without = [result for result in results if result.found is None]
    if without:
        raise InputError(f"{without[0].pin.name}: not pinned: {'; '.join(without[0].reasons)}")
    changed = [result for result in results if result.verdict != Verdict.OK]
    for result in changed:
        if result.found is not None:
            save_pin(result.pin, result.found)
    if changed:
        _note(changelog, _line(changed, " ".join(reason.split())))
    return [result.pin.name for result in changed]


def _parser() -> argparse.ArgumentParser:
    command = parser(
        "regress",
        "Run pinned commands again and compare their scores by question type: OK (equal to four "
        "digits), OKish (within the pin's tolerance or, where a model is called, no difference "
        "shown by the interval paired by question), FAIL (lower or higher). docs/regression.md "
        "explains how to pin a strategy of your own.",
    )
    add = command.add_argument
    pins = "YAML file, folder of such files, or name in results/expected (default: all there)"
    add("pins", nargs="*", metavar="PIN", help=pins)
    reason = "pin the scores found by this check, and note the reason in CHANGELOG.md"
    add("--repin", metavar="REASON", help=reason)
    live = "call the models (llm.cache=off) where a pin would replay recorded answers"
    add("--live", action="store_true", help=live)
    return command


def _regress(options: argparse.Namespace) -> int:
    pins = load_pins(options.pins, repin=options.repin is not None)
    replayed = [pin for pin in pins if pin.bundle]
    if options.live and options.repin is not None and replayed:
        raise InputError(
            f"{replayed[0].name}: --live with --repin: it replays {replayed[0].bundle}; record "
            "that bundle again and pin the replay, without --live"
        )
    results = [check(pin, live=options.live) for pin in pins]
    text = report(results)
    print(text)
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(text + "\n")
    if options.repin is None:
        return FAILED if worst(results) == Verdict.FAIL else 0
    changed = repin(results, options.repin, _CHANGELOG)
    print(f"pinned: {', '.join(changed) or 'nothing, all scores are as expected'}")
    for result in results:  # a failed question is pinned as failed and in no mean
        questions = (result.found.questions if result.found else None) or {}
        failed = [id_ for id_, question in questions.items() if question.failed]
        if failed and result.pin.name in changed:
            print(f"{result.pin.name}: {len(failed)} questions are pinned as failed: {failed}")
    return 0


def _line(changed: Sequence[Result], reason: str) -> str:
    moves = []
    for result in changed:
        before, after = _f1(result.pin.expected), _f1(result.found)
        moved = result.pin.expected is not None and before != after
        moves.append(f"{result.pin.name} F1 {before} to {after}" if moved else result.pin.name)
    text = f"- Expected scores pinned: {reason.rstrip('.')} ({', '.join(moves)})."
    return textwrap.fill(text, 100, subsequent_indent="  ", break_long_words=False)


def _f1(outcome: Outcome | None) -> str:
    value = outcome.cells[OVERALL]["f1"] if outcome else None
    return "none" if value is None else f"{value:.{DIGITS}f}"


def _note(changelog: Path, line: str) -> None:
    """Insert `line` at the top of the newest section; the file is created if it is absent."""
    text = changelog.read_text(encoding="utf-8") if changelog.exists() else "# Changelog\n"
    lines = text.splitlines()
    heading = next((i for i, entry in enumerate(lines) if entry.startswith("## ")), None)
    if heading is None:
        lines += ["", line]
    else:
        lines[heading + 1 : heading + 2] = ["", line]
    changelog.write_text("\n".join(lines) + "\n", encoding="utf-8")


def measure(arguments: Sequence[str], bundle: Path | None = None, live: bool = False) -> Outcome:
    """Run `python -m eval.run ARGUMENTS`, a single run, and return its scores; no folder remains.

    Vectors are cached as usual. The recorded answers of a `bundle` replace the model, in a separate
    cache. `live`: models are called, nothing is replayed or recorded.

    Raises InputError on arguments that eval.run refuses, if the budget is exhausted, if a question
    fails although no model was called, and if all fail.
    """
    try:
        with configuration_errors(), tempfile.TemporaryDirectory() as folder:
            answers = ["llm.cache=off"] if live else []
            if bundle is not None and not live:
                Recording(Path(folder) / "cache").keep(*read_calls(bundle))
                answers = [f"cache={folder}/cache", "llm.cache=replay"]
            config, choices = composed([*arguments, *answers])
            built = build(config, choices)
            resolved = cast(dict[str, Any], OmegaConf.to_container(config, resolve=True))
            described = built.described()
            manifest = describe("regress", resolved, choices, built.dataset, described)
            records = list(Runner(built, Path(folder), config.concurrency).run())
            usages = [row["usage"] or {} for row in (*records, *read_lines(Path(folder) / INGEST))]
    except BudgetReached as error:
        raise InputError(f"{error}; a pin needs the whole run") from error
    phases = [
        phase for usage in usages for phase in (usage, *usage.values()) if isinstance(phase, dict)
    ]
    called = any(phase.get("calls") for phase in phases)  # live or replayed, also for a session
    failed = [record for record in records if record["status"] == "error"]
    if failed and not (called and len(failed) < len(records)):
        raise InputError(
            f"{len(failed)} of {len(records)} questions failed, the first {failed[0]['id']} in "
            f"{error_of(failed[0])}"
        )
    summary = summarise(records, manifest, manifest["seed"], resamples=2)  # intervals are unused
    protocol = protocols(manifest["scoring"])[0]
    cells: dict[str, dict[str, float | None]] = {}
    for type_, cell in summary["by_type"].items():
        names = list(SCORES)
        if cell[JUDGE] is not None:
            names.append(JUDGE)
        scores = {name: cell[name] and round(cell[name], DIGITS) for name in names}
        if cell["n"]:
            cells[type_] = {"n": cell["n"], **scores}
    return Outcome(
        protocol.name,
        {file["name"]: file["sha256"] for file in manifest["data"]},
        cells,
        of_records(records, protocol.f1) if called else None,
    )


if __name__ == "__main__":
    sys.exit(main())
