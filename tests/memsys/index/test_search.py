from __future__ import annotations

import numpy as np
import pytest

from memsys.errors import InputError
from memsys.index.lexical import LexicalIndex
from memsys.index.rank import IndexSettings, check_start, convex, min_max, top
from memsys.index.vector import VectorIndex

SHORT = ("Pottery class", "The kiln broke", "A long walk by the sea", "Rain again", "Fresh bread")


def test_cosines_stand_in_the_order_of_the_rows() -> None:
    rows = np.array([[0, 1], [1, 0], [0.6, 0.8], [-1, 0]], dtype=np.float32)
    cosines = VectorIndex(rows).similarities(np.array([1, 0], dtype=np.float32))
    assert cosines == pytest.approx([0, 1, 0.6, -1])


def test_bm25_by_hand() -> None:
    scores = LexicalIndex(["kiln", "rain", "sea", "sun"], k1=0.9, b=0.4).scores("Kilns")
    # idf ln(3.5 / 1.5), once in a text of mean length: (k1 + 1) / (1 + k1) = 1
    assert scores == pytest.approx([np.log(3.5 / 1.5), 0, 0, 0])


def test_b_weighs_length() -> None:
    texts = ["kiln", "kiln rain sea sun", "bread", "walk", "tea"]
    short, long = LexicalIndex(texts, k1=0.9, b=0.0).scores("kiln")[:2]
    assert short == long > 0
    short, long = LexicalIndex(texts, k1=0.9, b=1.0).scores("kiln")[:2]
    assert short > long > 0


def test_bm25_finds_by_stem_and_not_by_stopword() -> None:
    index = LexicalIndex(SHORT, k1=0.9, b=0.4)
    assert list(np.nonzero(index.scores("Which potteries?"))[0]) == [0]
    assert not index.scores("Who was by the again?").any()
    assert not index.scores("").any()
    assert not index.scores("volcano").any()


def test_a_store_without_an_indexable_word() -> None:
    scores = LexicalIndex(["...", "so it is"], k1=0.9, b=0.4).scores("pottery")
    assert scores.tolist() == [0.0, 0.0]


def test_a_text_without_a_word_among_others() -> None:
    scores = LexicalIndex(["...", "fig", "tea", "sun"], k1=0.9, b=0.4).scores("fig")
    assert scores[1] > 0
    assert scores[[0, 2, 3]].tolist() == [0, 0, 0]


@pytest.mark.parametrize("texts", [["fig"], ["fig tree", "fig jam", "tea"], ["fig", "fig"]])
def test_a_word_that_most_texts_share_never_counts_against_a_text(texts: list[str]) -> None:
    assert LexicalIndex(texts, k1=0.9, b=0.4).scores("fig").min() >= 0


def test_min_max() -> None:
    assert min_max(np.array([2.0, 6.0, 4.0])).tolist() == [0, 1, 0.5]
    assert min_max(np.array([-3.0, -1.0])).tolist() == [0, 1]
    assert min_max(np.array([0.7, 0.7])).tolist() == [0, 0]
    assert min_max(np.array([5.0])).tolist() == [0]


def test_convex_weighs_vectors_by_alpha() -> None:
    vector, lexical = np.array([0.1, 0.3, 0.2]), np.array([9.0, 0.0, 0.0])
    assert convex(vector, lexical, 0.25) == pytest.approx([0.75, 0.25, 0.125])
    assert convex(vector, lexical, 1.0) == pytest.approx([0, 1, 0.5])
    assert convex(vector, lexical, 0.0) == pytest.approx([1, 0, 0])


def test_top_takes_the_older_of_equals() -> None:
    scores = np.array([0.2, 0.9, 0.2, 0.9])
    assert top(scores, 3) == [1, 3, 0]
    assert top(scores, None) == [1, 3, 0, 2]
    assert top(scores, 99) == [1, 3, 0, 2]


def test_settings_may_stand_on_their_bounds() -> None:
    IndexSettings(k1=0, b=0, alpha=0)
    IndexSettings(k1=5, b=1, alpha=1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alpha": 1.01}, "index.alpha: 1.01"),
        ({"alpha": -0.1}, "index.alpha: -0.1"),
        ({"alpha": float("nan")}, "index.alpha"),
        ({"k1": -1}, "k1=-1"),
        ({"b": 1.5}, "b=1.5"),
        ({"b": -0.5}, "b=-0.5"),
    ],
)
def test_settings_out_of_range_are_named(change: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        IndexSettings(**{"k1": 0.9, "b": 0.4, "alpha": 0.5, **change})


def test_an_unknown_start_is_refused_with_the_known_ones() -> None:
    for name in ("vector", "lexical", "hybrid"):
        check_start(name)
    with pytest.raises(InputError, match="'dense' is none of vector, lexical, hybrid"):
        check_start("dense")
