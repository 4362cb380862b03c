from __future__ import annotations

import pytest

from memsys.text.terms import cjk_terms, is_cjk, stem, terms, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Two CATS ran, quickly!", ("two", "cats", "ran", "quickly")),
        ("Ann's dog isn't here", ("ann's", "dog", "isn't", "here")),
        ("Ann’s dogs' bowl", ("ann's", "dogs", "bowl")),  # a curly apostrophe is an apostrophe
        ("'quoted'", ("quoted",)),
        ("snake_case room 4b", ("snake", "case", "room", "4b")),
        ("用iPhone拍照", ("用", "iphone", "拍照")),
        ("Café Ünal", ("café", "ünal")),
        ("…!?", ()),
        ("", ()),
    ],
)
def test_words(text: str, expected: tuple[str, ...]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She is running to the stations", ("run", "station")),
        ("my sister's ponies", ("sister", "poni")),
        ("my sister’s ponies", ("sister", "poni")),
        ("What did they do there?", ()),
        ("don't, can’t and won't", ()),
        ("我喜欢爬山", ("我喜", "喜欢", "欢爬", "爬山")),
        ("用iPhone拍照", ("用", "iphon", "拍照")),
        ("", ()),
    ],
)
def test_terms_are_stems_and_bigrams_without_stopwords(
    text: str, expected: tuple[str, ...]
) -> None:
    assert terms(text) == expected


def test_terms_keep_repeats_and_order() -> None:
    assert terms("rain, sun, rain") == ("rain", "sun", "rain")


def test_a_possessive_is_the_word_itself() -> None:
    assert stem("mother's") == stem("mother") == stem("mothers")


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        ("猫", ["猫"]),
        ("的", []),  # a function character alone says nothing
        ("我们", []),  # nor do two
        ("我家", ["我家"]),  # with one content character it does
        ("是我的猫", ["的猫"]),
    ],
)
def test_chinese_bigrams(run: str, expected: list[str]) -> None:
    assert cjk_terms(run) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("", False), ("naïve", False), ("tea 茶", True), ("。", False)]
)
def test_is_cjk(text: str, expected: bool) -> None:
    assert is_cjk(text) is expected
