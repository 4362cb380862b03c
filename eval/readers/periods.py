"""Stretches of calendar time as dialogue speaks of them, and the house style they are written in.

House style, English: a known day "7 May 2023"; a known month "May 2023"; a season "summer 2022"; a
year "2022". What the speaker left vague stays vague, tied to the day it was said: "the week before
25 May 2023", "the weekend of 22 August 2022", "the Friday before 15 July 2023" (said of "last
Friday", which speakers use for either of two days), "two weekends before 17 July 2023".
House style, Chinese: "2024年4月12日", "2024年4月", "2023年夏天", "2022年", "2024年4月12日的前一周".
Weeks begin on Monday there, so 上周五 ("Friday of last week") is a known day.
"""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

Precision = Literal["day", "week", "month", "season", "year", "since"]

MONTHS = tuple(calendar.month_name)[1:]
# Season -> first month, on the northern calendar that conversations in these data sets keep.
SEASONS = {"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12}


@dataclass(frozen=True, slots=True)
class Period:
    """Days `first` to `last`, both included, how finely they are known, and their wording.

    `since` marks the start worked out of a length of time ("for three years now").
    """

    first: date
    last: date
    precision: Precision
    text: str


@dataclass(frozen=True, slots=True)
class Mention:
    """A period and the characters `start` to `end` (end excluded) that speak of it."""

    start: int
    end: int
    period: Period


def shift_month(day: date, months: int) -> date:
    """`day` moved by whole months, cut to the length of the month reached (31 Jan + 1: 28 Feb)."""
    index = day.year * 12 + day.month - 1 + months
    year, month = divmod(index, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def write_day(day: date, chinese: bool = False) -> str:
    """`7 May 2023`, or `2023年5月7日`."""
    if chinese:
        return f"{day.year}年{day.month}月{day.day}日"
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def on_day(day: date, chinese: bool = False) -> Period:
    """One known day."""
    return Period(day, day, "day", write_day(day, chinese))


def in_month(day: date, chinese: bool = False) -> Period:
    """The calendar month that holds `day`."""
    last = day.replace(day=calendar.monthrange(day.year, day.month)[1])
    text = f"{day.year}年{day.month}月" if chinese else f"{MONTHS[day.month - 1]} {day.year}"
    return Period(day.replace(day=1), last, "month", text)


def in_year(year: int, chinese: bool = False) -> Period:
    """A calendar year."""
    text = f"{year}年" if chinese else str(year)
    return Period(date(year, 1, 1), date(year, 12, 31), "year", text)


def in_season(season: str, year: int, text: str) -> Period:
    """Three months from the season's first; winter is the one that begins in `year`."""
    first = date(year, SEASONS[season], 1)
    return Period(first, shift_month(first, 3) - timedelta(days=1), "season", text)


def coarsen(period: Period, precision: str, chinese: bool = False) -> str:
    """The wording of `period` at the `precision` asked for (day, month, year), if it allows it.

    A day asked for is given where exactly one day is meant; a month or year is that of the first
    day. Any other precision leaves the wording as it is.
    """
    if precision == "day" and period.first == period.last:
        return write_day(period.first, chinese)
    if precision == "month" and period.precision not in ("season", "year", "since"):
        return in_month(period.first, chinese).text
    if precision == "year":
        return in_year(period.first.year, chinese).text
    return period.text


def week_of(day: date) -> date:
    """The Monday of the week that holds `day` (ISO 8601)."""
    return day - timedelta(days=day.weekday())


def days_from(first: date, days: int, text: str) -> Period:
    """A stretch of `days` days that is known to the week only, or more vaguely."""
    return Period(first, first + timedelta(days=days - 1), "week", text)


def weekday_before(day: date, weekday: int) -> date:
    """The latest `weekday` (Monday 0) strictly before `day`."""
    return day - timedelta(days=(day.weekday() - weekday - 1) % 7 + 1)


def weekday_after(day: date, weekday: int) -> date:
    """The earliest `weekday` (Monday 0) strictly after `day`."""
    return day + timedelta(days=(weekday - day.weekday() - 1) % 7 + 1)
