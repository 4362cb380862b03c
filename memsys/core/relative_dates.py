"""Words of a date (English and Chinese) as ISO 8601, resolved against the day of the utterance."""

from __future__ import annotations

import re
from datetime import date

from memsys.core.chinese_dates import dates_of
from memsys.core.dates import real_date
from memsys.core.terms import is_cjk

_ISO = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[T ].*)?)?)?")
_SPAN = re.compile(r"(\d{4}-\d{2}-\d{2})/(\d{4}-\d{2}-\d{2})")
_DIGITS = {"day": 10, "month": 7, "year": 4}  # of an ISO date, by its precision
_WEEK_DAYS = 7
_VAGUE = re.compile(r"\b(?:few|several|some)\b|几")
_BOUND = ("since ", "until ", "by ")  # before a year: what they name is no date
_SAME = {"this day": "today", "这天": "今天", "本年": "今年", "上年": "去年", "下年": "明年"}
_MONTHS = re.compile(r"(?<=[\d一二两三四五六七八九十])月(?=[前后]$)")  # 一月前 for 一个月前


def resolve(words: str, said: date) -> str | None:
    """Return `words` as a date in ISO 8601: a year, a month, a day, or the span of days of a week.

    ISO dates are validated and returned. Other words are resolved from the day `said` by the rules
    for dates in dialogue, except that what follows the year after a comma is left out: "last
    Friday" is the latest one before that day. None is returned if the words name no definite date.
    """
    text = " ".join(words.casefold().split()).strip(" .,。")
    if iso := iso_date(text.upper()):
        return iso
    text = re.sub(r"(\b\d{4}),.*", r"\1", text).removeprefix("the ")
    text = text.replace(" ", "") if is_cjk(text) else text
    text = _MONTHS.sub("个月", _SAME.get(text, text))
    mentions = dates_of(text, said)
    is_whole = len(mentions) == 1 and (mentions[0].start, mentions[0].end) == (0, len(text))
    if not is_whole or text.startswith(_BOUND):
        return None
    period = mentions[0].period
    first, last = period.first.isoformat(), period.last.isoformat()
    if period.precision == "week":
        is_definite = (period.last - period.first).days + 1 == _WEEK_DAYS
        return f"{first}/{last}" if is_definite and not _VAGUE.search(text) else None
    return first[: _DIGITS[period.precision]] if period.precision in _DIGITS else None


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
