"""Resolution of relative dates (English and Chinese) against the day on which they were said."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta

from memsys.core.dates import (
    MONTHS,
    WEEKDAYS,
    real_date,
    shift_month,
    week_of,
    weekday_after,
    weekday_before,
)
from memsys.core.numbers import CARDINALS, CHINESE_DIGITS

_WORDS = {**CARDINALS, **CHINESE_DIGITS, "十": 10, "a": 1, "an": 1}
_NUMBERS = {word: number for word, number in _WORDS.items() if 1 <= number <= 10}
_ISO = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[T ].*)?)?)?")
_WRITTEN = re.compile(r"(\d{1,2}) ([a-z]+) (\d{4})(?:,.*)?")  # session times in contexts
_SPAN = re.compile(r"(\d{4}-\d{2}-\d{2})/(\d{4}-\d{2}-\d{2})")
_DAY = {
    **dict.fromkeys(("today", "tonight", "this morning", "this evening", "今天", "今晚"), 0),
    **dict.fromkeys(("yesterday", "last night", "昨天", "昨晚"), -1),
    **dict.fromkeys(("the day before yesterday", "前天"), -2),
    **dict.fromkeys(("tomorrow", "明天"), 1),
    **dict.fromkeys(("the day after tomorrow", "后天"), 2),
}
_NEAR = {
    **dict.fromkeys(("last", "previous", "上", "上个", "去"), -1),
    **dict.fromkeys(("this", "这", "这个", "本", "今"), 0),
    **dict.fromkeys(("next", "下", "下个", "明"), 1),
}
_UNITS = {
    **dict.fromkeys(("day", "天"), "day"),
    **dict.fromkeys(("week", "周", "星期"), "week"),
    **dict.fromkeys(("month", "月"), "month"),
    **dict.fromkeys(("year", "年"), "year"),
}
_UNIT = "|".join(_UNITS)
_MANY = rf"(\d+|[a-z]+|[一-龥]) ?个?({_UNIT})s?"
_AGO = re.compile(rf"{_MANY} ?(?:ago|前)")
_IN = re.compile(rf"in {_MANY}")
_FROM_NOW = re.compile(rf"{_MANY} ?(?:from now|后)")
_BESIDE = re.compile(rf"(?:the )?({'|'.join(sorted(_NEAR, key=len, reverse=True))}) ?({_UNIT})")
_WEEKDAY = re.compile(rf"(last|next|this) ({'|'.join(WEEKDAYS)})")


def resolve(words: str, said: date) -> str | None:
    """Return `words` as a date in ISO 8601: a year, a month, a day, or the span of days of a week.

    ISO dates are validated and returned. Relative words are resolved from the day `said`: "last
    Friday" is the latest one before that day, "next Friday" the first after it. None is returned if
    the words name no definite date.
    """
    text = " ".join(words.casefold().split()).strip(" .,。")
    if iso := iso_date(text.upper()):
        return iso
    if match := _WRITTEN.fullmatch(text):
        return _written(*match.groups())
    if text in _DAY:
        return (said + timedelta(_DAY[text])).isoformat()
    steps: list[tuple[re.Pattern[str], Callable[[re.Match[str]], str | None]]] = [
        (_AGO, lambda m: _moved(said, m[2], _number(m[1]), -1)),
        (_BESIDE, lambda m: _moved(said, m[2], abs(_NEAR[m[1]]), _NEAR[m[1]] or 1)),
        (_WEEKDAY, lambda m: _weekday(said, m[1], WEEKDAYS.index(m[2]))),
        (_IN, lambda m: _moved(said, m[2], _number(m[1]), 1)),
        (_FROM_NOW, lambda m: _moved(said, m[2], _number(m[1]), 1)),
    ]
    for pattern, resolved in steps:
        if match := pattern.fullmatch(text):
            try:
                return resolved(match)
            except (OverflowError, ValueError):  # beyond the years 1 to 9999
                return None
    return None


def iso_date(text: str) -> str | None:
    """Return the date `text` of ISO 8601 (a year, a month, a day, or a span of two) without a time
    of day; None if it is no date that exists.
    """
    if span := _SPAN.fullmatch(text):
        first, last = (iso_date(part) for part in span.groups())
        return text if first and last and first <= last else None
    match = _ISO.fullmatch(text)
    if match is None:
        return None
    year, month, day = match.groups()
    if real_date(int(year), int(month or 1), int(day or 1)) is None:
        return None
    return "-".join(part for part in (year, month, day) if part)


def _written(day: str, month: str, year: str) -> str | None:
    name = month.capitalize()
    return (
        iso_date(f"{year}-{MONTHS.index(name) + 1:02d}-{int(day):02d}") if name in MONTHS else None
    )


def _number(word: str) -> int | None:
    return int(word) if word.isdecimal() else _NUMBERS.get(word)


def _moved(said: date, unit: str, number: int | None, sign: int) -> str | None:
    """Return the date `number` units away, as precise as the unit: months give a month."""
    if number is None:
        return None
    step = sign * number
    match _UNITS[unit]:
        case "day":
            return (said + timedelta(step)).isoformat()
        case "week":
            monday = week_of(said) + timedelta(weeks=step)
            return f"{monday.isoformat()}/{(monday + timedelta(6)).isoformat()}"
        case "month":
            return shift_month(said, step).isoformat()[:7]
    return date(said.year + step, 1, 1).isoformat()[:4]


def _weekday(said: date, near: str, weekday: int) -> str:
    if near == "this":
        return (week_of(said) + timedelta(weekday)).isoformat()
    day = weekday_before(said, weekday) if near == "last" else weekday_after(said, weekday)
    return day.isoformat()
