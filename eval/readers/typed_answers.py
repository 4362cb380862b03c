"""Answers of a given type: dates, durations, frequencies, counts, yes or no, and choices.

Each function receives the parsed question and the sentences that bear on it, best first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from eval.readers.evidence import ScoredSentence, dates_in
from eval.readers.parsing import ParsedQuestion, root, roots
from memsys.core.dates import coarsen, on_day
from memsys.core.numbers import CHINESE_COUNT, COUNT, ORDINALS, spell
from memsys.core.yaml_text import load_table

_TABLE = load_table(
    Path(__file__).parent / "answers.yaml", COUNT=COUNT, CHINESE_COUNT=CHINESE_COUNT
)
_START, _LENGTH, _OFTEN, _BARE, _NOT, _OR = (
    re.compile(_TABLE[name], re.IGNORECASE)
    for name in ("start", "length", "often", "bare", "not", "or")
)
_LENGTH_ZH, _OFTEN_ZH, _MONEY_ZH, _OR_ZH = (
    re.compile(_TABLE[name]) for name in ("length_zh", "often_zh", "money_zh", "or_zh")
)
_WORD = re.compile(r"[\w']+")
_ALIKE = 0.7  # a sentence is about the same thing if it covers this share of the best one's


def when(question: ParsedQuestion, sentences: Sequence[ScoredSentence], reach: int) -> str:
    """Return the date of the event asked for, worded as in `memsys.core.dates`.

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
            on_day(top.memory.time.date(), question.chinese), question.unit, question.chinese
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
        if m := pattern.search(item.sentence.text):
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
    found = (m[0] for item in sentences[:reach] if (m := pattern.search(item.sentence.text)))
    return next(found, None)


def how_many(
    question: ParsedQuestion, sentences: Sequence[ScoredSentence], reach: int
) -> str | None:
    """Return the number before the noun in the question, else the highest ordinal, else a count of
    days.

    "How many times", and things without a number in the text, are counted by the days on which a
    sentence covers the question about as well as the best one does. The result is None if nothing
    can be counted.
    """
    near = [item for item in sentences[: 4 * reach] if not item.sentence.asks]
    if question.chinese:
        return _how_many_zh(question, near[:reach])
    unit = root(question.unit.split()[-1]) if question.unit else ""
    if unit and unit != root("times"):
        for item in near[:reach]:
            for m in _BARE.finditer(item.sentence.text):
                after = islice(_WORD.finditer(item.sentence.text, m.end()), 3)
                if unit in (root(word[0].lower()) for word in after):
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
    days = {item.memory.time.date() for item in near if item.cover >= max(_ALIKE * best, 0.3)}
    return spell(len(days)) if days else None


def _how_many_zh(question: ParsedQuestion, near: Sequence[ScoredSentence]) -> str | None:
    """Return the number before the measure word asked for, or else before any measure word."""
    wanted = re.escape(question.unit[:1]) if "几" in question.text else ""
    pattern = re.compile(_TABLE["number_zh"] + (wanted or _TABLE["measure_zh"]))
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
