from __future__ import annotations

from typing import Any

import pytest

from eval.browse.questions import PAGE, Questions, QuestionSearch, read_search
from eval.datasets.types import TYPES
from memsys.errors import InputError

_TYPES = tuple(TYPES.values())


def _ids(questions: Questions, **wanted: Any) -> list[str]:
    return [row["id"] for row in questions.find(QuestionSearch(**wanted))["rows"]]


def test_all_in_the_order_of_the_run(questions: Questions):
    found = questions.find(QuestionSearch())
    assert found["total"] == 30
    assert [row["id"] for row in found["rows"]][:3] == ["ash/0", "ash/1", "ash/2"]
    assert found["rows"][0]["verdicts"] == (("wrong",), ("wrong",), ("error",))
    assert questions.find(QuestionSearch(start=29))["rows"][0]["verdicts"][2] == ()  # not asked
    assert questions.find(QuestionSearch(start=30))["rows"] == []


def test_words_in_any_order_and_case(questions: Questions):
    assert _ids(questions, words="STRASSE zebra") == ["ash/5"]
    assert _ids(questions, words="zebra horse") == []
    assert _ids(questions, words="what of beech/3?") == ["beech/3"]


def test_types_and_verdicts(questions: Questions):
    assert set(_ids(questions, type="adversarial")) == {
        f"{name}/{n}" for name in ("ash", "beech", "cedar") for n in (4, 9)
    }
    assert _ids(questions, verdict="error") == ["ash/0"]
    assert _ids(questions, verdict="error", run=0) == []
    assert _ids(questions, verdict="abstained") == ["ash/1", "ash/4"]
    assert _ids(questions, verdict="abstained", type="adversarial") == ["ash/4"]
    assert _ids(questions, verdict="right", run=2) == ["ash/4", "ash/8", "beech/8", "cedar/8"]
    assert _ids(questions, verdict="not scored") == []


def test_differences_between_any_two(questions: Questions):
    assert _ids(questions, one=1, other=2, change="worse") == ["ash/6"]
    assert _ids(questions, one=2, other=1, change="better") == ["ash/6"]
    assert len(_ids(questions, one=0, other=1, change="better")) == 30
    assert len(_ids(questions, one=1, other=2, change="same")) == 27  # 1 failed, 1 not asked
    assert _ids(questions, one=1, other=2, change="differs") == ["ash/6"]
    assert _ids(questions, one=1, other=1, change="same") == []
    assert _ids(questions, one=1, other=2, order="losses")[0] == "ash/6"
    assert _ids(questions, one=2, other=1, order="gains")[0] == "ash/6"
    assert len(_ids(questions, one=1, other=2, order="gains")) == 28


def test_cards_have_every_run_that_was_asked(questions: Questions):
    first, last = questions.card("ash/0"), questions.card("cedar/9")
    assert first is not None
    assert last is not None
    assert [side.label for side in first.sides] == ["plain", "better<i>", "odd"]
    assert [side.label for side in last.sides] == ["plain", "better<i>"]
    assert questions.card("oak/0") is None


def test_an_address_is_read():
    given = {"q": "x" * 900, "type": "temporal", "run": "1", "other": "2", "start": str(PAGE)}
    found = read_search(given, 3, _TYPES)
    assert found == QuestionSearch("x" * 500, "temporal", run=1, other=2, start=PAGE)
    assert read_search({}, 1, _TYPES) == QuestionSearch()
    assert read_search({}, 2, _TYPES) == QuestionSearch(other=1)


@pytest.mark.parametrize(
    "given",
    [
        {"type": "spatial"},
        {"verdict": "<b>"},
        {"change": "up"},
        {"order": "x"},
        {"run": "3"},
        {"one": "-1"},
        {"other": "²"},
        {"start": "9" * 30},
        {"start": "1e3"},
    ],
)
def test_a_wrong_address_is_refused(given: dict[str, str]):
    with pytest.raises(InputError, match=next(iter(given))):
        read_search(given, 3, _TYPES)
