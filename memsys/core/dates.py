"""Calendar: names of months and weekdays, arithmetic of days, and periods with their wording.

The English wording is "7 May 2023" for a known day, "May 2023" for a known month, "summer 2022" for
a season and "2022" for a year. A vague time stays vague and is expressed relative to the day of the
utterance: "the week before 25 May 2023", "the weekend of 22 August 2022", "the Friday before 15
July 2023" (for "last Friday", which speakers use for either of two days), "two weekends before 17
July 2023".

The Chinese wording is "2024年4月12日", "2024年4月", "2023年夏天", "2022年",
"2024年4月12日的前一周". Chinese weeks begin on Monday, so 上周五 ("Friday of last week") is a
known day.
"""

import calendar
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

Precision = Literal["day", "week", "month", "season", "year", "since"]

MONTHS = tuple(calendar.month_name)[1:]
_NAMES = [name.lower() for name in MONTHS]
# "january", "jan", "sept" -> 1 to 12.
MONTH_NUMBERS = (
    {name: number for number, name in enumerate(_NAMES, start=1)}
    | {name[:3]: number for number, name in enumerate(_NAMES, start=1)}
    | {"sept": 9}
)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
# Season -> first month, in the northern hemisphere.
SEASONS = {"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12}
# How long units are: exact in years; in days, for a vague time ("a few months ago"), about.
YEARS = {"year": 1, "decade": 10}
DAYS = {"day": 1, "night": 1, "week": 7, "weekend": 7, "month": 30, "year": 365, "decade": 3650}


@dataclass(frozen=True, slots=True)
class Period:
    """Days `first` to `last`, both included, their precision and their wording. The precision
    `since` marks a start computed from a duration ("for three years now").
    """

    first: date
    last: date
    precision: Precision
    text: str


@dataclass(frozen=True, slots=True)
class DateMention:
    """A period and the characters `start` to `end` (end excluded) that name it."""

    start: int
    end: int
    period: Period


def month_number(name: str) -> int:
    """Return 1 to 12 for a month's name or abbreviation, in any case."""
    return MONTH_NUMBERS[name[:3].lower()]


def weekday_number(name: str) -> int:
    """Return 0 (Monday) to 6 for a weekday's name or abbreviation, in any case."""
    return next(i for i, full in enumerate(WEEKDAYS) if full.startswith(name[:3].lower()))


def real_date(year: int, month: int, day: int) -> date | None:
    """Return the date of these numbers, or None if the calendar has no such day."""
    try:
        return date(year, month, day)
    except ValueError:
        return None


def nearest_year(anchor: date, month: int, day: int) -> int:
    """Return the year in which `month` and `day` are nearest to the day `anchor`."""
    years = (anchor.year - 1, anchor.year, anchor.year + 1)
    return min(years, key=lambda year: abs((date(year, month, min(day, 28)) - anchor).days))


Rule = tuple[re.Pattern[str], Callable[..., Period | None]]
_IGNORES_CASE = re.IGNORECASE.value  # a plain number, which is compared ten times as fast


def compiled(
    rows: Iterable[tuple[str | int, str]],
    named: Mapping[str, Callable[..., Period | None]],
    *,
    chinese: bool = False,
) -> list[Rule]:
    """Return the rules of a table: each pattern with the function of its name, or one for the day
    so many after that of the utterance. Only a pattern in which case counts somewhere ignores it
    elsewhere: see find_mentions.
    """

    def on_nth(days: int) -> Callable[..., Period]:
        return lambda _, anchor, *__: on_day(anchor + timedelta(days=days), chinese)

    return [
        (
            re.compile(pattern, re.IGNORECASE if "(?-i:" in pattern else 0),
            on_nth(rule) if isinstance(rule, int) else named[rule],
        )
        for rule, pattern in rows
    ]


def find_mentions(
    text: str, low: str, rules: Iterable[Rule], *context: object
) -> tuple[DateMention, ...]:
    """Return the mentions that `rules` find in `text`, in order of position. A rule is a pattern
    and a function from its match and `context` to a period, or None. The first rule wins: its
    mentions hide the overlapping matches of all later rules. A period outside the calendar ("in
    999999 weeks") is none. `low`: the text in lower case, of equal length, where patterns are
    searched that do not ignore case, which takes half as long.
    """
    taken: list[DateMention] = []
    for pattern, resolve in rules:
        for m in pattern.finditer(text if pattern.flags & _IGNORES_CASE else low):
            if any(m.start() < other.end and other.start < m.end() for other in taken):
                continue
            try:
                period = resolve(m, *context)
            except (OverflowError, ValueError):  # before year 1 or after 9999
                continue
            if period is not None:
                taken.append(DateMention(m.start(), m.end(), period))
    return tuple(sorted(taken, key=lambda mention: mention.start))


def shift_month(day: date, months: int) -> date:
    """Return `day` moved by whole months, cut to the month's length (31 Jan + 1: 28 Feb)."""
    index = day.year * 12 + day.month - 1 + months
    year, month = divmod(index, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def write_day(day: date, chinese: bool = False) -> str:
    """Return `7 May 2023`, or `2023年5月7日`."""
    if chinese:
        return f"{day.year}年{day.month}月{day.day}日"
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def on_day(day: date, chinese: bool = False) -> Period:
    """Return the period of one known day."""
    return Period(day, day, "day", write_day(day, chinese))


def on_date(year: int, month: int, day: int, chinese: bool = False) -> Period | None:
    """Return the period of the date of these numbers, or None if the calendar has no such day."""
    date_ = real_date(year, month, day)
    return on_day(date_, chinese) if date_ else None


def in_month(day: date, chinese: bool = False) -> Period:
    """Return the calendar month of `day`."""
    last = day.replace(day=calendar.monthrange(day.year, day.month)[1])
    text = f"{day.year}年{day.month}月" if chinese else f"{MONTHS[day.month - 1]} {day.year}"
    return Period(day.replace(day=1), last, "month", text)


def in_year(year: int, chinese: bool = False) -> Period:
    """Return a calendar year."""
    text = f"{year}年" if chinese else str(year)
    return Period(date(year, 1, 1), date(year, 12, 31), "year", text)


def units_from(anchor: date, unit: str, n: float, chinese: bool = False) -> Period:
    """Return the year, month or day `n` units after that of `anchor`, before it if `n` < 0."""
    if unit in YEARS:
        return in_year(anchor.year + round(n * YEARS[unit]), chinese)
    if unit == "month":
        return in_month(shift_month(anchor, round(n)), chinese)
    return on_day(anchor + timedelta(days=round(n * DAYS[unit])), chinese)


def in_season(season: str, year: int, text: str) -> Period:
    """Return the three months of a season; winter is the one that begins in `year`."""
    first = date(year, SEASONS[season], 1)
    return Period(first, shift_month(first, 3) - timedelta(days=1), "season", text)


def coarsen(period: Period, precision: str, chinese: bool = False) -> str:
    """Return the wording of `period` at the `precision` (day, month, year) of a question. A day is
    returned where the period is a single day; month and year are those of its first day. For any
    other precision the wording is unchanged.
    """
    if precision == "day" and period.first == period.last:
        return write_day(period.first, chinese)
    if precision == "month" and period.precision not in ("season", "year", "since"):
        return in_month(period.first, chinese).text
    if precision == "year":
        return in_year(period.first.year, chinese).text
    return period.text


def week_of(day: date) -> date:
    """Return the Monday of the week of `day` (ISO 8601)."""
    return day - timedelta(days=day.weekday())


def days_from(first: date, days: int, text: str) -> Period:
    """Return a period of `days` days, with the precision of a week or a vaguer one."""
    return Period(first, first + timedelta(days=days - 1), "week", text)


def weekday_before(day: date, weekday: int) -> date:
    """Return the latest `weekday` (Monday 0) strictly before `day`."""
    return day - timedelta(days=(day.weekday() - weekday - 1) % 7 + 1)


def weekday_after(day: date, weekday: int) -> date:
    """Return the earliest `weekday` (Monday 0) strictly after `day`."""
    return day + timedelta(days=(weekday - day.weekday() - 1) % 7 + 1)
