"""Wrong values shown and used, on contexts and answers written by hand."""

from __future__ import annotations

from typing import Any

import pytest

from eval.datasets.types import Plant
from eval.metrics import Answered
from eval.metrics.harm import SHOWN, USED, shown
from eval.metrics.registry import names, score

OLD = Plant("superseded", values=("Velma Orr",))
BOTH = Plant("contradiction", values=("Alba Mill", "Bel Press"))


def used(kind: str, answer: str, *, control: bool = False, **changed: Any) -> float | None:
    values = list(BOTH.values) if kind == "contradiction" else ["Velma Orr"]
    plant = {"kind": kind, "control": control, "turns": [], "values": values, "shown": None}
    answered = Answered(4, None, answer, plant=plant, abstained=False)
    return score(Answered(**{**_fields(answered), **changed}))[USED]


def _fields(answered: Answered) -> dict[str, Any]:
    return {name: getattr(answered, name) for name in Answered.__slots__}


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ("D1: Velma Orr.", True),
        ("velma_orr -- cousin", True),  # as mem0ai's graph writes it
        ("Velma\nORR, they say", True),
        ("Velma Orran and Selvelma Orr", False),
        ("Orr Velma", False),
        ("", False),
    ],
)
def test_a_value_is_shown_by_its_words(context: str, expected: bool) -> None:
    assert shown(OLD, context) is expected


def test_a_chinese_value_is_shown_within_a_sentence() -> None:
    plant = Plant("deleted", values=("沈青禾",))
    assert shown(plant, "顾望安的老师是沈青禾。")
    assert not shown(plant, "顾望安的老师是沈青安。")


def test_a_contradiction_is_hidden_by_one_of_its_values() -> None:
    assert shown(BOTH, "It is Alba Mill.") is True
    assert shown(BOTH, "It is Alba Mill. No, it is Bel Press.") is False
    assert shown(BOTH, "Nobody said.") is False


def test_nothing_is_wrong_to_show_of_controls_and_absent_facts() -> None:
    assert shown(Plant("deleted", control=True), "Velma Orr") is None
    assert shown(Plant("absent"), "Velma Orr") is None


def test_an_answer_uses_a_wrong_value_if_it_states_it() -> None:
    assert used("superseded", "It is Velma Orr.") == 1.0
    assert used("superseded", "It is Alba Orr.") == 0.0
    assert used("contradiction", "Bel Press") == 1.0
    assert used("contradiction", "Alba Mill or Bel Press") == 0.0
    assert used("contradiction", "I do not know.") == 0.0


def test_any_answer_about_an_absent_fact_is_wrong() -> None:
    assert used("absent", "Somebody") == 1.0
    assert used("absent", "I do not know.", abstained=True) == 0.0


def test_nothing_is_used_without_an_answer_or_of_a_control() -> None:
    assert used("superseded", "", has_answer=False) is None
    assert used("superseded", "Velma Orr", control=True) is None


def test_other_questions_have_no_score_of_harm() -> None:
    assert not {SHOWN, USED} & {*names(), *score(Answered(4, "gold", "answer"))}
