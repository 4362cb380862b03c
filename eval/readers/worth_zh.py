"""What each character of a Chinese sentence is worth to an answer.

As `eval.readers.worth`, by characters: no word list is needed, for function characters, small talk
and the question's own bigrams show where an answer begins and ends.
"""

from __future__ import annotations

import re

from eval.readers.question import Asked, Kind

TOKEN = re.compile(r"[A-Za-z0-9]+(?:[.-][A-Za-z0-9]+)*|\S")

NEW = 0.5
COST = 0.1
ASKED = -0.15  # a character of the question
LIGHT = -0.25  # a function character
AFTER = 0.95
BEFORE = 0.93
FLOOR = 0.3
ALONE = 0.45
TYPED = 0.5
PAUSE = -0.15  # the comma of a list
HARD = -3.0
_PUNCTUATION = re.compile(r"[^\w\s]|_")
_LIGHT = frozenset(
    "的了是在和有吗呢吧啊呀哦嗯也都就还又很我你他她它们这那个么着过给把被让跟去来到说要会能可上下得地叫只全才再并而与"
)
_TALK = re.compile(
    "真的|哈哈+|觉得|其实|不过|但是|所以|然后|结果|居然|终于|已经|刚刚|刚才|今天|昨天|明天|前天|后来|现在|那天|"
    "当然|可能|应该|一直|特别|非常|有点|一下|一起|知道|时候|恭喜|谢谢|加油|太好|厉害|开心|高兴|喜欢|没有|"
    "不是|就是|还是|只是|自己|我们|你们|他们|什么|怎么|因为|如果|虽然|第一|上[周个]|下[周个]|去年|今年|明年"
)
_PLACED = re.compile(r"(?:在|去|到|从|回|往|住)(?P<place>[^\W\d_]{2,4})")
_COUNTED = re.compile(r"[\d一二两三四五六七八九十百千万半]+[^\W\d_]?")


def _near(matched: list[bool]) -> list[float]:
    if not any(matched):
        return [ALONE] * len(matched)
    near = [FLOOR] * len(matched)
    for order, keep in ((range(len(matched)), AFTER), (reversed(range(len(matched))), BEFORE)):
        last = 0.0
        for i in order:
            last = 1.0 if matched[i] else last * keep
            near[i] = max(near[i], last)
    return near


def _marked(pattern: re.Pattern[str], text: str, group: int | str = 0) -> set[int]:
    return {i for m in pattern.finditer(text) for i in range(m.start(group), m.end(group))}


def worths_zh(asked: Asked, text: str, places: list[re.Match[str]]) -> list[float]:
    """A worth for each match of `TOKEN` in `text`."""
    talk = _marked(_TALK, text)
    typed: set[int] = set()
    if asked.kind is Kind.WHERE:
        typed = _marked(_PLACED, text, "place")
    elif asked.kind is Kind.COUNT:
        typed = _marked(_COUNTED, text)
    starts = [m.start() for m in places]
    matched = [any(text[max(0, i - k) : i - k + 2] in asked.roots for k in (0, 1)) for i in starts]
    near = _near(matched)
    found = []
    for m, hit, nearness in zip(places, matched, near, strict=True):
        at, piece = m.start(), m[0]
        if _PUNCTUATION.fullmatch(piece):
            found.append(PAUSE if piece in "、“”「」《》‘’" else HARD)
        elif hit:
            found.append(ASKED)
        elif piece in _LIGHT or at in talk:
            found.append(LIGHT)
        else:
            found.append(NEW * (nearness + TYPED * (at in typed)) - COST)
    return found
