"""Entities of a text, their numbers, and how closely they are associated."""

import re
from collections.abc import Sequence
from math import exp, log2

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from memsys.graph.build import associations, concentrations
from memsys.graph.entities import EntityKind, NumberedKeys, entities_in, names_of


def entities(
    text: str, speakers: Sequence[str] = (), others: Sequence[str] = ()
) -> dict[str, EntityKind]:
    keys = NumberedKeys({text, *others})
    ignored = frozenset(keys.number(name) for name in names_of(frozenset(speakers)))
    found = entities_in(text, ignored, keys)
    return dict(zip(keys.texts(list(found)), found.values(), strict=True))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "We drove to Stone Harbour.",
            {"drove": "keyword", "stone": "name", "harbour": "name", "stone harbour": "name"},
        ),
        # A capital at the start of a sentence tells nothing.
        ("Harbour! Harbour? Harbour.", {"harbour": "keyword"}),
        ("Tea.\nHarbour\nBread", {"tea": "keyword", "harbour": "keyword", "bread": "keyword"}),
        # but within one it makes a name of a word that was none
        ("harbour at Harbour", {"harbour": "name"}),
        ("Harbour at harbour", {"harbour": "keyword"}),
        # Stopwords, marks and numbers part phrases.
        ("red bowl", {"red": "keyword", "bowl": "keyword", "red bowl": "phrase"}),
        ("red, bowl", {"red": "keyword", "bowl": "keyword"}),
        ("red in bowl", {"red": "keyword", "bowl": "keyword"}),
        ("red 2023 bowl", {"red": "keyword", "bowl": "keyword"}),
        (
            "blue red bowls",
            {"blue": "keyword", "red": "keyword", "bowl": "keyword"}
            | {"blue red": "phrase", "red bowl": "phrase"},
        ),
        ("ox 12 is", {}),  # too short, a number, a stopword
        ("Thanks, sounds good! See you tomorrow", {}),  # small talk
        ("a good bowl went red", {"bowl": "keyword", "red": "keyword"}),
        ("red s's bowl", {"red": "keyword", "bowl": "keyword"}),  # what is without a stem
        ("", {}),
        ("...", {}),
    ],
)
def test_names_phrases_and_keywords(text, expected):
    assert entities(text) == expected


@pytest.mark.parametrize("marks", ['""', "“”", "「」", "『』", "《》"])
def test_a_quoted_phrase_is_a_name(marks):
    found = entities(f"She read {marks[0]}the long tides{marks[1]} and long tide tables")
    assert found["long tide"] == "name"  # by stems, without stopwords, said again or not
    assert found["tide tabl"] == "phrase"


FOOD = (
    "用户喜欢吃辣的食物，特别是川菜和火锅",
    "用户昨天吃了火锅",
    "麻婆豆腐属于川菜",
    "想吃麻婆豆腐",
)
TUNNEL = "盾构机停了", "他修盾构机", "发朋友圈", "看朋友圈"
FILMS = "用户喜欢科幻电影", "《星际穿越》是科幻电影", "《流浪地球》是科幻电影", "用户周末看电影"
TOLD = "我在德克萨斯大学奥斯汀分校读书", "他去过德克萨斯大学奥斯汀分校"
SAID = "今天天气非常好明天继续爬山带面包和茶"


@pytest.mark.parametrize(
    ("text", "others", "expected"),
    [
        # The longest n-grams that recur, in their order
        (FOOD[0], FOOD, "用户 川菜 火锅"),
        (FOOD[2], FOOD, "麻婆豆腐 川菜"),
        (TUNNEL[1], TUNNEL, "盾构机"),
        (TUNNEL[2], TUNNEL, "朋友圈"),
        # A part that recurs elsewhere is an entity of its own.
        (FILMS[1], FILMS, "星际穿越 科幻电影 电影"),
        (FILMS[2], FILMS, "流浪地球 科幻电影 电影"),
        # A long name is one, and a sentence that recurs is none.
        (TOLD[0], TOLD, "德克萨斯大学奥斯汀分校"),
        (SAID, [f"{SAID}叶", "爬山去"], "爬山"),
        # Function characters and other scripts part n-grams.
        ("他们的，了吗", ["他们的，了吗"], ""),
        ("我对海鲜过敏", ["谁海鲜也过敏"], "海鲜 过敏"),
        ("用camera拍照", ["拍照"], "camera 拍照"),
        # What is quoted is one name.
        ("常读《三体》，《活着》", [], "三体 活着"),
        ("「茶馆里的猫」", [], "茶馆里的猫"),
    ],
)
def test_chinese_entities(text, others, expected):
    found = entities(text, others=others)
    assert sorted(found) == sorted(expected.split())
    named = {key for key, kind in found.items() if kind == "name"}
    assert named == {key for key in found if re.search(f"[《「]{key}[》」]", text)}


def test_speakers_are_left_out_in_every_form():
    text = 'Mara: Thanks, Vale! Mara\'s kiln. "Mara" and “Theo Vale” met Theo’s aunt'
    assert set(entities(text, ["Mara", "Theo Vale"])) == {"kiln", "met", "aunt"}
    assert {"mara", "vale", "theo"} <= set(entities(text))
    assert "red bowl" not in entities("red Mara bowl", ["Mara"])


def test_a_key_has_one_number_whatever_it_came_from():
    keys = NumberedKeys()
    quoted = keys.quoted("high tides")
    high, tide = keys["high"][0], keys["tides"][0]
    assert high is not None
    assert tide is not None
    assert quoted == keys.phrase(high, tide) == keys.number("high tide")
    assert keys.phrase(tide, high) != quoted
    assert len({high, tide, quoted, keys.number("one two three")}) == 4
    assert keys.quoted("of the") is None


@pytest.mark.parametrize(
    ("together", "one", "other", "n"),
    [(4, 5, 6, 100), (1, 9, 9, 50), (3, 3, 3, 10), (2, 2, 40, 41), (1, 40, 40, 90)],
)
def test_association_is_the_log_likelihood_ratio(together, one, other, n):
    table = [[together, one - together], [other - together, n - one - other + together]]
    known = chi2_contingency(table, correction=False, lambda_="log-likelihood").statistic
    found = associations(*(np.array([count]) for count in (together, one, other)), n)
    assert found == pytest.approx([known if together > one * other / n else 0.0])


def test_concentration_compares_sessions_with_those_expected():
    # Four sessions: entity 0 four times in the first, 1 once in each, 2 never
    entities, sessions = np.array([0, 0, 0, 0, 1, 1, 1, 1]), np.array([0, 0, 0, 0, 0, 1, 2, 3])
    expected = 4 * (1 - exp(-4 / 4))
    found = concentrations(entities, sessions, 3)
    assert found == pytest.approx([log2(expected / 1), log2(expected / 4), 0.0])
    assert concentrations(entities[:3], sessions[:3], 2).tolist() == [0.0, 0.0]  # one session
