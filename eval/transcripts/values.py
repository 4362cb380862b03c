"""Values in a sentence, by rule: versions, paths, identifiers, numbers, names and dates."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from datetime import date
from typing import Final, Literal, NamedTuple

from memsys.core.dates import MONTH_NUMBERS, WEEKDAYS
from memsys.core.english_dates import find_dates
from memsys.core.numbers import CARDINALS
from memsys.core.terms import QUOTED, STOPWORDS
from memsys.core.titles import SMALL_TALK

Kind = Literal["version", "path", "identifier", "date", "number", "name"]
_FILES = (
    "py|js|ts|tsx|jsx|json|jsonl|yaml|yml|toml|md|txt|csv|rs|go|java|rb|php|c|h|cpp|sh|html|css|sql"
    "|ipynb|pdf|docx|xlsx|png|jpg|log|cfg|ini|env|lock"
)
_WORDS = "|".join(
    word for word, value in CARDINALS.items() if value > 2
)  # "you two" counts nothing
# A kind that comes first takes the characters: 3.11.2 is a version and no number.
_PATTERNS: Final[dict[Kind, re.Pattern[str]]] = {
    "identifier": re.compile(r"`([^`\n]{2,60})`"),
    "path": re.compile(
        rf"(?<![\w:/])((?:~|\.{{1,2}}|[A-Za-z]:)?(?:[\\/][\w.@-]+){{2,}}|[\w.@-]+(?:/[\w.@-]+){{2,}}"
        rf"|(?:[\w@-]+[\\/])*[\w@-][\w.@-]*\.(?:{_FILES})\b)"
    ),
    "version": re.compile(r"(?<![\w.])(v\d+(?:\.\d+)*|\d+(?:\.\d+){2,}(?:[-.]?[a-z]+\d*)?)(?!\w)"),
    "number": re.compile(
        rf"(?<![\w.,])([$€£]?\d+(?:,\d{{3}})*(?:\.\d+)?(?:\s?(?:%|[kKMG]B|ms|km|kg|GB|MB))?"
        rf"|\b(?:{_WORDS})\b)(?!\w|[.,]\d)",
        re.IGNORECASE,
    ),
    "name": re.compile(
        r"(?<![.!?:\"“(*]\s)(?<![-\w'’\"“‘])(?<!^)"
        r"([A-Z][\w&-]+(?:\s+(?:of\s+(?:the\s+)?)?[A-Z][\w&-]+){0,3})"
    ),
}
_NO_NAMES = frozenset(MONTH_NUMBERS) | frozenset(WEEKDAYS) | STOPWORDS | SMALL_TALK


class Value(NamedTuple):
    """A value of a sentence and its characters `start` to `end`, `end` excluded.

    `text`: as written; of a date, its resolved wording.
    """

    kind: Kind
    text: str
    start: int
    end: int


def values(sentence: str, said: date, speakers: Collection[str]) -> list[Value]:
    """Return the values of `sentence`, said on the day `said`, which do not overlap.

    `speakers`: their names are no values. Dates are resolved against `said`.
    """
    found: list[Value] = []
    for value in _candidates(sentence, said, speakers):
        if all(value.end <= one.start or value.start >= one.end for one in found):
            found.append(value)
    return sorted(found, key=lambda one: one.start)


def _candidates(sentence: str, said: date, speakers: Collection[str]) -> Iterator[Value]:
    """Yield possible values; of two that overlap, the first is right."""
    ignored = {part.casefold() for name in speakers for part in name.split()}
    for kind in ("identifier", "path", "version"):
        yield from _matches(kind, sentence)
    for date_ in find_dates(sentence, said):
        yield Value("date", date_.period.text, date_.start, date_.end)
    for match in QUOTED.finditer(sentence):
        if match[1][0].isupper():
            yield Value("name", match[1].strip(" ,.!?"), *match.span())
    yield from _matches("number", sentence)
    for one in _matches("name", sentence):
        first = one.text.split()[0].casefold()
        before = sentence[: one.start].split()[-1:]  # of "German Shepherds": no whole name
        is_speaker = any(name.startswith(first) for name in ignored)  # or a short form of the name
        if before and before[0][0].isupper() and before[0].isalpha():
            continue
        if first not in _NO_NAMES and not is_speaker and len(one.text) > 2:
            yield one


def _matches(kind: Kind, sentence: str) -> Iterator[Value]:
    for match in _PATTERNS[kind].finditer(sentence):
        yield Value(kind, match[1].rstrip(".-&"), *match.span())
