"""Pinning anew: what is expected changes, and CHANGELOG.md says why."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

from eval.regress.pins import DIGITS, Outcome, save_pin
from eval.regress.verdicts import Result, Verdict
from eval.summary.summarise import OVERALL
from memsys.errors import InputError

_HEADING = "## "


def repin(results: Sequence[Result], reason: str, changelog: Path) -> list[str]:
    """Save what was found in every pin that is not OK, note it in `changelog`; their names.

    Raises InputError before anything is written where a pin gave no scores or there is no reason.
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


def _line(changed: Sequence[Result], reason: str) -> str:
    moves = []
    for result in changed:
        before, after = _f1(result.pin.expected), _f1(result.found)
        told = result.pin.expected is not None and before != after
        moves.append(f"{result.pin.name} F1 {before} to {after}" if told else result.pin.name)
    text = f"- Expected scores pinned: {reason.rstrip('.')} ({', '.join(moves)})."
    return textwrap.fill(text, 100, subsequent_indent="  ", break_long_words=False)


def _f1(outcome: Outcome | None) -> str:
    value = outcome.cells[OVERALL]["f1"] if outcome else None
    return "none" if value is None else f"{value:.{DIGITS}f}"


def _note(changelog: Path, line: str) -> None:
    """Put `line` on top of the newest section's list; the file is made where there is none."""
    text = changelog.read_text(encoding="utf-8") if changelog.exists() else "# Changelog\n"
    lines = text.splitlines()
    heading = next((i for i, one in enumerate(lines) if one.startswith(_HEADING)), None)
    if heading is None:
        lines += ["", line]
    else:
        lines[heading + 1 : heading + 2] = ["", line]
    changelog.write_text("\n".join(lines) + "\n", encoding="utf-8")
