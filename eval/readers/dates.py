"""English dates in dialogue, resolved against the day they were said.

`find_dates` reads absolute dates ("7 May 2023", "May 7th", "in 2019", "on the 15th") and relative
ones ("yesterday", "last Friday", "two weeks ago", "next month", "last summer", "for three years
now"). The wording of what it returns is the house style of `eval.readers.periods`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta
from functools import lru_cache

from eval.readers.numbers import COUNT, count_of, spell
from eval.readers.periods import (
    MONTHS,
    Mention,
    Period,
    days_from,
    in_month,
    in_season,
    in_year,
    on_day,
    shift_month,
    week_of,
    weekday_after,
    weekday_before,
    write_day,
)

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAY = (
    r"(?P<weekday>mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|"
    r"fri(?:day)?|sat(?:urday)?|sun(?:day)?)\b"
)
# Bare "may" is a verb and "march" another: a month alone needs a preposition before it.
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DOM = r"(?P<dom>[0-3]?\d)(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)\b"
_SEASON = r"(?P<season>spring|summer|fall|autumn|winter)"
_UNIT = r"(?P<unit>day|night|weekend|week|month|year|decade)s?\b"
_AHEAD = re.compile(
    r"\b(?:will|won't|gonna|going to|plan|planning|'ll|can't wait|upcoming|coming|looking forward|"
    r"hoping|hope to|getting ready|see you|let's)\b",
    re.IGNORECASE,
)


def _month(name: str) -> int:
    return next(i for i, full in enumerate(MONTHS, 1) if full.lower().startswith(name[:3].lower()))


def _valid(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _nearest_year(said: date, month: int, day: int = 1) -> int:
    """The year that puts month and day nearest to `said`: December said in January is last year."""
    probe = min(day, 28)
    years = (said.year - 1, said.year, said.year + 1)
    return min(years, key=lambda year: abs((date(year, month, probe) - said).days))


def _full_date(m: re.Match[str], said: date, _ahead: bool) -> Period | None:
    month, day = _month(m["month"]), int(m["dom"])
    year = int(m["year"]) if m["year"] else _nearest_year(said, month, day)
    found = _valid(year, month, day)
    return on_day(found) if found else None


def _iso(m: re.Match[str], _said: date, _ahead: bool) -> Period | None:
    found = _valid(int(m[1]), int(m[2]), int(m[3]))
    return on_day(found) if found else None


def _month_of_year(m: re.Match[str], said: date, _ahead: bool) -> Period | None:
    month = _month(m["month"])
    which = (m.groupdict().get("which") or "").lower()
    if m.groupdict().get("year"):
        year = int(m["year"])
    elif which in ("last", "past"):
        year = said.year - (month >= said.month)
    elif which in ("next", "coming"):
        year = said.year + (month <= said.month)
    else:
        year = _nearest_year(said, month)
    return in_month(date(year, month, 1))


def _day_of_month(m: re.Match[str], said: date, ahead: bool) -> Period | None:
    months = (0, 1) if ahead else (0, -1)
    found = (
        _valid(moved.year, moved.month, int(m["dom"]))
        for moved in (shift_month(said.replace(day=1), step) for step in months)
    )
    fitting = [day for day in found if day and (day >= said if ahead else day <= said)]
    return on_day(fitting[0]) if fitting else None


def _year(m: re.Match[str], _said: date, _ahead: bool) -> Period | None:
    return in_year(int(m["year"]))


def _season(m: re.Match[str], said: date, ahead: bool) -> Period | None:
    season, which = m["season"].lower(), (m["which"] or "").lower()
    year = int(m["year"]) if m["year"] else said.year
    period = in_season(season, year, "")
    if not m["year"]:
        if which in ("last", "past") and period.last >= said:
            year -= 1
        elif which == "next" and period.first <= said:
            year += 1
        elif not which and not ahead and period.first > said:
            year -= 1
    return in_season(season, year, f"{season} {year}")


def _days_off(offset: int) -> Callable[[re.Match[str], date, bool], Period | None]:
    def resolve(_m: re.Match[str], said: date, _ahead: bool) -> Period | None:
        return on_day(said + timedelta(days=offset))

    return resolve


def _moved(said: date, unit: str, n: float, word: str, sign: int) -> Period | None:
    """`n` units before (sign -1) or after (+1) the day it was said; `word` is how n was put."""
    if word == "half":
        finer = {"year": ("month", 6.0), "decade": ("year", 5.0), "month": ("week", 2.0)}
        unit, n = finer.get(unit, (unit, 1.0))
    side = "before" if sign < 0 else "after"
    vague = word in ("few", "several", "some")
    steps = sign * round(n)
    if unit in ("day", "night") and not vague:
        return on_day(said + timedelta(days=steps))
    if unit == "month" and not vague:
        return in_month(shift_month(said.replace(day=1), steps))
    if unit in ("year", "decade") and not vague:
        year = said.year + steps * (10 if unit == "decade" else 1)
        return in_year(year) if 1 <= year <= 9998 else None
    amount = "a few" if vague else spell(round(n))
    text = f"{amount} {unit}s {side} {write_day(said)}"
    if not vague and steps in (-1, 1):
        text = f"the {unit} {side} {write_day(said)}"
    if unit == "week":
        return days_from(week_of(said) + timedelta(days=7 * steps), 7, text)
    if unit == "weekend":
        nearest = weekday_before(said, 5) if sign < 0 else weekday_after(said, 5)
        return days_from(nearest + timedelta(days=7 * (steps - sign)), 2, text)
    length = {"day": 1, "night": 1, "month": 30, "year": 365, "decade": 3650}[unit]
    return days_from(said + timedelta(days=(steps - 1) * length), 2 * length, text)


def _counted(sign: int) -> Callable[[re.Match[str], date, bool], Period | None]:
    def resolve(m: re.Match[str], said: date, _ahead: bool) -> Period | None:
        n, word = count_of(m["count"])
        if n * {"year": 1, "decade": 10}.get(m["unit"].lower(), 0) > 150:
            return None  # stories of centuries are not in anybody's diary
        return _moved(said, m["unit"].lower(), n, word, sign)

    return resolve


def _since(m: re.Match[str], said: date, _ahead: bool) -> Period | None:
    n, _ = count_of(m["count"])
    unit = m["unit"].lower()
    if unit in ("year", "decade"):
        start = said.year - round(n * (10 if unit == "decade" else 1))
        period = in_year(start) if said.year - 150 < start else None
    elif unit == "month":
        period = in_month(shift_month(said.replace(day=1), -round(n)))
    else:
        days = round(n * (7 if unit.startswith("week") else 1))
        period = on_day(said - timedelta(days=days))
    return Period(period.first, period.last, "since", period.text) if period else None


def _adjacent(m: re.Match[str], said: date, _ahead: bool) -> Period | None:
    """Last, this, next with a unit."""
    which, unit = m["which"].lower(), m["unit"].lower()
    step = {"last": -1, "past": -1, "previous": -1, "next": 1, "coming": 1, "following": 1}
    sign = step.get(which, 0)
    if which == "past" and unit == "weekend":
        sign = -1
    if sign and unit in ("week", "weekend", "day"):
        return _moved(said, unit, 1, "one", sign)
    if unit == "night":
        return on_day(said + timedelta(days=sign))
    if unit == "month":
        return in_month(shift_month(said.replace(day=1), sign))
    if unit == "year":
        return in_year(said.year + sign)
    if unit in ("week", "weekend"):
        text = f"the {unit} of {write_day(said)}"
        monday = week_of(said)
        return days_from(monday, 7, text) if unit == "week" else days_from(_saturday(said), 2, text)
    return None


def _saturday(said: date) -> date:
    """The Saturday of the weekend that is on, or else of the next one."""
    return (
        said - timedelta(days=1)
        if said.weekday() == 6
        else weekday_after(said, 5)
        if said.weekday() != 5
        else said
    )


def _weekend(_m: re.Match[str], said: date, ahead: bool) -> Period | None:
    return _moved(said, "weekend", 1, "one", 1 if ahead else -1)


def _weekday(m: re.Match[str], said: date, ahead: bool) -> Period | None:
    which = (m.groupdict().get("which") or "").lower()
    number = next(i for i, full in enumerate(_DAYS) if full.startswith(m["weekday"][:3].lower()))
    after = which in ("next", "coming", "this coming") or (ahead and which not in ("last", "past"))
    day = weekday_after(said, number) if after else weekday_before(said, number)
    side = "after" if after else "before"
    text = f"the {_DAYS[number].capitalize()} {side} {write_day(said)}"
    return Period(day, day, "day", text)


_WHICH = r"(?P<which>last|past|previous|next|coming|following|this)"
# First come, first served: a rule's match hides every later rule's match that overlaps it.
_RULES = tuple(
    (re.compile(pattern, re.IGNORECASE), resolve)
    for pattern, resolve in (
        (r"\b((?:19|20)\d\d)-(\d\d)-(\d\d)\b", _iso),
        (rf"\b{_DOM}\s*(?:of\s+)?{_MONTH},?\s*{_YEAR}", _full_date),
        (rf"\b{_MONTH}\s*{_DOM}\b(?:,?\s*{_YEAR})?", _full_date),
        (rf"\b{_DOM}\s+(?:of\s+)?{_MONTH}(?P<year>\b)", _full_date),
        (rf"(?<!\d )\b{_MONTH},?\s*{_YEAR}", _month_of_year),
        (rf"\b(?:{_WHICH}\s+)?{_SEASON}(?:\s+of)?\s+{_YEAR}", _season),
        (rf"\b{_WHICH}\s+{_SEASON}(?P<year>\b)", _season),
        (r"\b(?:the\s+)?day before yesterday\b", _days_off(-2)),
        (r"\b(?:the\s+)?day after tomorrow\b", _days_off(2)),
        (r"\byesterday\b|\blast night\b|\blast evening\b", _days_off(-1)),
        (r"\btomorrow\b", _days_off(1)),
        (r"\btoday\b|\btonight\b|\bthis (?:morning|afternoon|evening|very day)\b", _days_off(0)),
        (rf"\b(?P<count>{COUNT})\s+{_UNIT}\s+(?:ago|back|earlier)\b", _counted(-1)),
        (rf"\bin\s+(?:about\s+|just\s+)?(?P<count>{COUNT})\s+{_UNIT}(?!\s+of)", _counted(1)),
        (rf"\b(?P<count>{COUNT})\s+{_UNIT}\s+(?:from now|from today|later)\b", _counted(1)),
        (
            rf"\bfor\s+(?:about\s+|over\s+|almost\s+|nearly\s+|like\s+|the (?:past|last)\s+)?"
            rf"(?P<count>{COUNT})\s+{_UNIT}",
            _since,
        ),
        (rf"\b(?P<count>{COUNT})\s+{_UNIT}\s+(?:now|already|strong)\b", _since),
        (rf"\b(?:since|been)\s+(?P<count>{COUNT})\s+{_UNIT}", _since),
        (r"\bthe other (?:day|night)\b", lambda _m, said, _a: _moved(said, "day", 3, "few", -1)),
        (rf"\b{_WHICH}\s+{_DAY}", _weekday),
        (rf"\b{_WHICH}\s+{_UNIT}", _adjacent),
        (rf"\b(?P<which>last|past|next|coming|this)\s+{_MONTH}", _month_of_year),
        (rf"\b(?:in|since|until|by|during|of|from|early|late|mid)[\s-]+{_MONTH}", _month_of_year),
        (rf"\b(?:in|since|until|by|during|of|from|back in|summer|year)\s+{_YEAR}", _year),
        (rf"\bon\s+{_DAY}", _weekday),
        (r"(?-i:\b(?P<weekday>(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)\b)", _weekday),
        (r"\b(?:over|during|on|at|for) the weekend\b", _weekend),
        (rf"\bon the {_DOM}\b", _day_of_month),
    )
)


@lru_cache(maxsize=32_768)
def find_dates(text: str, said: date) -> tuple[Mention, ...]:
    """Every date that `text` speaks of, resolved against `said`, in order of position.

    Whether a bare weekday lies before or after `said` is read off the sentence: words of plans
    ("will", "going to", "can't wait") put it after.
    """
    ahead = _AHEAD.search(text) is not None
    taken: list[Mention] = []
    for pattern, resolve in _RULES:
        for m in pattern.finditer(text):
            if any(m.start() < other.end and other.start < m.end() for other in taken):
                continue
            period = resolve(m, said, ahead)
            if period is not None:
                taken.append(Mention(m.start(), m.end(), period))
    return tuple(sorted(taken, key=lambda mention: mention.start))
