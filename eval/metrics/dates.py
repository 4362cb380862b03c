"""Rewrite dates as words that can be compared part by part, in folded text with figures.

A date becomes up to three words: the year unchanged, `month5`, `day7`. "7 May 2023", "May 7th,
2023", 2023-05-07 and 2023年5月7日 are the same three; "May 2023" has two of them, and so earns part
of the credit; a day is never the count "7 dogs", a month never the verb "may". Dates are not
checked against a calendar and relative dates are not resolved.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from memsys.text.dates import MONTH_NUMBERS

_VERBS = ("march", "may", "mar")  # no month unless the words around say so

_YEAR = r"(?<![\d.])(?:1[5-9]|20)\d\d(?![\d%]|\.\d)"
_DAY = r"(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?(?![\d%:]|\.\d|/\d+/)\b"
_ANY = rf"(?:{'|'.join(sorted(MONTH_NUMBERS, key=len, reverse=True))})\b\.?"
_SURE = rf"(?:{'|'.join(name for name in MONTH_NUMBERS if name not in _VERBS)})\b\.?"
_VERB = rf"(?:{'|'.join(_VERBS)})\b\.?"
_LINK = r"(?: ?(?:-|/|,|to|and|or|through|until) ?)"
_BEFORE_MONTH = (
    r"(?:in|since|until|till|by|during|of|from|early|late|mid|last|next|every|before|after)"
)


def _days(text: str) -> str:
    """Rewrite every number of `text` as a day, without the words "of" and "the"."""
    bare = re.sub(r"\b(?:of|the)\b ?|(?<=\d)(?:st|nd|rd|th)", "", text)
    return re.sub(r"\d+", lambda m: f"day{int(m[0])}", bare)


def _months(text: str) -> str:
    return re.sub(
        r"[a-z]+\b\.?",
        lambda m: f"month{number}" if (number := MONTH_NUMBERS.get(m[0].rstrip("."))) else m[0],
        text.removesuffix(" of"),
    )


def _written(m: re.Match[str]) -> str:
    """Rewrite days before or after the name of their month."""
    if m["month"]:
        return _days(m["before"]) + _months(m["month"])
    return _months(m["name"]) + _days(m["after"])


def _year_first(m: re.Match[str]) -> str:
    day = f" day{int(m['day'])}" if m["day"] else ""
    return f" {m['year']} month{int(m['month'])}{day} "


def _year_last(m: re.Match[str]) -> str:
    """Rewrite a day and a month in unknown order; plain numbers where both may be the month."""
    first, second = int(m["first"]), int(m["second"])
    if not (1 <= first <= 31 and 1 <= second <= 31 and min(first, second) <= 12):
        return m[0]
    if max(first, second) > 12 or first == second:
        return f" day{max(first, second)} month{min(first, second)} {m['year']} "
    return f" {first} {second} {m['year']} "


def _chinese(m: re.Match[str]) -> str:
    if not 1 <= int(m["month"]) <= 12 or not 1 <= int(m["day"] or 1) <= 31:
        return m[0]
    return f" month{int(m['month'])} " + (f"day{int(m['day'])} " if m["day"] else "")


def _name(m: re.Match[str]) -> str:
    return _months(m[0])


_RULES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = tuple(
    (re.compile(pattern), rewrite)
    for pattern, rewrite in (
        (
            r"(?<![\d.])(?P<year>(?:1[5-9]|20)\d\d)(?P<by>[-/.])(?P<month>0?[1-9]|1[0-2])(?P=by)"
            r"(?P<day>0?[1-9]|[12]\d|3[01])(?!\d)",
            _year_first,
        ),
        (rf"(?P<year>{_YEAR})[-/](?P<month>0[1-9]|1[0-2])(?P<day>)(?![\d/-])", _year_first),
        (
            r"(?<![\d./-])(?P<first>\d\d?)(?P<by>[-/.])(?P<second>\d\d?)(?P=by)"
            r"(?P<year>(?:1[5-9]|20)\d\d)(?!\d)",
            _year_last,
        ),
        # 2023年5月7日; a bare 3年 is a duration, a bare 7号 a number.
        (rf"(?P<year>{_YEAR}) ?年(?!代)", lambda m: f"{m['year']} "),
        (
            r"(?<![\d.])(?P<month>\d\d?) ?月(?:份)?(?: ?(?P<day>\d\d?) ?[日号])?",
            _chinese,
        ),
        # 7 May, the 7th of May, 7 or 8 May; May 7th, May 7-9, May 7 or 8. The leftmost wins.
        (
            rf"(?<![\w.:/-])(?P<before>{_DAY}(?:{_LINK}{_DAY})?[ -]?(?:of )?)\b(?P<month>{_ANY})"
            rf"|\b(?P<name>{_ANY})(?P<after>[ -]?(?:the )?{_DAY}"
            rf"(?: ?(?:-|to) ?{_DAY}| (?:and|or) {_DAY}(?=,? ?{_YEAR}|\W*$|[.,;)]))?)",
            _written,
        ),
        # May 2023, May of 2023, 2023 May; in May; April and May; "May" and nothing else.
        (rf"\b(?:{_ANY}|month\d+)(?: of)?(?=,?[ -]?{_YEAR})", _name),
        (rf"(?<=(?:1[5-9]|20)\d\d ){_VERB}(?= \d|\W*$|[,;)])", _name),
        (rf"\b{_BEFORE_MONTH}[ -]{_VERB}|^\W*{_VERB}\W*$", _name),
        (rf"\b(?:{_ANY}|month\d+)(?:{_LINK}(?:{_ANY}|month\d+))+", _name),
        (rf"\b{_SURE}", _name),
        (
            r"\bon (?:the )?(?P<day>\d\d?)(?:st|nd|rd|th)(?=\W*$|[.,;:)]| (?:and|or|at|in|with)\b)",
            lambda m: f"on day{m['day']}",
        ),
    )
)


def in_parts(text: str) -> str:
    """Return folded `text` with its dates rewritten as year, month and day words.

    5/7/2023 may be May or July: it gives the year and two plain numbers.
    """
    for pattern, rewrite in _RULES:
        text = pattern.sub(rewrite, text)
    return text
