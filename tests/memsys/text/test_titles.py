from __future__ import annotations

import pytest

from memsys.text.titles import title_of


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Thanks! I signed up for a pottery class yesterday.", "pottery class"),
        ('We watched "The Long Way Home" at the Lantern cinema.', "The Long Way Home"),
        ("It was Ada Brook, a clockmaker.", "Ada Brook"),
        ("Anything on hand?", "hand"),
        ("She keeps unusually beautiful antique porcelain dolls.", "antique porcelain dolls"),
        ("Tomorrow's the market, how've you been?", "market"),
        ("It was great, thanks! Anyway, how's everything?", ""),
        ("", ""),
        ("...", ""),
        ("用户喜欢吃辣的食物，特别是川菜和火锅", "用户喜欢吃辣"),
        ("我对海鲜过敏", "海鲜过敏"),
        ("昨天看了《星际穿越》，很震撼", "星际穿越"),
        ("我上周吃了麻辣烫", "麻辣烫"),
    ],
)
def test_the_most_telling_words_are_the_title(text: str, title: str) -> None:
    assert title_of(text) == title


def test_of_two_equal_phrases_the_first_counts() -> None:
    assert title_of("a ladder and a hammer") == "ladder"


def test_names_of_speakers_are_no_title() -> None:
    text = "Is that Mara Lindqvist's kiln, Theo?"
    assert title_of(text) == "Mara Lindqvist's kiln"
    assert title_of(text, frozenset({"Mara Lindqvist", "Theo"})) == "kiln"


def test_a_title_is_short() -> None:
    words = title_of("granite lantern copper saffron meadow kettle").split()
    assert words == ["granite", "lantern", "copper"]
    assert len(title_of("一万二千三百四十五六七八九十")) == 8
