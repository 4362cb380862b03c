"""Verdicts on the scores of runs, as expected, within tolerance or different, and their report."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from eval.metrics.stats.interval import FEWEST
from eval.regress.by_question import pair, unlike
from eval.regress.pins import DIGITS, SCORES, Outcome, Pin
from eval.rendering.blocks import Table
from eval.rendering.numbers import interval, number, p_value, signed
from eval.rendering.tables import type_name
from eval.summary.contrast import NOT_SHOWN, Row
from eval.summary.measures import JUDGE
from eval.summary.summarise import OVERALL

_CALLED = 'a model was called, but no scores by question are pinned: --repin "reason" writes them'
_MOST = 40  # rows of a table
_HALF = 0.5 * 10**-DIGITS  # both sides are rounded to DIGITS digits


class Verdict(StrEnum):
    """OK means equal to the last digit, FAIL neither OK nor OKISH.

    OKISH means within the pin's tolerance or, paired by question, without a shown difference.
    """

    OK = "OK"
    OKISH = "OKish"
    FAIL = "FAIL"


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """A score that differs from the expected one; `tolerance` in its unit, 0 to 1."""

    type: str
    score: str
    n: int
    expected: float | None
    found: float | None
    tolerance: float
    verdict: Verdict

    @property
    def difference(self) -> float | None:
        """Found minus expected; None if one of them is missing."""
        if self.found is None or self.expected is None:
            return None
        return self.found - self.expected


@dataclass(frozen=True, slots=True)
class Result:
    """Outcome of a check. `reasons`: why it fails whatever its scores, one sentence each.

    `changes`: scores that moved, of a run without a model; `pairings`: scores of a run with one.
    """

    pin: Pin
    found: Outcome | None
    changes: tuple[ScoreChange, ...] = ()
    reasons: tuple[str, ...] = ()
    pairings: tuple[Row, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The worst of all verdicts: FAIL before OKish before OK."""
        seen = {change.verdict for change in self.changes}
        seen |= {of_pairing(pairing) for pairing in self.pairings} - {Verdict.OK}
        if self.reasons or Verdict.FAIL in seen:
            return Verdict.FAIL
        return Verdict.OKISH if seen else Verdict.OK


def judge(pin: Pin, outcome: Outcome) -> Result:
    """Compare `outcome` with what `pin` expects; a score that rises fails like one that falls.

    A score of n questions may move by tolerance_questions / n, because another processor may break
    near ties differently. If a model is called, scores are paired by question instead, see
    eval.regress.by_question. Other data or another protocol fail before any score is compared.
    """
    expected = pin.expected
    if expected is None:
        return Result(pin, outcome, reasons=('expects nothing yet: --repin "reason" pins it',))
    reasons = [
        f"{name}: sha256 {outcome.data.get(name, 'absent')[:12]}, expected "
        f"{expected.data.get(name, 'absent')[:12]}"
        for name in {**expected.data, **outcome.data}
        if outcome.data.get(name) != expected.data.get(name)
    ]
    if expected.protocol != outcome.protocol:
        reasons.append(f"protocol {outcome.protocol}, expected {expected.protocol}")
    if (expected.questions is None) != (outcome.questions is None):
        reasons.append(_CALLED if expected.questions is None else "no model was called")
    if expected.questions is not None and outcome.questions is not None and not reasons:
        sides = expected.questions, outcome.questions
        return Result(pin, outcome, (), tuple(unlike(*sides)), tuple(pair(*sides)))
    reasons += [
        f"{type_}: {_n(outcome, type_)} questions, expected {_n(expected, type_)}"
        for type_ in {**expected.cells, **outcome.cells}
        if _n(outcome, type_) != _n(expected, type_)
    ]
    if reasons:
        return Result(pin, outcome, reasons=tuple(reasons))
    changes = [
        change
        for type_ in expected.cells
        for score in (*SCORES, JUDGE)
        if (change := _change(pin.tolerance_questions, type_, score, expected, outcome))
    ]
    return Result(pin, outcome, tuple(changes))


def of_pairing(row: Row) -> Verdict:
    """Return FAIL if a difference is shown, either way; OK if there is none to four digits."""
    (contrast,) = row.contrasts
    if contrast.verdict != NOT_SHOWN:
        return Verdict.FAIL
    return Verdict.OK if abs(contrast.difference.value) < _HALF else Verdict.OKISH


def worst(results: Sequence[Result]) -> Verdict:
    """Return FAIL if it is among the verdicts, else OKISH if that is, else OK."""
    seen = {result.verdict for result in results}
    return next((level for level in (Verdict.FAIL, Verdict.OKISH) if level in seen), Verdict.OK)


def _change(
    questions: float, type_: str, score: str, expected: Outcome, outcome: Outcome
) -> ScoreChange | None:
    want, have = expected.cells[type_].get(score), outcome.cells[type_].get(score)
    if want == have:
        return None
    n = _n(expected, type_)
    tolerance = questions / n if n else 0.0
    if want is None or have is None:
        return ScoreChange(type_, score, n, want, have, tolerance, Verdict.FAIL)
    moved = abs(have - want)
    if moved < _HALF:
        return None
    near = moved <= tolerance + 2 * _HALF  # the rounding of both sides
    verdict = Verdict.OKISH if near else Verdict.FAIL
    return ScoreChange(type_, score, n, want, have, tolerance, verdict)


def _n(outcome: Outcome, type_: str) -> int:
    return int(outcome.cells.get(type_, {}).get("n") or 0)


def report(results: Sequence[Result]) -> str:
    """Return the verdict, a row per pin, a row per score that moved, and the next step."""
    verdicts = [result.verdict for result in results]
    counts = ", ".join(f"{verdicts.count(level)} {level}" for level in Verdict if level in verdicts)
    parts = [
        f"## Score regression: {worst(results)}",
        f"{len(results)} pin{'' if len(results) == 1 else 's'}: {counts}.",
    ]
    parts.append(Table.of(results, _PINS).markdown())
    reasons = [f"- {result.pin.name}: {reason}." for result in results for reason in result.reasons]
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


def _number(value: float | None) -> str:
    return number(value, DIGITS)


def _over(conversations: int) -> str:
    """Return what an interval is over: conversations, or the questions of too few of them."""
    plural = "" if conversations == 1 else "s"
    text = f"{conversations} conversation{plural}"
    return text if conversations >= FEWEST else f"questions of {text}"


def _detectable(difference: float) -> str:
    if difference == 0:
        return "- (all equal)"
    return f"{difference:.{DIGITS}f}" if difference <= 1 else "none"


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
    "over": lambda row: _over(row[1].clusters),
    "p (Holm)": lambda row: (
        p_value(row[1].contrasts[0].p_holm) if row[1].contrasts[0].needed else "-"
    ),
    "detectable": lambda row: _detectable(row[1].contrasts[0].needed),
}
