"""How facts are put into words, asked for, and read back, in any language.

One grammar serves the teller, the reader that knows it (eval/readers/chain.py): what that reader
misses was lost before reading; and the model that writes memories of it (model.py).
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import ClassVar, Final, NamedTuple

from memsys.text.relative_dates import resolve

RELATIONS: Final = {  # from what to what each leads
    "neighbour": ("person", "person"),
    "cousin": ("person", "person"),
    "teacher": ("person", "person"),
    "workplace": ("person", "firm"),
    "town": ("firm", "town"),
    "dish": ("town", "dish"),
}
VISIT: Final = "visit "  # before a place: the relation of a person and the day it was visited


class Fact(NamedTuple):
    """What is told: of `subject`, that its `relation` is `value`."""

    subject: str
    relation: str
    value: str


@dataclass(frozen=True, slots=True)
class Telling:
    """One fact at one place of the conversation; `former`: its value before. `back`: for a visit
    (whose value is the place), how many days before it is told, and whether in `relative` words.
    """

    place: int
    fact: Fact
    former: str | None = None
    back: int = 0
    relative: bool = False


class Wanted(NamedTuple):
    """What a question asks for: where `chain` leads from `subject`, now or on a former `day`."""

    subject: str
    chain: tuple[str, ...]
    day: date | None = None


class Language(ABC):
    """Sentences have the places {s} subject, {v} value, {o} former value, {d} day, {f} fact."""

    sentences: ClassVar[Mapping[str, str]]  # of each relation
    names: ClassVar[Mapping[str, str]]  # of each relation, between {s} and {v} in a graph
    update: ClassVar[str]
    visit: ClassVar[str]
    days: ClassVar[tuple[str, ...]]  # one day ago, two days ago, ...
    dated: ClassVar[str]  # what a day is said in that is told as a date
    frames: ClassVar[tuple[str, ...]]  # what a sentence is said in
    patterns: ClassVar[Mapping[str, str]]  # what s, v and d look like

    def told(self, telling: Telling, said: date) -> str:
        """A telling as a sentence without its stop, said on a day."""
        fact = telling.fact
        if not fact.relation.startswith(VISIT):
            told = self.sentences[fact.relation].format(s=fact.subject, v=fact.value)
            return told if telling.former is None else self.update.format(f=told, o=telling.former)
        day = self.days[telling.back - 1]
        if not telling.relative:
            day = self.dated.format(self.days_before(said, telling.back))
        return self.visit.format(s=fact.subject, v=fact.value, d=day)

    def stated(self, fact: Fact) -> str:
        """A fact as it was read, as a sentence of its own: a visit with its day."""
        if not fact.relation.startswith(VISIT):
            return self.frames[0].format(
                self.sentences[fact.relation].format(s=fact.subject, v=fact.value)
            )
        place, day = fact.relation.removeprefix(VISIT), self.dated.format(fact.value)
        return self.frames[0].format(self.visit.format(s=fact.subject, v=place, d=day))

    def days_before(self, said: date, back: int) -> str:
        """A day as it is written."""
        return self.written(said - timedelta(back))

    def read(self, text: str, said: date) -> Iterator[Fact]:
        """Every fact in a `text` of the day `said`; a visit's value is its date, as answered."""
        for relation, sentence in self.sentences.items():
            # As a sentence, or as a relation of a graph is shown; some are the same.
            for form in dict.fromkeys((sentence, f"{{s}} {self.names[relation]} {{v}}")):
                for match in re.finditer(form.format(**self.patterns), text):
                    yield Fact(match["s"], relation, match["v"])
        for match in re.finditer(self.visit.format(**self.patterns), text):
            if day := self._day(match["d"], said):
                yield Fact(match["s"], VISIT + match["v"], self.written(day))

    def _day(self, words: str, said: date) -> date | None:
        if self.parse(words):
            return self.parse(words)
        found = resolve(words, said)
        return date.fromisoformat(found) if found and len(found) == len("2023-05-06") else None

    @abstractmethod
    def written(self, day: date) -> str:
        """A day as it is written."""

    @abstractmethod
    def parse(self, words: str) -> date | None:
        """The day that `written` wrote so."""

    @abstractmethod
    def ask(self, subject: str, chain: tuple[str, ...], day: date | None = None) -> str:
        """The question for what a chain of relations leads to, or led to on a former `day`; or for
        the day of a visit.
        """

    @abstractmethod
    def asked(self, question: str) -> Wanted | None:
        """What a question asks for; None where `ask` did not write it."""


def personal(relation: str) -> bool:
    """Whether `relation` leads to a person."""
    return RELATIONS[relation][1] == "person"
