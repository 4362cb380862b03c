"""Results of a check as Markdown, for the terminal, a pull request or a job summary."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from eval.metrics.stats.interval import FEWEST
from eval.regress.pins import DIGITS, Outcome, Pin
from eval.regress.verdicts import Result, ScoreChange, Verdict, of_pairing, worst
from eval.rendering.blocks import Table
from eval.rendering.numbers import interval, number, p_value, signed
from eval.rendering.tables import type_name
from eval.summary.contrast import Contrast, Row
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
    parts.append(Table.of(results, _PINS).markdown())
    reasons = [f"- {one.pin.name}: {reason}." for one in results for reason in one.reasons]
    if reasons:
        parts.append("\n".join(reasons))
    moved = [(result.pin, change) for result in results for change in result.changes]
    if moved:
        # Largest moves first: the table may be cut.
        moved.sort(key=lambda row: (row[1].verdict != Verdict.FAIL, -abs(row[1].difference or 1)))
        parts.append(Table.of(moved[:_MOST], _MOVED).markdown())
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


def _paired(results: Sequence[Result]) -> list[str]:
    """Return the table of runs that call a model: scores overall, and of types that moved."""
    rows = [
        (result.pin, row)
        for result in results
        for row in result.pairings
        if row.contrasts[0].needed or row.type in (OVERALL, result.pairings[-1].type)
    ]
    if not rows:
        return []
    return [
        Table.of(rows, _PAIRED).markdown(),
        "Runs that call a model are paired with the pinned scores by question. FAIL: the interval "
        "excludes 0 and p, by Holm's method over all scores of the pin that moved, is below .05. "
        "Detectable: the minimum detectable difference at 80% power. An interval over questions "
        f"(of fewer than {FEWEST} conversations) does not generalise to other conversations.",
    ]


def _score(outcome: Outcome | None, score: str) -> str:
    return _number(outcome.cells.get(OVERALL, {}).get(score) if outcome else None)


def _over(row: Row) -> str:
    conversations = f"{row.clusters} conversation{'' if row.clusters == 1 else 's'}"
    return conversations if row.clusters >= FEWEST else f"questions of {conversations}"


def _detectable(one: Contrast) -> str:
    if not one.needed:
        return "- (all equal)"
    return f"{one.needed:.{DIGITS}f}" if one.needed <= 1 else "none"


def _number(value: float | None) -> str:
    return number(value, DIGITS)


_PINS: dict[str, Callable[[Result], str]] = {
    "pin": lambda result: result.pin.name,
    "verdict": lambda result: result.verdict,
    "F1 expected": lambda result: _score(result.pin.expected, "f1"),
    "F1 found": lambda result: _score(result.found, "f1"),
    "recall expected": lambda result: _score(result.pin.expected, "evidence_recall"),
    "recall found": lambda result: _score(result.found, "evidence_recall"),
}
_MOVED: dict[str, Callable[[tuple[Pin, ScoreChange]], str]] = {
    "score that moved": lambda row: f"{row[0].name}: {row[1].score}",
    "verdict": lambda row: row[1].verdict,
    "type": lambda row: type_name(row[1].type),
    "n": lambda row: str(row[1].n),
    "expected": lambda row: _number(row[1].expected),
    "found": lambda row: _number(row[1].found),
    "by": lambda row: "-" if row[1].difference is None else signed(row[1].difference, DIGITS),
    "allowed": lambda row: f"±{row[1].tolerance:.{DIGITS}f}",
}
_PAIRED: dict[str, Callable[[tuple[Pin, Row]], str]] = {
    "score paired by question": lambda row: f"{row[0].name}: {row[1].key}",
    "verdict": lambda row: of_pairing(row[1]),
    "type": lambda row: type_name(row[1].type),
    "n": lambda row: str(row[1].n),
    "expected": lambda row: _number(row[1].means[0].value),
    "found": lambda row: _number(row[1].means[1].value),
    "found - expected [95% interval]": lambda row: interval(
        row[1].contrasts[0].difference, DIGITS, signed
    ),
    "over": lambda row: _over(row[1]),
    "p (Holm)": lambda row: (
        p_value(row[1].contrasts[0].p_holm) if row[1].contrasts[0].needed else "-"
    ),
    "detectable": lambda row: _detectable(row[1].contrasts[0]),
}
