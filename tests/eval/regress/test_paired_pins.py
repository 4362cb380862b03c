"""A run with a live model: the interval paired by question decides."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eval.regress.by_question import Scored
from eval.regress.paired import Pairing, pair
from eval.regress.pins import Pin
from eval.regress.tables import report
from eval.regress.verdicts import Result, Verdict, judge
from eval.studies.regression_power import rates
from tests.eval.regress.made_outcomes import outcome
from tests.eval.regress.made_scores import changed, scores, without

PINNED = scores()


def judged(pin: Pin, found: dict[str, Scored], expected: dict[str, Scored] = PINNED) -> Result:
    """The cells are left out of it: a pin with scores by question is judged by these."""
    return judge(
        replace(pin, expected=replace(outcome(), questions=expected)),
        replace(outcome(f1=0.9), questions=found),
    )


def of(result: Result, score: str, type_: str = "overall") -> Pairing:
    return next(one for one in result.pairings if (one.score, one.type) == (score, type_))


def test_the_same_scores_are_ok(pin):
    result = judged(pin, dict(PINNED))
    assert (result.verdict, result.reasons) == (Verdict.OK, ())
    assert {one.score for one in result.pairings} == set(next(iter(PINNED.values())).scores)
    assert "| made: judge | OK | overall (types 1-4) | 240 |" in report([result])
    assert "- (all equal)" in report([result])


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 6, 7, 8])
def test_noise_is_okish(pin, seed):
    result = judged(pin, scores(seed))
    assert result.verdict == Verdict.OKISH
    one = of(result, "judge")
    assert one.difference.low < 0 < one.difference.high
    assert 0.03 < one.needed < 0.2


@pytest.mark.parametrize("drop", [0.25, -0.25])
def test_a_real_loss_fails_and_so_does_a_rise(pin, drop):
    result = judged(pin, scores(1, drop=drop))
    assert result.verdict == Verdict.FAIL
    one = of(result, "judge")
    assert one.shown
    assert (one.difference.value < -0.1) == (drop > 0)
    assert one.difference.low * one.difference.high > 0
    found = one.difference
    row = next(
        line for line in report([result]).splitlines() if "made: judge | FAIL | overall" in line
    )
    assert f"{found.value:+.4f} [{found.low:+.4f}, {found.high:+.4f}]" in row
    assert f"| 6 conversations | {one.p_holm:.4f} |".replace("0.0000", "< 0.0001") in row
    assert row.endswith(f"| {one.needed:.4f} |")


def test_a_loss_of_one_type_fails(pin):
    lost = [id_ for id_, one in PINNED.items() if one.type == "multi_hop" and one.scores["judge"]]
    result = judged(pin, changed(dict(PINNED), *lost[::2], judge=0.0))
    assert of(result, "judge", "multi_hop").shown
    assert not any(one.shown for one in result.pairings if one.type == "single_hop")
    assert result.verdict == Verdict.FAIL


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (without(PINNED, "c0/3", "c2/1"), "2 questions of the pin not asked (c0/3, c2/1)"),
        ({**PINNED, "c9/0": PINNED["c0/0"]}, "1 question not in the pin (c9/0)"),
        (
            changed(PINNED, "c1/1", failed="answer: CallFailed: 400"),
            "1 question failed that did not when pinned (c1/1); "
            "the first in answer: CallFailed: 400",
        ),
        (changed(PINNED, "c1/1", judge=None), "1 question with judge on one side only (c1/1)"),
    ],
)
def test_other_questions_fail_with_equal_scores(pin, found, told):
    result = judged(pin, found)
    assert result.verdict == Verdict.FAIL
    assert result.reasons == (told,)
    assert told in report([result])
    assert "| made: judge | OK |" in report([result])  # what both answered is still compared


def test_a_question_that_failed_when_pinned_may_fail_or_not(pin):
    holed = changed(PINNED, "c1/1", failed="when pinned")
    for found in (PINNED, changed(PINNED, "c1/1", failed="answer: CallFailed: 400")):
        result = judged(pin, found, holed)
        assert result.verdict == Verdict.OK
        assert of(result, "judge").difference.n == len(PINNED) - 1


def test_of_two_conversations_questions_are_resampled_and_the_table_says_so(pin):
    few = scores(conversations=2)
    lost = judged(pin, scores(1, drop=0.4, conversations=2), few)
    assert lost.verdict == Verdict.FAIL  # by two conversations' means nothing could be shown
    assert not of(lost, "judge").by_conversation
    assert "| questions of 2 conversations |" in report([lost])
    assert judged(pin, scores(2, conversations=2), few).verdict == Verdict.OKISH
    enough = judged(pin, scores(1, conversations=5), scores(conversations=5))
    assert of(enough, "judge").by_conversation


def test_five_questions_that_moved_alike_show_nothing(pin):
    """Their interval has no width and excludes 0, but chance alone moves five of five alike."""
    five = changed(scores(conversations=1, each=5), *(f"c0/{i}" for i in range(5)), judge=1.0)
    found = changed(five, *five, judge=0.0)
    result = judged(pin, found, five)
    low, high = of(result, "judge").difference.low, of(result, "judge").difference.high
    assert low == high == -1
    assert result.verdict == Verdict.OKISH


def test_one_type_is_not_told_twice():
    single = {id_: one for id_, one in PINNED.items() if one.type == "single_hop"}
    assert {one.type for one in pair(single, single)} == {"single_hop"}


@pytest.mark.parametrize(
    ("expected", "found", "told"),
    [
        (PINNED, None, "no model was called"),
        (None, PINNED, "a model was called, but no scores by question are pinned"),
    ],
)
def test_a_model_on_one_side_only_fails(pin, expected, found, told):
    result = judge(
        replace(pin, expected=replace(outcome(), questions=expected)),
        replace(outcome(), questions=found),
    )
    assert result.verdict == Verdict.FAIL
    assert told in result.reasons[0]


def test_the_rule_errs_seldom_where_single_intervals_err_often():
    any_interval, by_rule = rates(conversations=4, each=30, drop=0.0, pairs=12)
    assert by_rule <= 1 / 12 < any_interval
    assert rates(conversations=4, each=30, drop=0.6, pairs=4)[1] == 1
