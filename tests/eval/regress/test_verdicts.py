"""OK, OKish and FAIL, at their borders."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eval.regress.tables import report
from eval.regress.verdicts import Result, Verdict, judge, worst
from tests.eval.regress.made_outcomes import outcome


@pytest.mark.parametrize(
    ("f1", "verdict"),
    [
        (0.5, Verdict.OK),
        (0.51, Verdict.OKISH),  # one of 100 questions
        (0.49, Verdict.OKISH),
        (0.5102, Verdict.FAIL),  # a rise is no good news until it is understood
        (0.4898, Verdict.FAIL),
        (None, Verdict.FAIL),
    ],
)
def test_a_score_may_move_by_one_question(pin, f1, verdict):
    assert judge(pin, outcome(f1=f1)).verdict == verdict


def test_without_tolerance_the_last_digit_fails(pin):
    strict = replace(pin, tolerance_questions=0.0)
    assert judge(strict, outcome(f1=0.5003)).verdict == Verdict.FAIL


def test_every_pinned_score_counts(pin):
    for name in ("bleu1", "evidence_recall", "abstained"):
        result = judge(pin, outcome(**{name: 0.3}))
        assert [(one.score, one.verdict) for one in result.changes] == [(name, Verdict.FAIL)]


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ({"protocol": "strict"}, "protocol strict, expected locomo"),
        ({"sha256": "b" * 64}, "made.json: sha256 bbbbbbbbbbbb, expected aaaaaaaaaaaa"),
        ({"n": 99}, "overall: 99 questions, expected 100"),
    ],
)
def test_what_cannot_be_compared_fails_with_equal_scores(pin, other, told):
    result = judge(pin, outcome(**other))
    assert result.verdict == Verdict.FAIL
    assert told in report([result])


def test_a_pin_without_scores_fails(pin):
    result = judge(replace(pin, expected=None), outcome())
    assert result.verdict == Verdict.FAIL
    assert "--repin" in result.reasons[0]


def test_the_worst_verdict_stands_above(pin):
    fine, near = judge(pin, outcome()), judge(pin, outcome(f1=0.505))
    broken = Result(pin, None, reasons=("no such file",))
    assert worst([fine]) == Verdict.OK
    assert worst([fine, near]) == Verdict.OKISH
    assert worst([near, broken, fine]) == Verdict.FAIL
    assert report([near, broken, fine]).startswith("## Score regression: FAIL\n")


def test_the_table_shows_the_farthest_move_first(pin):
    text = report([judge(pin, outcome(bleu1=0.505, f1=0.4, evidence_recall=0.8))])
    rows = [line for line in text.splitlines() if line.startswith("| made: ")]
    assert rows[0] == (
        "| made: evidence_recall | FAIL | overall (types 1-4) | 100 | 0.5000 | 0.8000 | +0.3000 "
        "| ±0.0100 |"
    )
    assert [row.split(" | ")[0] for row in rows[1:]] == ["| made: f1", "| made: bleu1"]
    assert 'python -m eval.regress made --repin "reason"' in text
