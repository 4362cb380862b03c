"""Results of a check as Markdown, for the terminal, a pull request or a job summary."""

from __future__ import annotations

from collections.abc import Sequence

from eval.metrics.stats.interval import FEWEST
from eval.regress.paired import Pairing
from eval.regress.pins import DIGITS, Pin
from eval.regress.verdicts import Result, ScoreChange, Verdict, of_pairing, worst
from eval.rendering.numbers import interval, number, p_value, signed
from eval.rendering.tables import type_name
from eval.rendering.terminal import markdown
from eval.summary.summarise import OVERALL

_MOST = 40  # rows of a table


def report(results: Sequence[Result]) -> str:
    """Return the verdict, a row per pin, a row per score that moved, and the next step."""
    verdicts = [result.verdict for result in results]
    counts = ", ".join(f"{verdicts.count(one)} {one}" for one in Verdict if one in verdicts)
    parts = [
        f"## Score regression: {worst(results)}",
        f"{len(results)} pin{'' if len(results) == 1 else 's'}: {counts}.",
    ]
    header = ["pin", "verdict", "F1 expected", "F1 found", "recall expected", "recall found"]
    parts.append(markdown(header, [_row(result) for result in results]))
    reasons = [f"- {one.pin.name}: {reason}." for one in results for reason in one.reasons]
    if reasons:
        parts.append("\n".join(reasons))
    moved = [(result.pin, change) for result in results for change in result.changes]
    if moved:
        # Largest moves first: the table may be cut.
        moved.sort(key=lambda row: (row[1].verdict != Verdict.FAIL, -abs(row[1].difference or 1)))
        header = ["score that moved", "verdict", "type", "n", "expected", "found", "by", "allowed"]
        parts.append(markdown(header, [_moved(*row) for row in moved[:_MOST]]))
        if len(moved) > _MOST:
            parts.append(f"{len(moved) - _MOST} more scores moved less.")
    parts += _paired(results)
    failed = [result.pin.name for result in results if result.verdict == Verdict.FAIL]
    if failed:
        parts.append(
            "A rise fails too: it may be a gain, a leak of gold answers or a change of the metric. "
            "If the change is intended, repin it; the reason goes into CHANGELOG.md:\n"
            f'\n    python -m eval regress {" ".join(failed)} --repin "reason"'
        )
    return "\n\n".join(parts) + "\n"


def _row(result: Result) -> list[str]:
    expected = result.pin.expected
    cells = []
    for score in ("f1", "evidence_recall"):
        for outcome in (expected, result.found):
            overall = outcome.cells.get(OVERALL, {}) if outcome else {}
            cells.append(_number(overall.get(score)))
    return [result.pin.name, result.verdict, *cells]


def _moved(pin: Pin, change: ScoreChange) -> list[str]:
    by = "-" if change.difference is None else signed(change.difference, DIGITS)
    return [
        f"{pin.name}: {change.score}",
        change.verdict,
        type_name(change.type),
        str(change.n),
        _number(change.expected),
        _number(change.found),
        by,
        f"±{change.tolerance:.{DIGITS}f}",
    ]


def _paired(results: Sequence[Result]) -> list[str]:
    """Return the table of runs that call a model: scores overall, and of types that moved."""
    rows = [
        _pairing(result.pin, one)
        for result in results
        for one in result.pairings
        if one.needed or one.type in (OVERALL, result.pairings[-1].type)
    ]
    if not rows:
        return []
    header = [
        *("score paired by question", "verdict", "type", "n", "expected", "found"),
        *("found - expected [95% interval]", "over", "p (Holm)", "detectable"),
    ]
    return [
        markdown(header, rows),
        "Runs that call a model are paired with the pinned scores by question. FAIL: the interval "
        "excludes 0 and p, by Holm's method over all scores of the pin that moved, is below .05. "
        "Detectable: the minimum detectable difference at 80% power. An interval over questions "
        f"(of fewer than {FEWEST} conversations) does not generalise to other conversations.",
    ]


def _pairing(pin: Pin, one: Pairing) -> list[str]:
    conversations = f"{one.conversations} conversation{'' if one.conversations == 1 else 's'}"
    return [
        f"{pin.name}: {one.score}",
        of_pairing(one),
        type_name(one.type),
        str(one.difference.n),
        _number(one.expected),
        _number(one.found),
        interval(one.difference, DIGITS, signed),
        conversations if one.by_conversation else f"questions of {conversations}",
        p_value(one.p_holm) if one.needed else "-",
        _detectable(one),
    ]


def _detectable(one: Pairing) -> str:
    if not one.needed:
        return "- (all equal)"
    return f"{one.needed:.{DIGITS}f}" if one.needed <= 1 else "none"


def _number(value: float | None) -> str:
    return number(value, DIGITS)
