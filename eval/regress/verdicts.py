"""Whether scores are those that were expected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from eval.regress.by_question import Questions
from eval.regress.paired import Pairing, pair, unlike
from eval.regress.pins import DIGITS, SCORES, Outcome, Pin
from eval.summary.measures import JUDGE

_CALLED = 'a model was called, and no scores by question are pinned: --repin "reason" writes them'
_HALF = 0.5 * 10**-DIGITS  # both sides are rounded to DIGITS digits


class Verdict(StrEnum):
    """OK: equal to the last digit. OKISH: within the pin's tolerance, or paired by question no
    difference is shown. FAIL: anything else.
    """

    OK = "OK"
    OKISH = "OKish"
    FAIL = "FAIL"


@dataclass(frozen=True, slots=True)
class Change:
    """A score that is not the expected one. `tolerance` in the unit of the score, 0 to 1."""

    type: str
    score: str
    n: int
    expected: float | None
    found: float | None
    tolerance: float
    verdict: Verdict

    @property
    def difference(self) -> float | None:
        """Found minus expected; None where one of them is missing."""
        if self.found is None or self.expected is None:
            return None
        return self.found - self.expected


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a pin. `reasons`: why it fails whatever its scores, a sentence each.

    `pairings`: of a run that calls a model, what `changes` are of another.
    """

    pin: Pin
    found: Outcome | None
    changes: tuple[Change, ...] = ()
    reasons: tuple[str, ...] = ()
    pairings: tuple[Pairing, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The worst of all: FAIL before OKish before OK."""
        seen = {change.verdict for change in self.changes}
        seen |= {of_pairing(one) for one in self.pairings} - {Verdict.OK}
        if self.reasons or Verdict.FAIL in seen:
            return Verdict.FAIL
        return Verdict.OKISH if seen else Verdict.OK


def judge(pin: Pin, found: Outcome) -> Result:
    """Set `found` against what `pin` expects; a score that rises fails like one that falls.

    A score of n questions may move by tolerance_questions / n: a near tie that another processor
    breaks otherwise changes single questions. Where a model is called, scores are paired by
    question instead, see eval.regress.paired. Other data or another protocol fail before any
    score is looked at.
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
        return _paired(pin, found, expected.questions, found.questions)
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


def of_pairing(one: Pairing) -> Verdict:
    """FAIL where a difference is shown, either way; OK where there is none to four digits."""
    if one.shown:
        return Verdict.FAIL
    return Verdict.OK if abs(one.difference.value) < _HALF else Verdict.OKISH


def worst(results: Sequence[Result]) -> Verdict:
    """The verdict on all."""
    seen = {result.verdict for result in results}
    return next((one for one in (Verdict.FAIL, Verdict.OKISH) if one in seen), Verdict.OK)


def _paired(pin: Pin, found: Outcome, expected: Questions, own: Questions) -> Result:
    """The scores of what both answered are shown even where other questions fail the pin."""
    return Result(pin, found, (), tuple(unlike(expected, own)), tuple(pair(expected, own)))


def _change(
    questions: float, type_: str, score: str, expected: Outcome, found: Outcome
) -> Change | None:
    want, have = expected.cells[type_].get(score), found.cells[type_].get(score)
    if want == have:
        return None
    n = _n(expected, type_)
    tolerance = questions / n if n else 0.0
    if want is None or have is None:
        return Change(type_, score, n, want, have, tolerance, Verdict.FAIL)
    moved = abs(have - want)
    if moved < _HALF:
        return None
    near = moved <= tolerance + 2 * _HALF  # the rounding of both sides
    verdict = Verdict.OKISH if near else Verdict.FAIL
    return Change(type_, score, n, want, have, tolerance, verdict)


def _n(outcome: Outcome, type_: str) -> int:
    return int(outcome.cells.get(type_, {}).get("n") or 0)


def _other_data(expected: Mapping[str, str], found: Mapping[str, str]) -> list[str]:
    return [
        f"{name}: sha256 {found.get(name, 'absent')[:12]}, expected "
        f"{expected.get(name, 'absent')[:12]}"
        for name in {**expected, **found}
        if found.get(name) != expected.get(name)
    ]
