"""Phrases of a text: its title, and the conjuncts of a question."""

import pytest

from memsys.core.titles import title_of
from memsys.strategies.decompose import conjunction_of


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
        ("a ladder and a hammer", "ladder"),  # of two equal phrases the first
        ("granite lantern copper saffron meadow kettle", "granite lantern copper"),  # short
    ],
)
def test_the_most_telling_words_are_the_title(text, title):
    assert title_of(text) == title
    assert len(title_of("一万二千三百四十五六七八九十")) == 8
    asked = "Is that Mara Lindqvist's kiln, Theo?"  # names of speakers are no title
    assert title_of(asked) == "Mara Lindqvist's kiln"
    assert title_of(asked, frozenset({"Mara Lindqvist", "Theo"})) == "kiln"


@pytest.mark.parametrize(
    ("question", "conjuncts"),
    [
        ("What do Mara and Theo both like?", ("Mara", "Theo")),
        ("Which city have both Mara and Theo Lang seen?", ("Mara", "Theo Lang")),
        ("How do Ann, Bob, and Cy travel?", ("Ann", "Bob", "Cy")),
        ("How do Ann, Bob & Cy travel?", ("Ann", "Bob", "Cy")),
        ("Who is Mara and Theo's favourite potter?", ("Mara", "Theo's")),
        ("What did Mara and her aunt make?", ("Mara", "her aunt")),
        ("Does Theo live near the sea or the hills?", ("the sea", "the hills")),
        ("Where was Theo between June 3 and June 9 2024?", ("June 3", "June 9 2024")),
        ('Who read "Up and Down" and "Far"?', ('"Up and Down"', '"Far"')),
        ("王芳和李明都喜欢什么？", ("王芳", "李明")),
        ("苹果、香蕉和梨子的价格是多少？", ("苹果", "香蕉", "梨子")),
        # What joins no phrases is whole.
        ("", None),
        ("and", None),
        ("What did Mara make and", None),
        ("Where did Mara sell a bowl?", None),
        ('Who read "Salt and Pepper"?', None),
        ("他喜欢《战争与和平》吗？", None),
        ("What is it and what was it?", None),
        ("天气暖和吗？", None),
    ],
)
def test_conjuncts_are_found(question, conjuncts):
    found = conjunction_of(question)
    assert (found.conjuncts if found else None) == conjuncts


def test_each_conjunct_gets_the_rest_of_the_question():
    found = conjunction_of("What do both Mara and Theo's aunt like in May?")
    assert found is not None
    assert found.whole == "Mara and Theo's"
    names = {"王芳和李明都喜欢什么？": True, "What did Mara and her aunt make?": False}
    for question, are_names in (names | {"Who sells bowls and mugs?": False}).items():
        assert conjunction_of(question).are_names is are_names
    assert found.are_names
    assert found.questions == ("What do Mara aunt like in May?", "What do Theo's aunt like in May?")
