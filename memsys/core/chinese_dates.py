"""Chinese dates in dialogue, resolved against the day of the utterance, and dates of any language,
in dialogue and as ISO 8601.

Weeks run from Monday: 上周五 is the Friday of the week before, so it is one known day.
"""

import re
from dataclasses import replace
from datetime import date, timedelta
from functools import lru_cache

from memsys.core import dates
from memsys.core.english_dates import TABLE, find_dates
from memsys.core.numbers import chinese_value
from memsys.core.terms import is_cjk


def dates_of(text: str, anchor: date) -> tuple[dates.DateMention, ...]:
    """Return every date that `text`, said on the day `anchor`, mentions, in order of position."""
    return find_dates_zh(text, anchor) if is_cjk(text) else find_dates(text, anchor)


_WEEKDAYS = {char: number for number, char in enumerate("一二三四五六")} | {"日": 6, "天": 6}
_SEASONS = {"春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter"}
_WEEKS = {-2: "的前两周", -1: "的前一周", 0: "那一周", 1: "的后一周", 2: "的后两周"}
_YEARS = {"大前年": -3, "前年": -2, "去年": -1, "今年": 0, "本年": 0, "明年": 1, "后年": 2}
_UNITS = {"天": "day", "月": "month", "年": "year"}  # by the last character; others: week


def _year_of(m: re.Match[str], anchor: date) -> int | None:
    if m["year"]:
        return int(m["year"])
    return anchor.year + _YEARS[m["which"]] if m["which"] else None


def _month_day(m: re.Match[str], anchor: date) -> dates.Period | None:
    month = chinese_value(m["month"]) or 0
    if not 1 <= month <= 12:
        return None
    year = _year_of(m, anchor)
    if year is None:
        year = dates.nearest_year(anchor, month, 15)
    if not m["dom"]:
        return dates.in_month(date(year, month, 1), chinese=True)
    return dates.on_date(year, month, chinese_value(m["dom"]) or 0, chinese=True)


def _whole_year(m: re.Match[str], anchor: date) -> dates.Period | None:
    year = _year_of(m, anchor)
    return dates.in_year(year, chinese=True) if year else None


def _season(m: re.Match[str], anchor: date) -> dates.Period | None:
    year = _year_of(m, anchor) or anchor.year
    name = _SEASONS[m["season"]]
    if not m["year"] and not m["which"] and date(year, dates.SEASONS[name], 1) > anchor:
        year -= 1
    return dates.in_season(name, year, f"{year}年{m['season']}天")


def _steps(which: str) -> int:
    return which.count("下") - which.count("上")


def _weekday(m: re.Match[str], anchor: date) -> dates.Period:
    monday = dates.week_of(anchor) + timedelta(days=7 * _steps(m["which"] or ""))
    return dates.on_day(monday + timedelta(days=_WEEKDAYS[m["day"]]), chinese=True)


def _weekend(m: re.Match[str], anchor: date) -> dates.Period:
    steps = _steps(m["which"] or "")
    saturday = dates.week_of(anchor) + timedelta(days=5 + 7 * steps)
    text = f"{dates.write_day(saturday, chinese=True)}那个周末"
    return dates.days_from(saturday, 2, text)


def _week(m: re.Match[str], anchor: date) -> dates.Period:
    steps = _steps(m["which"])
    text = f"{dates.write_day(anchor, chinese=True)}{_WEEKS[steps]}"
    return dates.days_from(dates.week_of(anchor) + timedelta(days=7 * steps), 7, text)


def _month(m: re.Match[str], anchor: date) -> dates.Period | None:
    moved = dates.shift_month(anchor, _steps(m["which"]))
    if not m["dom"]:
        return dates.in_month(moved, chinese=True)
    return dates.on_date(moved.year, moved.month, chinese_value(m["dom"]) or 0, chinese=True)


def _counted(m: re.Match[str], anchor: date) -> dates.Period | None:
    sign = -1 if m["side"] in ("前", "以前", "之前") else 1
    n, unit = chinese_value(m["count"]), _UNITS.get(m["unit"][-1], "week")
    relative = f"{dates.write_day(anchor, chinese=True)}的{'前' if sign < 0 else '后'}"
    if m["count"] == "半":
        return dates.units_from(anchor, "month", 6 * sign, chinese=True) if unit == "year" else None
    if n is None:
        first = anchor + timedelta(days=dates.DAYS[unit] * (3 * sign - 1))
        return dates.days_from(first, 2 * dates.DAYS[unit], f"{relative}几{m['unit']}")
    if unit == "year" and n >= 150:
        return None
    if unit != "week":
        return dates.units_from(anchor, unit, sign * n, chinese=True)
    text = f"{relative}{m['count']}周"
    return dates.days_from(dates.week_of(anchor) + timedelta(days=7 * sign * n), 7, text)


def _since(m: re.Match[str], anchor: date) -> dates.Period | None:
    n, unit = chinese_value(m["count"]), _UNITS.get(m["unit"][-1], "week")
    if n is None or n > 150:
        return None
    period = dates.units_from(anchor, unit, -n, chinese=True)
    return replace(period, precision="since")


_RULES = dates.compiled(
    TABLE["chinese"],
    {
        rule.__name__.lstrip("_"): rule
        for rule in (
            *(_month_day, _season, _whole_year, _weekend, _weekday),
            *(_week, _month, _counted, _since),
        )
    },
    chinese=True,
)


@lru_cache(maxsize=32_768)
def find_dates_zh(text: str, anchor: date) -> tuple[dates.DateMention, ...]:
    """Return every date that a Chinese text mentions, resolved against `anchor`, in order."""
    return dates.find_mentions(text, text, _RULES, anchor)


_ISO = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[T ].*)?)?)?")
_SPAN = re.compile(r"(\d{4}-\d{2}-\d{2})/(\d{4}-\d{2}-\d{2})")
_DIGITS = {"day": 10, "month": 7, "year": 4}  # of an ISO date, by its precision
_WEEK_DAYS = 7
_VAGUE = re.compile(r"\b(?:few|several|some)\b|几")
_BOUND = ("since ", "until ", "by ")  # before a year: what they name is no date
_SAME = {"this day": "today", "这天": "今天", "本年": "今年", "上年": "去年", "下年": "明年"}
_MONTHS = re.compile(r"(?<=[\d一二两三四五六七八九十])月(?=[前后]$)")  # 一月前 for 一个月前


def resolve(words: str, anchor: date) -> str | None:
    """Return `words` as a date in ISO 8601: a year, a month, a day, or the span of days of a week.

    ISO dates are validated and returned. Other words are resolved from the day `anchor` by the
    rules for dates in dialogue, except that what follows the year after a comma is left out: "last
    Friday" is the latest one before that day. None is returned if the words name no definite date.
    """
    text = " ".join(words.casefold().split()).strip(" .,。")
    if iso := iso_date(text.upper()):
        return iso
    text = re.sub(r"(\b\d{4}),.*", r"\1", text).removeprefix("the ")
    text = text.replace(" ", "") if is_cjk(text) else text
    text = _MONTHS.sub("个月", _SAME.get(text, text))
    mentions = dates_of(text, anchor)
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
    if dates.real_date(int(year), int(month or 1), int(day or 1)) is None:
        return None
    return "-".join(part for part in (year, month, day) if part)
