"""What a gold text accepts, and what only looks like a choice."""

import pytest

from eval.metrics.alternatives import alternatives


@pytest.mark.parametrize(
    ("gold", "others"),
    [
        ("tea or coffee", "tea|coffee"),
        ("Either tea or coffee", "tea|coffee"),
        ("red, green, or blue", "red|green|blue"),
        ("TV / film", "tv|film"),
        ("cat/dog/bird", "cat|dog|bird"),
        ("canvas/paper bag", "canvas bag|paper bag"),
        ("red (or crimson)", "red|crimson"),
        ("the sea (or lake) in May", "the sea in month5|lake in month5"),
        ("7 or 8 May 2023", "day7 month5 2023|day8 month5 2023"),
        ("May 7 or 8, 2023", "month5 day7, 2023|month5 day8, 2023"),
        ("2022 or 2023", "2022|2023"),
        ("two or three times", "2 times|3 times"),
        ("7 May or 8 June", "day7 month5|day8 month6"),
        ("red; blue", "red|blue"),
        ("a park; she likes trees", "a park"),  # the rest is a reason
        ("Yes; trees are green", "yes"),
        ("红色或蓝色", "红色|蓝色"),
        ("红色、蓝色或者绿色", "红色|蓝色|绿色"),
        ("猫/狗", "猫|狗"),
    ],
)
def test_alternatives(gold: str, others: str) -> None:
    assert "|".join(alternatives(gold)[1:]) == others


@pytest.mark.parametrize(
    "gold",
    [
        "60 km/h",
        "24/7",
        "n/a",
        "AC/DC",
        "cats and/or dogs",
        "5/7/2023",
        "2023/05/07",
        "http://a.bc/de",
        "two or so",
        "more or less",
        "或许是猫",
        "tea or coffee and milk",  # what binds what is open
        "he would move to a house or a flat so that he has room to paint",  # a clause
        "yoga, long walks by the quiet river, sunsets or tea",
        "x or",
        "or",
    ],
)
def test_no_alternatives(gold: str) -> None:
    assert len(alternatives(gold)) == 1


@pytest.mark.parametrize("gold", ["", " ", "?!"])
def test_a_text_without_terms_has_none(gold: str) -> None:
    assert alternatives(gold) == ()
