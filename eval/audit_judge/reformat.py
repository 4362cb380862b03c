"""Rewrite an answer in another form by rule: dates, number words, order of list items.

Only changes that certainly preserve the meaning are made, and the result is checked with the
normalisation of the strict F1 (`eval.metrics.normalise`).
"""

from __future__ import annotations

import re
from collections import Counter

from eval.metrics.normalise import terms

_MONTHS = (
    "January February March April May June July August September October November December"
).split()
_ANY = "|".join(_MONTHS)
_DAY_FIRST = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)? (?:of )?({_ANY}),? (\d{{4}})\b")
_MONTH_FIRST = re.compile(rf"\b({_ANY}) (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{4}})\b")
_CHINESE = re.compile(r"(\d{4})年(\d{1,2})月(\d{1,2})[日号]")
_DATED = re.compile(rf"\b(?:{_ANY})\b|\d{{4}}|\d[年月日号]", re.IGNORECASE)

_WORDS = "two three four five six seven eight nine ten eleven twelve".split()  # "one" is a pronoun
_TO_FIGURE = {word: str(n) for n, word in enumerate(_WORDS, 2)}
_TO_WORD = {figure: word for word, figure in _TO_FIGURE.items()}
_EDGE = r"(?![\w:/%°-]|[.,]\d)"
# A number before what it counts, or alone: never the number of a title ("Part 2", "it takes two").
_WORD = re.compile(
    rf"(?<![\w-])({'|'.join(_WORDS)})(?= [a-z]){_EDGE}|^({'|'.join(_WORDS)})(?=\.?$)"
)
_FIGURE = re.compile(rf"(?<![\w.,:/$£€#-])(\d\d?)(?= [a-z]){_EDGE}|^(\d\d?)(?=\.?$)")

# Words by which the order of items carries meaning, in the question or in the answer.
_ORDERED = re.compile(
    r"\b(?:order|first|last|then|after|before|respectively|from|to|later|next|rank\w*|each)\b"
    r"|先|后|依次|分别|顺序|各|从|到",
    re.IGNORECASE,
)
_ITEM_WORDS = 4
_CLAUSE = re.compile(r"\b(?:is|are|was|were|has|have|had|who|which|that|because|but|or)\b", re.I)


def reformatted(question: str, gold: str) -> str | None:
    """Return `gold` with its dates, numbers or list order changed; None if none can be.

    The bag of normalised terms is unchanged, so a correct judge passes the result.
    """
    changed = _dates(gold)
    if changed == gold and not _DATED.search(gold):
        changed = _numbers(gold)
    if changed == gold and not _ORDERED.search(question):
        changed = _list(gold)
    same = Counter(terms(changed)) == Counter(terms(gold))
    return changed if same and changed != gold else None


def _dates(text: str) -> str:
    """Rewrite dates: 7 May 2023 -> May 7th, 2023 -> 2023-05-07; 2024年3月8日 -> 2024-03-08."""
    text, count = _DAY_FIRST.subn(lambda m: f"{m[2]} {_ordinal(int(m[1]))}, {m[3]}", text)
    if not count:
        text = _MONTH_FIRST.sub(
            lambda m: f"{m[3]}-{_MONTHS.index(m[1]) + 1:02}-{int(m[2]):02}", text
        )
    return _CHINESE.sub(lambda m: f"{m[1]}-{int(m[2]):02}-{int(m[3]):02}", text)


def _ordinal(day: int) -> str:
    ending = "th" if day in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"


def _numbers(text: str) -> str:
    """Replace number words by digits, or digits by words if there is no number word."""
    changed = _WORD.sub(lambda m: _TO_FIGURE[m[1] or m[2]], text)
    if changed != text:
        return changed
    return _FIGURE.sub(lambda m: _TO_WORD.get(m[1] or m[2], m[0]), text)


def _list(text: str) -> str:
    """Move the last of 3 or more items to the front: a, b, and c -> c, a, and b; also a、b、c.

    Without a comma before "and", only names: "tea, bread and butter" may be two items. Only items
    of similar length: in "a bowl of nuts, figs, and dates" the bowl contains all three.
    """
    if "、" in text and not re.search(r"[，。；,;和]", text):
        items = text.split("、")
        return "、".join([items[-1], *items[:-1]]) if len(items) > 2 else text
    body = text.rstrip(".")
    parts = re.split(r",? and |, ", body)
    lengths = [len(part.split()) for part in parts]
    if len(parts) < 3 or body.count(" and ") != 1 or _ORDERED.search(text) or _CLAUSE.search(text):
        return text
    if min(lengths) < 1 or max(lengths) > _ITEM_WORDS or max(lengths) - min(lengths) > 1:
        return text
    serial = ", and " in body
    if not serial and not all(part[0].isupper() for part in parts):
        return text
    *others, last = [parts[-1], *parts[:-1]]
    return ", ".join(others) + (", and " if serial else " and ") + last + text[len(body) :]
