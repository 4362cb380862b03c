"""English dates in dialogue, resolved against the day of the utterance.

`find_dates` reads absolute dates ("7 May 2023", "May 7th", "in 2019", "on the 15th") and relative
ones ("yesterday", "last Friday", "two weeks ago", "next month", "last summer", "for three years
now"). The wording of the periods is that of `memsys.text.dates`.
"""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache

from eval.readers import date_resolution as on
from memsys.text.dates import DateMention, find_mentions
from memsys.text.numbers import COUNT

_DAY = (
    r"(?P<weekday>mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|"
    r"fri(?:day)?|sat(?:urday)?|sun(?:day)?)s?\b"
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
_WHICH = r"(?P<which>last|past|previous|next|coming|following|this)"
_RULES = tuple(
    (re.compile(pattern, re.IGNORECASE), resolve)
    for pattern, resolve in (
        # An empty group `year` marks a pattern without a year.
        (r"\b((?:19|20)\d\d)-(\d\d)-(\d\d)\b", on.iso),
        (rf"\b{_DOM}\s*(?:of\s+)?{_MONTH},?\s*{_YEAR}", on.full_date),
        (rf"\b{_MONTH}\s*{_DOM}\b(?:,?\s*{_YEAR})?", on.full_date),
        (rf"\b{_DOM}\s+(?:of\s+)?{_MONTH}(?P<year>\b)", on.full_date),
        (rf"(?<!\d )\b{_MONTH},?\s*{_YEAR}", on.month_of_year),
        (rf"\b(?:{_WHICH}\s+)?{_SEASON}(?:\s+of)?\s+{_YEAR}", on.season),
        (rf"\b{_WHICH}\s+{_SEASON}(?P<year>\b)", on.season),
        (
            rf"\b(?:in|during|over)\s+(?:the|(?P<which>this|last))\s+{_SEASON}(?P<year>\b)",
            on.season,
        ),
        (rf"(?-i:{on.HOLIDAY})(?:,?\s+{_YEAR})?", on.holiday),
        (r"\b(?:the\s+)?day before yesterday\b", on.days_off(-2)),
        (r"\b(?:the\s+)?day after tomorrow\b", on.days_off(2)),
        (r"\b(?:the\s+)?(?P<unit>week|weekend|month|year) before last\b", on.before_last),
        (
            r"\b(?:\d+|an?|" + COUNT + r")\s+(?:hours?|minutes?)\s+ago\b|\bjust now\b",
            on.days_off(0),
        ),
        (r"\byesterday\b|\blast night\b|\blast evening\b", on.days_off(-1)),
        (r"\btomorrow\b", on.days_off(1)),
        (r"\btoday\b|\btonight\b|\bthis (?:morning|afternoon|evening|very day)\b", on.days_off(0)),
        (
            rf"\b(?P<count>{COUNT})\s+{_UNIT}\s+(?:and a half\s+)?(?:ago|back|earlier)\b",
            on.counted(-1),
        ),
        (rf"\b(?P<count>{COUNT})\s+{_DAY}\s+ago\b", on.weekdays_ago),
        (rf"\b(?:last|past)\s+(?P<count>few|couple(?: of)?)\s+{_UNIT}", on.counted(-1)),
        (rf"\bnext\s+(?P<count>few|couple(?: of)?)\s+{_UNIT}", on.counted(1)),
        (rf"\bin\s+(?:about\s+|just\s+)?(?P<count>{COUNT})\s+{_UNIT}(?!\s+of)", on.counted(1)),
        (rf"\b(?P<count>{COUNT})\s+{_UNIT}\s+(?:from now|from today|later)\b", on.counted(1)),
        (
            rf"\bfor\s+(?:about\s+|over\s+|almost\s+|nearly\s+|like\s+|the (?:past|last)\s+)?"
            rf"(?P<count>{COUNT})\s+{_UNIT}",
            on.since,
        ),
        (rf"\b(?P<count>{COUNT})\s+{_UNIT}\s+(?:now|already|strong)\b", on.since),
        (rf"\b(?:since|been)\s+(?P<count>{COUNT})\s+{_UNIT}", on.since),
        (r"\bthe other (?:day|night)\b", lambda _m, said, _a: on.moved(said, "day", 3, "few", -1)),
        (rf"\b{_WHICH}\s+{_DAY}", on.weekday),
        (rf"\b{_WHICH}\s+{_UNIT}", on.adjacent),
        (rf"\b(?P<which>last|past|next|coming|this)\s+{_MONTH}", on.month_of_year),
        (rf"\b(?:in|since|until|by|during|of|from|early|late|mid)[\s-]+{_MONTH}", on.month_of_year),
        (rf"\b(?:in|since|until|by|during|of|from|back in|summer|year)\s+{_YEAR}", on.year),
        (rf"\bon\s+{_DAY}", on.weekday),
        (r"(?-i:\b(?P<weekday>(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)\b)", on.weekday),
        (r"\b(?:over|during|on|at|for) the (?:whole |entire )?weekend\b", on.weekend),
        (rf"\bon the {_DOM}\b", on.day_of_month),
    )
)


@lru_cache(maxsize=32_768)
def find_dates(text: str, said: date) -> tuple[DateMention, ...]:
    """Return every date that `text` mentions, resolved against `said`, in order of position.

    A bare weekday lies before `said`, unless words of plans
    ("will", "going to", "can't wait") put it after `said`.
    """
    return find_mentions(text, _RULES, said, _AHEAD.search(text) is not None)
