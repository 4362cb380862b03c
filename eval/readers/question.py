"""Parse a question: the kind of answer, the people, the dates and the language."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from enum import Enum
from functools import lru_cache
from pathlib import Path

from eval.readers.sentences import LIGHT, root
from memsys.core.any_dates import dates_of
from memsys.core.dates import DateMention
from memsys.core.tables import load_table
from memsys.core.terms import STOPWORDS, cjk_terms, is_cjk, words


class Kind(Enum):
    """Kind of answer that a question asks for."""

    WHEN = "when"
    DURATION = "duration"
    COUNT = "count"
    OFTEN = "often"
    WHO = "who"
    WHERE = "where"
    WHY = "why"
    HOW = "how"
    MOOD = "mood"
    CHOICE = "choice"
    YES_NO = "yes_no"
    WHAT = "what"


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """A question as the reader sees it.

    `people` are the speakers that it names; `roots` its content roots without them and without its
    dates; `unit` is the noun counted or the precision of the date asked for (day, month, year), ""
    if there is none. `many`: a list is asked for; `hedged`: a likelihood; `shown`: an image.
    """

    text: str
    chinese: bool
    kind: Kind
    people: tuple[str, ...]
    roots: frozenset[str]
    dates: tuple[DateMention, ...]
    unit: str
    many: bool
    hedged: bool
    shown: bool


_TABLE = load_table(Path(__file__).parent / "question.yaml")
_KINDS = {
    chinese: [(Kind(kind), re.compile(pattern, re.IGNORECASE)) for kind, pattern in table.items()]
    for chinese, table in ((False, _TABLE["english"]), (True, _TABLE["chinese"]))
}
_MANY, _HEDGED, _SHOWN, _UNIT, _GRAIN, _ASKING_ZH = (
    re.compile(_TABLE[name], re.IGNORECASE)
    for name in ("many", "hedged", "shown", "unit", "grain", "asking_zh")
)


def _unit(text: str, kind: Kind) -> str:
    """Return the noun counted, or the precision of the date asked for (day, month, year)."""
    if kind is Kind.WHEN:
        grain = _GRAIN.search(text)
        return next(name for name, hit in grain.groupdict().items() if hit) if grain else ""
    unit = _UNIT.search(text)
    return (unit["en"] or unit["zh"] or "").lower() if unit else ""


def named_people(text: str, speakers: tuple[str, ...]) -> tuple[str, ...]:
    """Return the speakers that a text names, by full name, first name or nickname.

    A nickname is a capitalised beginning, of three letters or more, of the name: "Alex" of
    "Alexandra".
    """
    found = []
    for speaker in speakers:
        first = speaker.split()[0] if speaker.split() else speaker
        if is_cjk(speaker):
            hit = speaker in text or (len(speaker) > 2 and speaker[1:] in text)
        else:
            capitals = re.findall(r"\b[A-Z][a-z]{2,}", text)
            hit = any(first == word or first.startswith(word) for word in capitals)
        if hit:
            found.append(speaker)
    return tuple(found)


@lru_cache(maxsize=4_096)
def analyse(text: str, speakers: tuple[str, ...], asked_on: date) -> ParsedQuestion:
    """Parse a question. `speakers` are those of the retrieved memories, `asked_on` their last day.

    A month without a year in the question is taken nearest to `asked_on`.
    """
    chinese = is_cjk(text)
    people = named_people(text, speakers)
    dates = tuple(m for m in dates_of(text, asked_on) if m.period.precision != "since")
    bare = text
    for mention in dates:
        bare = bare[: mention.start] + " " * (mention.end - mention.start) + bare[mention.end :]
    content: set[str] = set()
    if chinese:
        bare = _ASKING_ZH.sub(" ", bare)
        for person in people:
            bare = bare.replace(person, " ")
    called = {part.lower() for person in people for part in person.split()}
    for word in words(bare):
        if is_cjk(word):
            content.update(cjk_terms(word))
        elif word not in STOPWORDS and word not in LIGHT:
            plain = word.removesuffix("'s")
            nick = len(plain) > 2 and any(name.startswith(plain) for name in called)
            if not nick:
                content.add(root(word))
    kinds = (kind for kind, pattern in _KINDS[chinese] if pattern.search(text))
    kind = next(kinds, Kind.WHAT)
    return ParsedQuestion(
        text=text,
        chinese=chinese,
        kind=kind,
        people=people,
        roots=frozenset(content),
        dates=dates,
        unit=_unit(text, kind),
        many=_MANY.search(text) is not None,
        hedged=_HEDGED.search(text) is not None,
        shown=_SHOWN.search(text) is not None,
    )
