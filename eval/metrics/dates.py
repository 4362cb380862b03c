"""Rewrite dates as words that can be compared part by part, in folded text with figures.

A date becomes up to three words: the year unchanged, `month5`, `day7`. "7 May 2023", "May 7th,
2023", 2023-05-07 and 2023年5月7日 are the same three; "May 2023" has two of them, and so earns part
of the credit; a day is never the count "7 dogs", a month never the verb "may". Dates are not
checked against a calendar and relative dates are not resolved.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from memsys.core.dates import MONTH_NUMBERS
from memsys.core.yaml_text import load_table

_VERBS = ("march", "may", "mar")  # no month unless the words around say so

_MONTH = r"(?:{})\b\.?"
_TABLE = load_table(
    Path(__file__).parent / "dates.yaml",
    ANY=_MONTH.format("|".join(sorted(MONTH_NUMBERS, key=len, reverse=True))),
    SURE=_MONTH.format("|".join(name for name in MONTH_NUMBERS if name not in _VERBS)),
    VERB=_MONTH.format("|".join(_VERBS)),
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
    """Rewrite a match as month and day numbers; the day may precede or follow the month's name."""
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


_REWRITE: dict[str, Callable[[re.Match[str]], str]] = {
    "year": lambda m: f"{m['year']} ",
    "year_first": _year_first,
    "year_last": _year_last,
    "chinese": _chinese,
    "written": _written,
    "name": lambda m: _months(m[0]),
    "on_the_day": lambda m: f"on day{m['day']}",
}
_RULES = [(part, re.compile(row), _REWRITE[rule]) for rule, part, row in _TABLE["rules"]]
_IN_FIGURES = re.compile(r"\d[-/.]\d")
_LETTERS = re.compile("[a-z]+")
_NAMES = {"month": MONTH_NUMBERS, "name of a month": MONTH_NUMBERS, "verb": _VERBS}


@lru_cache(maxsize=1)  # numbers and months are looked for in the same words
def words_of(text: str) -> frozenset[str]:
    """Return the English words of folded `text`."""
    return frozenset(_LETTERS.findall(text))


def in_parts(text: str) -> str:
    """Return folded `text` with its dates rewritten as year, month and day words.

    5/7/2023 may be May or July: it gives the year and two plain numbers.
    """
    words = words_of(text)
    named = {part for part, names in _NAMES.items() if not words.isdisjoint(names)}
    in_figures = _IN_FIGURES.search(text) is not None
    for part, pattern, rewrite in _RULES:
        if (part in named or part in text) if part else in_figures:
            text = pattern.sub(rewrite, text)
    return text
