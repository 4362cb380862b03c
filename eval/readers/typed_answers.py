"""Answers of a given type: dates, durations, frequencies, counts, yes or no, and choices.

Each function receives the parsed question and the sentences that bear on it, best first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from eval.readers.evidence import ScoredSentence, dates_in, said_on
from eval.readers.morphology import root, roots
from eval.readers.question import ParsedQuestion
from memsys.text.dates import coarsen, on_day
from memsys.text.numbers import CHINESE_COUNT, COUNT, ORDINALS, spell

_START = re.compile(r"\b(?:start|began|begin|get|got|adopt|first|since|become|join)", re.IGNORECASE)
_LENGTH = re.compile(
    r"\b(?:about |around |almost |nearly |over |under |just under )?"
    rf"(?:\d+\s?[-–]\s?\d+|(?:for (?=an? ))?(?!an? (?!few|couple|dozen)){COUNT}|(?<=for )an?)"
    r"[\s-]+(?:more\s+)?(?:second|minute|hour|day|night|week|month|year|decade)s?\b(?P<ago>\s+ago)?",
    re.IGNORECASE,
)
_LENGTH_ZH = re.compile(rf"{CHINESE_COUNT}个?半?多?(?:分钟|小时|钟头|天|周|星期|月|年)(?:半|多)?")
_OFTEN = re.compile(
    r"\b(?:at least |about |around |usually |only )?"
    r"(?:(?:once|twice|thrice)(?: or twice)?|(?:\w+ or )?[\w-]+ times|an? (?:few|couple of) times)"
    r" (?:an?|per|each|every) (?:day|week|month|year|season|night|weekend)\b"
    r"|\b(?:almost )?every (?:other |single |few )?(?:day|week|month|year|morning|evening|night|"
    r"weekend|mon|tues|wednes|thurs|fri|satur|sun)\w*|\b(?:daily|weekly|monthly|yearly|annually)\b",
    re.IGNORECASE,
)
_OFTEN_ZH = re.compile(
    rf"每(?:隔)?{CHINESE_COUNT}?个?(?:天|周|星期|月|年|晚|早上?|周末)(?:{CHINESE_COUNT}次)?|经常|偶尔"
)
_NUMBER = rf"(?P<count>\d[\d,]*|(?!an?\b|few|several|couple|half|some){COUNT}|both|once|twice)"
_BARE = re.compile(rf"\b{_NUMBER}\b", re.IGNORECASE)
_NUMBER_ZH = r"(?P<count>\d[\d.]*|[一二两三四五六七八九十百千万]+)"
# Measure words that make a number in the text a quantity and not part of a name.
_MEASURE_ZH = "[个只条次本张件名位岁家种块元斤两公里米层扇盏把封页首遍成倍罐杯碗壶句毛分半]"
_MONEY_ZH = re.compile(
    r"(?:\d[\d.]*|[一二两三四五六七八九十百千万]+)(?:块|元)|[一二两三四五六七八九]+[百千万]\w?(?=[，。！？、]|$)"
)
_ALIKE = 0.7  # a sentence is about the same thing if it covers this share of the best one's
_NOT = re.compile(
    r"\b(?:not|never|no|nobody|none|cannot|can't|isn't|wasn't|aren't|don't|doesn't|didn't|won't|"
    r"haven't|hasn't|wouldn't)\b|不|没|未",
    re.IGNORECASE,
)
_OR = re.compile(
    r"(?P<a>[\w'.-]+(?: [\w'.-]+){0,3}?),? or (?:an? |the )?(?P<b>[\w'.-]+(?: [\w'.-]+){0,3})", re.I
)
_OR_ZH = re.compile(
    r"(?:是|去|要|想|喜欢|选)?(?P<a>[^，。？,是]{1,8}?)[，,]?还是(?P<b>[^，。？,]{1,8})"
)


def when(question: ParsedQuestion, sentences: Sequence[ScoredSentence], reach: int) -> str:
    """Return the date of the event asked for, worded as in `memsys.text.dates`.

    Of the `reach` best sentences the one with the best score and a date wins; a sentence without
    one may borrow a date from its neighbours in the same memory. Where none mentions a time, the
    event is dated to the day of the session.
    """
    best: tuple[float, str] | None = None
    by_memory: dict[str, list[ScoredSentence]] = {}
    for item in sentences:
        by_memory.setdefault(item.memory.id, []).append(item)
    for item in sentences[:reach]:
        for other in by_memory[item.memory.id]:
            away = abs(other.position - item.position)
            for mention in dates_in(other.sentence, other.memory, question.chinese):
                score = item.score - 0.15 * away
                if mention.period.precision == "since" and not _START.search(question.text):
                    score -= 0.4
                if best is None or score > best[0]:
                    best = (score, coarsen(mention.period, question.unit, question.chinese))
    top = sentences[0]
    if best is None or best[0] < top.score - 0.5:
        return coarsen(
            on_day(said_on(top.memory), question.chinese), question.unit, question.chinese
        )
    return best[1]


def how_long(
    question: ParsedQuestion, sentences: Sequence[ScoredSentence], reach: int
) -> str | None:
    """Return the duration in the best of `reach` sentences that contain one, or None."""
    pattern = _LENGTH_ZH if question.chinese else _LENGTH
    for item in sentences[:reach]:
        if item.sentence.asks or item.sentence.caption:
            continue
        m = pattern.search(item.sentence.text)
        if m:
            text = m[0].removeprefix("for ")
            if not question.chinese and m["ago"] and "long ago" not in question.text.lower():
                text = text[: -len(m["ago"])]
            return text
    return None


def how_often(
    question: ParsedQuestion, sentences: Sequence[ScoredSentence], reach: int
) -> str | None:
    """Return the frequency in the best of `reach` sentences that contain one, or None."""
    pattern = _OFTEN_ZH if question.chinese else _OFTEN
    for item in sentences[:reach]:
        m = pattern.search(item.sentence.text)
        if m:
            return m[0]
    return None


def how_many(
    question: ParsedQuestion, sentences: Sequence[ScoredSentence], reach: int
) -> str | None:
    """Return the number before the noun asked for, else the highest ordinal, else a count of days.

    "How many times", and things without a number in the text, are counted by the days on which a
    sentence covers the question about as well as the best one does. None where there is none.
    """
    near = [item for item in sentences[: 4 * reach] if not item.sentence.asks]
    if question.chinese:
        return _how_many_zh(question, near[:reach])
    unit = root(question.unit.split()[-1]) if question.unit else ""
    if unit and unit != root("times"):
        for item in near[:reach]:
            for m in _BARE.finditer(item.sentence.text):
                after = re.findall(r"[\w']+", item.sentence.text[m.end() :])[:3]
                if unit in (root(word.lower()) for word in after):
                    return m["count"]
    ordinals = [
        ORDINALS.index(m[0].lower()) + 1
        for item in near[:reach]
        for m in re.finditer(r"\b(?:" + "|".join(ORDINALS[1:]) + r")\b", item.sentence.text, re.I)
        if item.cover >= _ALIKE * sentences[0].cover
    ]
    if ordinals:
        return spell(max(ordinals))
    best = max((item.cover for item in near), default=0.0)
    days = {said_on(item.memory) for item in near if item.cover >= max(_ALIKE * best, 0.3)}
    return spell(len(days)) if days else None


def _how_many_zh(question: ParsedQuestion, near: Sequence[ScoredSentence]) -> str | None:
    """Return the number before the measure word asked for, or else before any measure word."""
    wanted = re.escape(question.unit[:1]) if "几" in question.text else ""
    pattern = re.compile(_NUMBER_ZH + (wanted or _MEASURE_ZH))
    if "多少钱" in question.text:
        pattern = _MONEY_ZH
    for item in near:
        for m in pattern.finditer(item.sentence.text):
            if m[0] not in ("一个", "一次", "一") and item.cover > 0:
                return m[0]
    return None


def yes_no(question: ParsedQuestion, sentences: Sequence[ScoredSentence], enough: float) -> str:
    """Return yes or no, hedged where a likelihood is asked for, in the language of the question.

    Yes needs a sentence whose memory covers `enough` (0 to 1) of the question, without a negation.
    """
    top = max(sentences, key=lambda item: item.support)
    yes = top.support >= enough and not _NOT.search(top.sentence.text)
    if question.chinese:
        return ("可能会" if yes else "可能不会") if question.hedged else ("是" if yes else "不是")
    if question.hedged:
        return "Likely yes" if yes else "Likely no"
    return "Yes" if yes else "No"


def choice(question: ParsedQuestion, sentences: Sequence[ScoredSentence]) -> str | None:
    """Return the offered alternative with more evidence, the first on a tie; None without any."""
    m = (_OR_ZH if question.chinese else _OR).search(question.text)
    if m is None:
        return None
    a, b = m["a"], m["b"]
    only_a, only_b = roots(a) - roots(b), roots(b) - roots(a)
    score_a = sum(item.score * len(only_a & item.sentence.roots) for item in sentences)
    score_b = sum(item.score * len(only_b & item.sentence.roots) for item in sentences)
    words = a.split()
    short = a if question.chinese else " ".join(words[-max(1, len(b.split())) :])
    return b if score_b > score_a else short
