"""BLEU-1 by hand."""

from math import exp

import pytest

from eval.metrics.bleu1 import bleu1


@pytest.mark.parametrize(
    ("answer", "gold", "score"),
    [
        ("blue car", "Blue car", 1.0),
        ("blue car", "blue bike", 0.5),
        ("blue", "blue old car", exp(-2)),  # precision 1, r/c = 3: 1 - 3
        ("a blue old car", "blue car", 0.5),  # longer than the gold: no penalty
        ("the the the", "the cat sat", 1 / 3),  # clipped: "the" counts once
        ("it is blue.", "blue.", 0.5),  # the full stop is a token
        ("red", "blue", 0.0),
        ("", "blue", 0.0),
        ("blue", "", 0.0),
        (" ", "blue", 0.0),
    ],
)
def test_bleu1(answer: str, gold: str, score: float) -> None:
    assert bleu1(answer, gold) == pytest.approx(score)


def test_it_is_not_symmetric() -> None:
    assert bleu1("blue car", "blue") == 0.5
    assert bleu1("blue", "blue car") == pytest.approx(exp(-1))
