"""Evidence that was found, and wrong values that were shown and used, by hand."""

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
        *((nothing, ["D1:1"], None, None) for nothing in ([], ())),  # rather than 1
    ],
)
def test_share_and_hit(evidence, retrieved, recall, hit):
    assert evidence_recall(evidence, retrieved) == recall
    assert evidence_hit(evidence, retrieved) == hit


def test_a_session_is_found_by_any_of_its_turns():
    assert session_recall(["s1", "s2"], ["s2:4", "s2:5", "s10:0"]) == 0.5
    assert session_recall(["s1", "s1"], ["s1:0"]) == 1.0
    assert session_recall(["a:b"], ["a:b:3"]) == 1.0  # the number is after the last colon
    assert session_recall(["s1"], ["s11:0", "s1"]) == 0.0  # not the bare word, nor a longer id
    assert session_recall([], ["s1:0"]) is None


OLD = Plant("superseded", values=("Velma Orr",))
BOTH = Plant("contradiction", values=("Alba Mill", "Bel Press"))
CHINESE = Plant("deleted", values=("沈青禾",))


@pytest.mark.parametrize(
    ("plant", "context", "expected"),
    [
        (OLD, "D1: Velma Orr.", True),
        (OLD, "velma_orr -- cousin", True),  # as mem0ai's graph writes it
        (OLD, "Velma\nORR, they say", True),
        (OLD, "Velma Orran and Selvelma Orr", False),
        (OLD, "Orr Velma", False),
        (OLD, "", False),
        (CHINESE, "顾望安的老师是沈青禾。", True),
        (CHINESE, "顾望安的老师是沈青安。", False),
        # A contradiction is hidden by one of its values.
        (BOTH, "It is Alba Mill.", True),
        (BOTH, "It is Alba Mill. No, it is Bel Press.", False),
        (BOTH, "Nobody said.", False),
        # Nothing is wrong to show of controls and absent facts.
        (Plant("deleted", control=True), "Velma Orr", None),
        (Plant("absent"), "Velma Orr", None),
    ],
)
def test_a_value_is_shown_by_its_words(plant, context, expected):
    assert shown(plant, context) is expected


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
    values = list(BOTH.values) if kind == "contradiction" else ["Velma Orr"]
    for control, used in ((False, expected), (True, None)):
        plant = {"kind": kind, "control": control, "turns": [], "values": values, "shown": None}
        fields = {"abstained": False, **changed}
        assert score(Answered(4, None, answer, plant=plant, **fields))[USED] == used


def test_other_questions_have_no_score_of_harm():
    assert not {SHOWN, USED} & {*names(), *score(Answered(4, "gold", "answer"))}
