"""The stand-in: its formula, and that it never passes for a judge."""

from __future__ import annotations

import pytest

from eval.judges.gold_recall import GoldRecall, GoldRecallSettings, gold_recall
from eval.judges.llm import LLMJudge
from eval.judges.panel import Panel
from memsys.errors import InputError


@pytest.mark.parametrize(
    ("answer", "gold", "expected"),
    [
        ("She keeps two goats and a dog", "goats", 1.0),
        ("a goat", "two goats and one dog", 0.2),
        ("On May 7th, 2023", "7 May 2023", 1.0),
        ("seven", "7", 1.0),
        ("tea tea tea", "tea and tea and rum", 0.4),
        ("", "tea", 0.0),
        ("no information is given", "No", 0.0),  # a refusal shares words by accident
        ("It is not mentioned", "not mentioned", 1.0),
        ("北京的茶馆", "北京", 1.0),
        ("anything", "...", 0.0),
    ],
)
def test_share_of_the_golds_terms(answer: str, gold: str, expected: float) -> None:
    assert gold_recall(answer, gold) == pytest.approx(expected)


def test_the_threshold_decides() -> None:
    assert GoldRecall(0.5).judge("q", "two goats", "a goat").value == 1.0
    assert GoldRecall(0.51).judge("q", "two goats", "a goat").value == 0.0
    for wrong in (0, 1.1):
        with pytest.raises(InputError, match=r"judge\.threshold"):
            GoldRecallSettings(wrong).open(None)


def test_it_is_never_called_j() -> None:
    judge = GoldRecallSettings().open(None)
    assert judge.score_key == "gold_recall" != LLMJudge.score_key
    assert "not J" in judge.details["agreement"]
    with pytest.raises(InputError, match="a stand-in, not a judge"):
        Panel([judge, _other()])


def _other() -> GoldRecall:
    other = GoldRecall()
    other.name = "other"
    return other
