"""English dates in dialogue, resolved against the day of the utterance.

`find_dates` reads absolute dates ("7 May 2023", "May 7th", "in 2019", "on the 15th") and relative
ones ("yesterday", "last Friday", "two weeks ago", "next month", "last summer", "for three years
now"). Each rule receives the match of a pattern, the day of the utterance (`anchor`) and whether
the sentence speaks of plans (`ahead`). It returns a `Period`, or None for no real date. The wording
of the periods is that of `memsys.core.dates`.
"""

import re
from dataclasses import replace
from datetime import date, timedelta
from functools import lru_cache
from pathlib import Path

from memsys.core import dates
from memsys.core.numbers import CHINESE_COUNT, COUNT, count_of, spell
from memsys.core.yaml_text import load_table

TABLE = load_table(
    Path(__file__).parent / "date_rules.yaml", COUNT=COUNT, CHINESE_COUNT=CHINESE_COUNT
)
_STEPS = {"last": -1, "past": -1, "previous": -1, "next": 1, "coming": 1, "following": 1}


def full_date(m: re.Match[str], anchor: date, _ahead: bool) -> dates.Period | None:
    """Resolve day and month, with or without a year."""
    month, day = dates.month_number(m["month"]), int(m["dom"])
    year = int(m["year"]) if m["year"] else dates.nearest_year(anchor, month, day)
    return dates.on_date(year, month, day)


def month_of_year(m: re.Match[str], anchor: date, _ahead: bool) -> dates.Period | None:
    """Resolve a month with a year, or after "last" or "next"."""
    month = dates.month_number(m["month"])
    which = (m.groupdict().get("which") or "").lower()
    if m.groupdict().get("year"):
        year = int(m["year"])
    elif which in ("last", "past"):
        year = anchor.year - (month >= anchor.month)
    elif which in ("next", "coming"):
        year = anchor.year + (month <= anchor.month)
    else:
        year = dates.nearest_year(anchor, month, 1)
    return dates.in_month(date(year, month, 1))


def day_of_month(m: re.Match[str], anchor: date, ahead: bool) -> dates.Period | None:
    """Resolve "on the 15th" to the latest such day, or the next where plans are mentioned."""
    months = (0, 1) if ahead else (0, -1)
    days = (
        dates.real_date(moved.year, moved.month, int(m["dom"]))
        for moved in (dates.shift_month(anchor, step) for step in months)
    )
    fitting = [day for day in days if day and (day >= anchor if ahead else day <= anchor)]
    return dates.on_day(fitting[0]) if fitting else None


def season(m: re.Match[str], anchor: date, ahead: bool) -> dates.Period | None:
    """Resolve a season with a year, or after "last" or "next"."""
    season, which = m["season"].lower(), (m["which"] or "").lower()
    year = int(m["year"]) if m["year"] else anchor.year
    period = dates.in_season(season, year, "")
    if not m["year"]:
        if which in ("last", "past") and period.last >= anchor:
            year -= 1
        elif which == "next" and period.first <= anchor:
            year += 1
        elif not which and not ahead and period.first > anchor:
            year -= 1
    return dates.in_season(season, year, f"{season} {year}")


def holiday(m: re.Match[str], anchor: date, ahead: bool) -> dates.Period | None:
    """Resolve a holiday of fixed date: the latest one, or the next where plans are mentioned."""
    month, day = TABLE["holidays"][m["holiday"]]
    if m["year"]:
        return dates.on_day(date(int(m["year"]), month, day))
    date_ = date(anchor.year, month, day)
    after = m["which"].lower() == "next" or (ahead and m["which"].lower() != "last")
    if after and date_ < anchor:
        date_ = date_.replace(year=anchor.year + 1)
    elif not after and date_ > anchor:
        date_ = date_.replace(year=anchor.year - 1)
    return dates.on_day(date_)


def moved(anchor: date, unit: str, n: float, word: str, sign: int) -> dates.Period | None:
    """Return the period `n` units before (sign -1) or after (+1) the day `anchor`.

    `word` is the word for n: "few" and "several" give a vague wording, "half" a finer unit.
    """
    if word == "half":
        finer = {"year": ("month", 6.0), "decade": ("year", 5.0), "month": ("week", 2.0)}
        unit, n = finer.get(unit, (unit, 1.0))
    side = "before" if sign < 0 else "after"
    vague = word in ("few", "several", "some")
    steps = sign * round(n)
    if not vague and not unit.startswith("week"):
        return dates.units_from(anchor, unit, steps)
    amount = "a few" if vague else spell(round(n))
    text = f"{amount} {unit}s {side} {dates.write_day(anchor)}"
    if not vague and steps in (-1, 1):
        text = f"the {unit} {side} {dates.write_day(anchor)}"
    if unit == "week":
        return dates.days_from(dates.week_of(anchor) + timedelta(days=7 * steps), 7, text)
    if unit == "weekend":
        nearest = dates.weekday_before(anchor, 5) if sign < 0 else dates.weekday_after(anchor, 5)
        return dates.days_from(nearest + timedelta(days=7 * (steps - sign)), 2, text)
    length = dates.DAYS[unit]
    return dates.days_from(anchor + timedelta(days=(steps - 1) * length), 2 * length, text)


def _counted(m: re.Match[str], anchor: date, sign: int) -> dates.Period | None:
    n, word = count_of(m["count"])
    if n * dates.YEARS.get(m["unit"].lower(), 0) > 150:
        return None  # history, not an event of the dialogue
    return moved(anchor, m["unit"].lower(), n, word, sign)


def weekdays_ago(m: re.Match[str], anchor: date, _ahead: bool) -> dates.Period | None:
    """Resolve "two Fridays ago"."""
    n, word = count_of(m["count"])
    if word in ("few", "several", "some"):
        return None
    number = dates.weekday_number(m["weekday"])
    return dates.on_day(dates.weekday_before(anchor, number) - timedelta(days=7 * (round(n) - 1)))


def since(m: re.Match[str], anchor: date, _ahead: bool) -> dates.Period | None:
    """Resolve a duration until now ("for three years") to its start."""
    n, _ = count_of(m["count"])
    unit = m["unit"].lower()
    if round(n * dates.YEARS.get(unit, 0)) >= 150:
        return None
    return replace(dates.units_from(anchor, unit, -n), precision="since")


def adjacent(m: re.Match[str], anchor: date, _ahead: bool) -> dates.Period | None:
    """Resolve "last", "this" or "next" before a unit."""
    which, unit = m["which"].lower(), m["unit"].lower()
    sign = _STEPS.get(which, 0)
    if sign and unit in ("week", "weekend", "day"):
        return moved(anchor, unit, 1, "one", sign)
    if unit in ("night", "month", "year"):
        return dates.units_from(anchor, unit, sign)
    if unit in ("week", "weekend"):
        text = f"the {unit} of {dates.write_day(anchor)}"
        monday = dates.week_of(anchor)
        first, days = (monday, 7) if unit == "week" else (monday + timedelta(days=5), 2)
        return dates.days_from(first, days, text)
    return None


def weekday(m: re.Match[str], anchor: date, ahead: bool) -> dates.Period | None:
    """Resolve a weekday; after "last" or "next" two days are possible, so the wording is vague."""
    which = (m.groupdict().get("which") or "").lower()
    number = dates.weekday_number(m["weekday"])
    if which == "this":
        day = dates.week_of(anchor) + timedelta(days=number)
        return dates.on_day(day + timedelta(days=7 * (ahead and day < anchor)))
    after = which in ("next", "coming") or (ahead and which not in ("last", "past"))
    day = dates.weekday_after(anchor, number) if after else dates.weekday_before(anchor, number)
    side = "after" if after else "before"
    if not which:
        return dates.on_day(day)
    text = f"the {dates.WEEKDAYS[number].capitalize()} {side} {dates.write_day(anchor)}"
    return dates.Period(day, day, "day", text)


_RULES = dates.compiled(
    TABLE["english"],
    {
        rule.__name__: rule
        for rule in (
            *(full_date, month_of_year, day_of_month, season, holiday, weekdays_ago, since),
            *(adjacent, weekday),
        )
    }
    | {
        "iso": lambda m, _anchor, _ahead: dates.on_date(int(m[1]), int(m[2]), int(m[3])),
        "year": lambda m, _anchor, _ahead: dates.in_year(int(m["year"])),
        "ago": lambda m, anchor, _ahead: _counted(m, anchor, -1),
        "later": lambda m, anchor, _ahead: _counted(m, anchor, 1),
        "before_last": lambda m, anchor, _ahead: moved(anchor, m["unit"].lower(), 2, "two", -1),
        "the_other_day": lambda _m, anchor, _ahead: moved(anchor, "day", 3, "few", -1),
        "weekend": lambda _m, anchor, ahead: moved(anchor, "weekend", 1, "one", 1 if ahead else -1),
    },
)
_HINTS, _PLANS = re.compile(TABLE["hints"]), re.compile(TABLE["plans"])  # of a text in lower case
# Letters that patterns take for s, k and i when they ignore case, but tables of names do not have.
_READ_AS_PLAIN = str.maketrans("\u017f\u212a\u0130\u0131", "skii")


def plain(text: str) -> str:
    """Return `text`, as long as before, with plain s, k and i: a pattern without capitals finds in
    its lower case, in half the time, what it finds in `text` where it ignores case.
    """
    return text if text.isascii() else text.translate(_READ_AS_PLAIN)


@lru_cache(maxsize=32_768)
def find_dates(text: str, anchor: date) -> tuple[dates.DateMention, ...]:
    """Return every date that `text` mentions, resolved against `anchor`, in order of position.

    A bare weekday lies before `anchor`, unless words of plans ("will", "going to") put it after.
    """
    text = plain(text)
    low = text.lower()
    hints = frozenset(hint.lastgroup for hint in _HINTS.finditer(low))
    if not hints:
        return ()
    return dates.find_mentions(text, low, _rules(hints), anchor, _PLANS.search(low) is not None)


@lru_cache(maxsize=256)
def _rules(hints: frozenset[str | None]) -> list[dates.Rule]:
    """Return the rules that may find a date in a text with these parts of dates."""
    return [rule for rule in _RULES if _part(rule[0]) in (None, *hints)]


def _part(pattern: re.Pattern[str]) -> str | None:
    """Return the part of a date without which `pattern` does not match; None if none is known.
    The number of a day comes first: the name of a month may follow it without a space.
    """
    parts = ("dom", "unit", "season", "month", "weekday", "holiday")
    return next((part for part in parts if part in pattern.groupindex), None)
