"""The strict F1 and what a gold text accepts: by hand, and what always holds."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.metrics.normalise import terms
from eval.metrics.published import locomo_f1, mem0_f1, memos_f1
from eval.metrics.strict_f1 import alternatives, strict_f1

WORDS = "red dog run cat paper river blue not never 3.5 12 北京 我 music ran".split()
BAGS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8)


@pytest.mark.parametrize(
    ("answer", "gold", "score"),
    [
        ("2023-05-07", "May 7th, 2023", 1.0),
        ("May 2023", "7 May 2023", 0.8),  # P 1, R 2/3
        ("7 May", "7 May 2023", 0.8),
        ("8 May 2023", "7 May 2023", 2 / 3),
        ("7 dogs", "7 May 2023", 0.0),
        ("she may", "May 2023", 0.0),
        ("three cats", "3 cats", 1.0),
        ("3.5", "3 5", 0.0),
        ("not married", "married", 2 / 3),
        ("She does not swim", "She swims", 2 / 3),  # she not swim does | she swim
        ("Ann's dogs", "the dog of Ann", 0.8),
        ("tea", "tea or coffee", 1.0),
        ("tea or coffee", "tea or coffee", 1.0),
        ("tea or coffee", "tea", 0.5),
        ("7 May or 8 May", "7 May 2023", 0.5),  # day7 month5 or day8 month5 | day7 month5 2023
        ("蓝色", "红色或者蓝色", 1.0),
        ("60 km", "60 km/h", 0.8),
        ("1 mile", "1.6 km", 0.0),  # no conversion of units
        ("", "tea", 0.0),
        ("tea", "", 0.0),
        ("", "", 0.0),
        ("?!", "?!", 0.0),
        ("A", "A", 1.0),
        ("I don't know", "I know", 0.0),  # declines
        ("Not mentioned", "Not mentioned", 1.0),  # as the gold does
    ],
)
def test_strict(answer, gold, score):
    assert strict_f1(answer, gold) == pytest.approx(score)


@pytest.mark.parametrize(
    ("answer", "gold", "published", "score"),
    [
        ("7 May 2023", "May 7, 2023", {"locomo": 0.65}, 1.0),
        ("red, blue, green", "red", {"locomo": 1.0}, 0.5),
        ("red/blue", "red, blue", {"locomo": 0.0}, 1.0),
        ("7 May", "May 7th", {"locomo": 0.5, "mem0": 0.5, "memos": 0.5}, 1.0),
        ("three", "3", {"locomo": 0.0, "mem0": 0.0, "memos": 0.0}, 1.0),
        ("我在北京", "北京", {"locomo": 0.0, "mem0": 0.0, "memos": 0.0}, 2 / 3),
        ("tea tea tea", "tea", {"mem0": 1.0, "memos": 1.0}, 0.5),
        ("cars", "car", {"mem0": 0.0, "memos": 0.0}, 1.0),
        ("the car", "car", {"mem0": 2 / 3, "memos": 2 / 3}, 1.0),
        ("blue (dark)", "dark blue", {"mem0": 0.5}, 1.0),
        ("Red.", "Blue.", {"memos": 0.5}, 0.0),
        ("No information is given", "No", {"locomo": 0.4, "mem0": 0.4, "memos": 0.4}, 0.0),
    ],
)
def test_each_difference_the_docstring_names(answer, gold, published, score):
    theirs = {
        "locomo": locomo_f1(answer, gold, 1),
        "mem0": mem0_f1(answer, gold),
        "memos": memos_f1(answer, gold),
    }
    assert {name: theirs[name] for name in published} == pytest.approx(published)
    assert strict_f1(answer, gold) == pytest.approx(score)


@settings(deadline=None)
@given(st.text(max_size=30), st.text(max_size=30))
def test_it_lies_between_0_and_1_and_equal_texts_score_1(answer, gold):
    assert 0 <= strict_f1(answer, gold) <= 1
    assert strict_f1(gold, gold) == pytest.approx(1.0 if terms(gold) else 0.0)


@given(BAGS, BAGS, st.randoms(use_true_random=False))
def test_without_alternatives_it_is_symmetric_and_blind_to_order(answer, gold, random):
    score = strict_f1(" ".join(answer), " ".join(gold))
    assert strict_f1(" ".join(gold), " ".join(answer)) == pytest.approx(score)
    random.shuffle(answer)
    assert strict_f1(" ".join(answer), " ".join(gold)) == pytest.approx(score)


@given(BAGS, BAGS)
def test_a_word_too_many_always_costs(answer, gold):
    before = strict_f1(" ".join(answer), " ".join(gold))
    after = strict_f1(" ".join([*answer, "elephant"]), " ".join(gold))
    assert after < before or after == before == 0


@given(BAGS, BAGS)
def test_an_alternative_in_the_gold_never_hurts(answer, gold):
    said, text = " ".join(answer), " ".join(gold[:3])
    assert strict_f1(said, f"{text} or zebra") >= strict_f1(said, text) - 1e-9


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
def test_alternatives(gold, others):
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
        *("", " ", "?!"),  # without terms
    ],
)
def test_no_alternatives(gold):
    assert len(alternatives(gold)) == (1 if terms(gold) else 0)
