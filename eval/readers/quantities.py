"""Answers to "how long", "how many" and "how often": the quantity that the evidence holds."""

from __future__ import annotations

import re
from collections.abc import Sequence

from eval.readers.evidence import Found, said_on
from eval.readers.morphology import root
from eval.readers.numbers import COUNT, ZH_COUNT, spell
from eval.readers.question import Asked

_LENGTH = re.compile(
    r"\b(?:about |around |almost |nearly |over |under |just under )?"
    rf"(?:\d+\s?[-–]\s?\d+|(?:for (?=an? ))?(?!an? (?!few|couple|dozen)){COUNT}|(?<=for )an?)"
    r"[\s-]+(?:more\s+)?(?:second|minute|hour|day|night|week|month|year|decade)s?\b(?P<ago>\s+ago)?",
    re.IGNORECASE,
)
_LENGTH_ZH = re.compile(rf"{ZH_COUNT}个?半?多?(?:分钟|小时|钟头|天|周|星期|月|年)(?:半|多)?")
_OFTEN = re.compile(
    r"\b(?:at least |about |around |usually |only )?"
    r"(?:(?:once|twice|thrice)(?: or twice)?|(?:\w+ or )?[\w-]+ times|an? (?:few|couple of) times)"
    r" (?:an?|per|each|every) (?:day|week|month|year|season|night|weekend)\b"
    r"|\b(?:almost )?every (?:other |single |few )?(?:day|week|month|year|morning|evening|night|"
    r"weekend|mon|tues|wednes|thurs|fri|satur|sun)\w*|\b(?:daily|weekly|monthly|yearly|annually)\b",
    re.IGNORECASE,
)
_OFTEN_ZH = re.compile(
    rf"每(?:隔)?{ZH_COUNT}?个?(?:天|周|星期|月|年|晚|早上?|周末)(?:{ZH_COUNT}次)?|经常|偶尔"
)
_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
).split()
_NUMBER = rf"(?P<count>\d[\d,]*|(?!an?\b|few|several|couple|half|some){COUNT}|both|once|twice)"
_BARE = re.compile(rf"\b{_NUMBER}\b", re.IGNORECASE)
_NUMBER_ZH = r"(?P<count>\d[\d.]*|[一二两三四五六七八九十百千万]+)"
# Measure words that make a number in the text a quantity and not part of a name.
_MEASURE_ZH = "[个只条次本张件名位岁家种块元斤两公里米层扇盏把封页首遍成倍罐杯碗壶句毛分半]"
_MONEY_ZH = re.compile(
    r"(?:\d[\d.]*|[一二两三四五六七八九十百千万]+)(?:块|元)|[一二两三四五六七八九]+[百千万]\w?(?=[，。！？、]|$)"
)
_ALIKE = 0.7  # a memory tells of the same thing if its sentence covers this share of the best's


def how_long(asked: Asked, found: Sequence[Found], reach: int) -> str | None:
    """The length of time in the best of `reach` sentences that hold one, or None."""
    pattern = _LENGTH_ZH if asked.chinese else _LENGTH
    for item in found[:reach]:
        if item.sentence.asks or item.sentence.caption:
            continue
        m = pattern.search(item.sentence.text)
        if m:
            text = m[0].removeprefix("for ")
            if not asked.chinese and m["ago"] and "long ago" not in asked.text.lower():
                text = text[: -len(m["ago"])]
            return text
    return None


def how_often(asked: Asked, found: Sequence[Found], reach: int) -> str | None:
    """The frequency in the best of `reach` sentences that hold one, or None."""
    pattern = _OFTEN_ZH if asked.chinese else _OFTEN
    for item in found[:reach]:
        m = pattern.search(item.sentence.text)
        if m:
            return m[0]
    return None


def how_many(asked: Asked, found: Sequence[Found], reach: int) -> str | None:
    """A number: one said of the thing counted, or the highest ordinal, or how often it is told.

    "How many times" and things never counted aloud are counted by the days on which a sentence
    tells of them about as well as the best one does.
    """
    near = [item for item in found[: 4 * reach] if not item.sentence.asks]
    if asked.chinese:
        return _how_many_zh(asked, near[:reach])
    unit = root(asked.unit.split()[-1]) if asked.unit else ""
    if unit and unit != root("times"):
        for item in near[:reach]:
            for m in _BARE.finditer(item.sentence.text):
                after = re.findall(r"[\w']+", item.sentence.text[m.end() :])[:3]
                if unit in (root(word.lower()) for word in after):
                    return m["count"]
    ordinals = [
        _ORDINALS.index(m[0].lower()) + 1
        for item in near[:reach]
        for m in re.finditer(r"\b(?:" + "|".join(_ORDINALS[1:]) + r")\b", item.sentence.text, re.I)
        if item.cover >= _ALIKE * found[0].cover
    ]
    if ordinals:
        return spell(max(ordinals))
    best = max((item.cover for item in near), default=0.0)
    days = {said_on(item.memory) for item in near if item.cover >= max(_ALIKE * best, 0.3)}
    return spell(len(days)) if days else None


def _how_many_zh(asked: Asked, near: Sequence[Found]) -> str | None:
    """The number said with the measure word asked for, or else with any measure word."""
    wanted = re.escape(asked.unit[:1]) if "几" in asked.text else ""
    pattern = re.compile(_NUMBER_ZH + (wanted or _MEASURE_ZH))
    if "多少钱" in asked.text:
        pattern = _MONEY_ZH
    for item in near:
        for m in pattern.finditer(item.sentence.text):
            if m[0] not in ("一个", "一次", "一") and item.cover > 0:
                return m[0]
    return None
