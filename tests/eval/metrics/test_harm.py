"""Evidence that was found, and wrong values that were shown and used, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from eval.datasets.types import Plant
from eval.metrics import Answered
from eval.metrics.evidence import evidence_hit, evidence_recall, session_recall
from eval.metrics.harm import SHOWN, USED, shown
from eval.metrics.registry import names, score


@pytest.mark.parametrize(
    ("evidence", "retrieved", "recall", "hit"),
    [
        (["D1:1", "D2:3"], ["D2:3", "D9:9", "D1:1"], 1.0, 1.0),
        (["D1:1", "D2:3"], ["D2:3", "D2:3", "D9:9"], 0.5, 1.0),
        (["D1:1", "D2:3"], ["D1:11", "D2"], 0.0, 0.0),  # ids match whole
        (["D1:1"], [], 0.0, 0.0),
        (["D1:1", "D1:1", "D2:3"], {"D1:1"}, 0.5, 1.0),  # a turn cited twice is one turn
    ],
)
def test_share_and_hit(evidence, retrieved, recall, hit):
    assert evidence_recall(evidence, retrieved) == recall
    assert evidence_hit(evidence, retrieved) == hit


def test_without_evidence_there_is_no_value_rather_than_1():
    assert evidence_recall([], ["D1:1"]) is None
    assert evidence_hit((), ["D1:1"]) is None


def test_a_session_is_found_by_any_of_its_turns():
    assert session_recall(["s1", "s2"], ["s2:4", "s2:5", "s10:0"]) == 0.5
    assert session_recall(["s1", "s1"], ["s1:0"]) == 1.0
    assert session_recall(["a:b"], ["a:b:3"]) == 1.0  # the number is after the last colon
    assert session_recall(["s1"], ["s11:0", "s1"]) == 0.0  # not the bare word, nor a longer id
    assert session_recall([], ["s1:0"]) is None


OLD = Plant("superseded", values=("Velma Orr",))
BOTH = Plant("contradiction", values=("Alba Mill", "Bel Press"))


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
def test_a_value_is_shown_by_its_words(context, expected):
    assert shown(OLD, context) is expected
    chinese = Plant("deleted", values=("沈青禾",))
    assert shown(chinese, "顾望安的老师是沈青禾。")
    assert not shown(chinese, "顾望安的老师是沈青安。")


def test_a_contradiction_is_hidden_by_one_of_its_values():
    assert shown(BOTH, "It is Alba Mill.") is True
    assert shown(BOTH, "It is Alba Mill. No, it is Bel Press.") is False
    assert shown(BOTH, "Nobody said.") is False


def test_nothing_is_wrong_to_show_of_controls_and_absent_facts():
    assert shown(Plant("deleted", control=True), "Velma Orr") is None
    assert shown(Plant("absent"), "Velma Orr") is None


@pytest.mark.parametrize(
    ("kind", "answer", "changed", "expected"),
    [
        ("superseded", "It is Velma Orr.", {}, 1.0),
        ("superseded", "It is Alba Orr.", {}, 0.0),
        ("contradiction", "Bel Press", {}, 1.0),
        ("contradiction", "Alba Mill or Bel Press", {}, 0.0),
        ("contradiction", "I do not know.", {}, 0.0),
        ("absent", "Somebody", {}, 1.0),  # any answer about an absent fact is wrong
        ("absent", "I do not know.", {"abstained": True}, 0.0),
        ("superseded", "", {"has_answer": False}, None),
    ],
)
def test_an_answer_uses_a_wrong_value_if_it_states_it(kind, answer, changed, expected):
    assert used(kind, answer, changed) == expected
    assert used(kind, answer, changed, control=True) is None


def used(
    kind: str, answer: str, changed: dict[str, bool], *, control: bool = False
) -> float | None:
    values = list(BOTH.values) if kind == "contradiction" else ["Velma Orr"]
    plant = {"kind": kind, "control": control, "turns": [], "values": values, "shown": None}
    fields: dict[str, Any] = {"abstained": False, **changed}
    return score(Answered(4, None, answer, plant=plant, **fields))[USED]


def test_other_questions_have_no_score_of_harm():
    assert not {SHOWN, USED} & {*names(), *score(Answered(4, "gold", "answer"))}
