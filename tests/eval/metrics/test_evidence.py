"""Recall and hit of evidence turns by hand."""

import pytest

from eval.metrics.evidence import evidence_hit, evidence_recall, session_recall


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
def test_share_and_hit(
    evidence: list[str], retrieved: list[str], recall: float, hit: float
) -> None:
    assert evidence_recall(evidence, retrieved) == recall
    assert evidence_hit(evidence, retrieved) == hit


def test_without_evidence_there_is_no_value_rather_than_1() -> None:
    assert evidence_recall([], ["D1:1"]) is None
    assert evidence_hit((), ["D1:1"]) is None


def test_a_session_is_found_by_any_of_its_turns() -> None:
    assert session_recall(["s1", "s2"], ["s2:4", "s2:5", "s10:0"]) == 0.5
    assert session_recall(["s1", "s1"], ["s1:0"]) == 1.0
    assert session_recall(["a:b"], ["a:b:3"]) == 1.0  # the number is after the last colon
    assert session_recall(["s1"], ["s11:0", "s1"]) == 0.0  # not the bare word, nor a longer id
    assert session_recall([], ["s1:0"]) is None
