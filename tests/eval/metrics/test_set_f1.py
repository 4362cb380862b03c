"""The two F1s over sets, and where they part from each other and from the official one."""

import pytest

from eval.metrics import overlap_f1
from eval.metrics.locomo_f1 import locomo_f1
from eval.metrics.set_f1 import mem0_f1, memos_f1


@pytest.mark.parametrize(
    ("common", "answer", "gold", "score"),
    [(0, 0, 0, 0.0), (0, 3, 2, 0.0), (2, 2, 2, 1.0), (1, 2, 1, 2 / 3), (1, 4, 4, 0.25)],
)
def test_overlap(common: int, answer: int, gold: int, score: float) -> None:
    assert overlap_f1(common, answer, gold) == pytest.approx(score)


@pytest.mark.parametrize(
    ("answer", "gold", "score"),
    [
        ("Blue car!", "blue,car", 1.0),
        ("two two", "two", 1.0),  # sets: the official F1 says 2/3
        ("the car", "car", 2 / 3),  # articles count: the official F1 says 1
        ("cars", "car", 0.0),  # no stems: the official F1 says 1
        ("(blue)", "blue", 0.0),  # brackets stay on the word
        ("blue-green", "blue green", 0.0),
        ("", "blue", 0.0),
        ("blue", "", 0.0),
        ("!?", "blue", 0.0),
    ],
)
def test_mem0(answer: str, gold: str, score: float) -> None:
    assert mem0_f1(answer, gold) == pytest.approx(score)


@pytest.mark.parametrize(
    ("answer", "gold", "score"),
    [
        ("Blue car", "blue car", 1.0),
        ("two two", "two", 1.0),
        ("red.", "blue.", 0.5),  # the full stop is a token that both have
        ("blue-green", "blue green", 0.0),
        ("can't", "ca n't", 1.0),
        ("", "blue", 0.0),
        ("blue", " ", 0.0),
    ],
)
def test_memos(answer: str, gold: str, score: float) -> None:
    assert memos_f1(answer, gold) == pytest.approx(score)


def test_three_f1s_of_one_answer_differ() -> None:
    answer, gold = "The cars, the boats.", "Cars and the boat."
    assert locomo_f1(answer, gold, 4) == pytest.approx(1.0)  # car boat | car boat
    assert mem0_f1(answer, gold) == pytest.approx(4 / 7)  # the cars boats | cars and the boat
    assert memos_f1(answer, gold) == pytest.approx(0.6)  # the cars , boats . | cars and the boat .
