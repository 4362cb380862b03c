"""Verdicts on the scores of a run: as expected, within tolerance, or different."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from eval.regress.by_question import pair, unlike
from eval.regress.pins import DIGITS, SCORES, Outcome, Pin
from eval.summary.contrast import NOT_SHOWN, Row
from eval.summary.measures import JUDGE

_CALLED = 'a model was called, but no scores by question are pinned: --repin "reason" writes them'
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
        seen |= {of_pairing(one) for one in self.pairings} - {Verdict.OK}
        if self.reasons or Verdict.FAIL in seen:
            return Verdict.FAIL
        return Verdict.OKISH if seen else Verdict.OK


def judge(pin: Pin, found: Outcome) -> Result:
    """Compare `found` with the expectation of `pin`; a score that rises fails like one that falls.

    A score of n questions may move by tolerance_questions / n, because another processor may break
    near ties differently. If a model is called, scores are paired by question instead, see
    eval.regress.by_question. Other data or another protocol fail before any score is compared.
    """
    expected = pin.expected
    if expected is None:
        return Result(pin, found, reasons=('expects nothing yet: --repin "reason" pins it',))
    reasons = [*_other_data(expected.data, found.data)]
    if expected.protocol != found.protocol:
        reasons.append(f"protocol {found.protocol}, expected {expected.protocol}")
    if (expected.questions is None) != (found.questions is None):
        reasons.append(_CALLED if expected.questions is None else "no model was called")
    if expected.questions is not None and found.questions is not None and not reasons:
        sides = expected.questions, found.questions
        return Result(pin, found, (), tuple(unlike(*sides)), tuple(pair(*sides)))
    reasons += [
        f"{type_}: {_n(found, type_)} questions, expected {_n(expected, type_)}"
        for type_ in {**expected.cells, **found.cells}
        if _n(found, type_) != _n(expected, type_)
    ]
    if reasons:
        return Result(pin, found, reasons=tuple(reasons))
    changes = [
        change
        for type_ in expected.cells
        for score in (*SCORES, JUDGE)
        if (change := _change(pin.tolerance_questions, type_, score, expected, found))
    ]
    return Result(pin, found, tuple(changes))


def of_pairing(row: Row) -> Verdict:
    """Return FAIL if a difference is shown, either way; OK if there is none to four digits."""
    (one,) = row.contrasts
    if one.verdict != NOT_SHOWN:
        return Verdict.FAIL
    return Verdict.OK if abs(one.difference.value) < _HALF else Verdict.OKISH


def worst(results: Sequence[Result]) -> Verdict:
    """Return FAIL if it is among the verdicts, else OKISH if that is, else OK."""
    seen = {result.verdict for result in results}
    return next((one for one in (Verdict.FAIL, Verdict.OKISH) if one in seen), Verdict.OK)


def _change(
    questions: float, type_: str, score: str, expected: Outcome, found: Outcome
) -> ScoreChange | None:
    want, have = expected.cells[type_].get(score), found.cells[type_].get(score)
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


def _other_data(expected: Mapping[str, str], found: Mapping[str, str]) -> list[str]:
    return [
        f"{name}: sha256 {found.get(name, 'absent')[:12]}, expected "
        f"{expected.get(name, 'absent')[:12]}"
        for name in {**expected, **found}
        if found.get(name) != expected.get(name)
    ]
