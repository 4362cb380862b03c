"""What a question asks for and a text states, in English and Chinese."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memsys.fusion import cues

ROLES = ("user", "assistant")
FRIENDS = ("Mara Lind", "Theo")


@pytest.mark.parametrize(
    ("cue", "yes", "no"),
    [
        (
            cues.is_question,
            [
                "Where is it",
                "where's it?",
                "Tell me of it",
                "It is?",
                "你喜欢什么",
                "他来了吗",
                "؟",
            ],
            ["My knee hurts again.", "I wonder", "", "膝盖又疼了。"],
        ),
        (
            cues.asks_time,
            [
                "When did it end?",
                "In what year was it?",
                "How long was it?",
                "他什么时候来?",
                "几月几号",
            ],
            ["Whenever did end it", "Where was it when it ended?", "他在哪里?", ""],
        ),
        (
            cues.asks_count,
            ["How many are there?", "how often", "How old is she?", "有多少只?", "他去了几次?"],
            ["How is she?", "Where?", "他怎么样?", ""],
        ),
        (
            cues.states_time,
            ["I came last Friday", "two weeks ago", "in May", "just now", "我昨天来", "三个月前"],
            ["I may come", "The lastly named", "我喜欢茶", ""],
        ),
        (
            cues.states_count,
            ["I have 3", "two of them", "a dozen", "我有三只猫", "去了两次"],
            ["I have often", "none", "我有猫", ""],
        ),
        (
            cues.ends_as_question,
            ["Is it? ", "真的吗？", "It is. Is it?\n"],
            ["Is it? It is.", "", "它是。"],
        ),
    ],
)
def test_cues(cue: Callable[[str], bool], yes: list[str], no: list[str]) -> None:
    assert [text for text in yes if not cue(text)] == []
    assert [text for text in no if cue(text)] == []


@pytest.mark.parametrize(
    ("question", "speakers", "named"),
    [
        ("What did Mara's kiln do?", FRIENDS, "Mara Lind"),
        ("what did mara buy?", FRIENDS, "Mara Lind"),
        ("What did Lind buy?", FRIENDS, None),
        ("What did Tamara buy?", FRIENDS, None),
        ("What did Mara give Theo?", FRIENDS, None),
        ("What did she buy?", FRIENDS, None),
        ("What did Mara buy?", ("Mara", "Mara"), "Mara"),
        ("What did J. buy?", ("J. Doe", "Theo"), "J. Doe"),
        ("李雷买了什么?", ("李雷", "韩梅梅"), "李雷"),
        ("李雷给了韩梅梅什么?", ("李雷", "韩梅梅"), None),
        ("Where did I buy it?", ROLES, "user"),
        ("Where did you buy it?", ROLES, "assistant"),
        ("Where did I tell you to buy it?", ROLES, None),
        ("Where is it?", ROLES, None),
        ("我在哪里买的?", ROLES, "user"),
        ("你推荐了什么?", ROLES, "assistant"),
        ("What do you say?", ("user",), None),
        ("What did I say?", (), None),
        ("What did I say?", FRIENDS, None),
        ("What of it?", ("",), None),
    ],
)
def test_the_speaker_named(question: str, speakers: tuple[str, ...], named: str | None) -> None:
    assert cues.named_speaker(question, speakers) == named
