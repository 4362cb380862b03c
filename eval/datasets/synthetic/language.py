"""Expressing facts in sentences, asking for them and parsing them, in any language.

One grammar serves three parts: the generator; the reader that knows it (eval/readers/chain.py), so
that all it misses was lost before reading; and the model that writes memories (model.py).
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import ClassVar, Final, NamedTuple

from memsys.text.relative_dates import resolve

RELATIONS: Final = {  # kinds of subject and value
    "neighbour": ("person", "person"),
    "cousin": ("person", "person"),
    "teacher": ("person", "person"),
    "workplace": ("person", "firm"),
    "town": ("firm", "town"),
    "dish": ("town", "dish"),
}
VISIT: Final = "visit "  # before a place: relation of a person and the day of the visit


class WorldFact(NamedTuple):
    """The `relation` of `subject` is `value`."""

    subject: str
    relation: str
    value: str


@dataclass(frozen=True, slots=True)
class Statement:
    """One fact stated in the turn number `turn` of the conversation.

    `former`: its value before. `back`: for a visit (whose value is the place), days between the
    visit and the statement; `relative`: whether the day is expressed in relative words.
    """

    turn: int
    fact: WorldFact
    former: str | None = None
    back: int = 0
    relative: bool = False


class ParsedQuestion(NamedTuple):
    """The end of `chain` starting at `subject` is asked for, now or on a former `day`."""

    subject: str
    chain: tuple[str, ...]
    day: date | None = None


class Language(ABC):
    """Sentences with the fields {s} subject, {v} value, {o} former value, {d} day, {f} fact."""

    sentences: ClassVar[Mapping[str, str]]  # of each relation
    names: ClassVar[Mapping[str, str]]  # of each relation, between {s} and {v} in a graph
    update: ClassVar[str]
    visit: ClassVar[str]
    days: ClassVar[tuple[str, ...]]  # one day ago, two days ago, ...
    dated: ClassVar[str]  # phrase around a date
    frames: ClassVar[tuple[str, ...]]  # utterances around a sentence
    patterns: ClassVar[Mapping[str, str]]  # regular expressions of s, v and d

    def sentence(self, statement: Statement, said: date) -> str:
        """Return a statement made on the day `said` as a sentence without its full stop."""
        fact = statement.fact
        if not fact.relation.startswith(VISIT):
            current = self.sentences[fact.relation].format(s=fact.subject, v=fact.value)
            if statement.former is None:
                return current
            return self.update.format(f=current, o=statement.former)
        day = self.days[statement.back - 1]
        if not statement.relative:
            day = self.dated.format(self.days_before(said, statement.back))
        return self.visit.format(s=fact.subject, v=fact.value, d=day)

    def restate(self, fact: WorldFact) -> str:
        """Return a parsed fact as a full sentence; a visit with its day."""
        if not fact.relation.startswith(VISIT):
            return self.frames[0].format(
                self.sentences[fact.relation].format(s=fact.subject, v=fact.value)
            )
        place, day = fact.relation.removeprefix(VISIT), self.dated.format(fact.value)
        return self.frames[0].format(self.visit.format(s=fact.subject, v=place, d=day))

    def days_before(self, said: date, back: int) -> str:
        """Return the day `back` days before `said`, as it is written."""
        return self.written(said - timedelta(back))

    def read(self, text: str, said: date) -> Iterator[WorldFact]:
        """Yield every fact in a `text` of the day `said`; a visit's value is its written day."""
        for relation, sentence in self.sentences.items():
            # As a sentence, or as a graph shows a relation; some are the same.
            for form in dict.fromkeys((sentence, f"{{s}} {self.names[relation]} {{v}}")):
                for match in re.finditer(form.format(**self.patterns), text):
                    yield WorldFact(match["s"], relation, match["v"])
        for match in re.finditer(self.visit.format(**self.patterns), text):
            if day := self._day(match["d"], said):
                yield WorldFact(match["s"], VISIT + match["v"], self.written(day))

    def _day(self, words: str, said: date) -> date | None:
        if day := self.parse(words):
            return day
        resolved = resolve(words, said)
        if resolved and len(resolved) == len("2023-05-06"):
            return date.fromisoformat(resolved)
        return None

    @abstractmethod
    def written(self, day: date) -> str:
        """Return a day as it is written."""

    @abstractmethod
    def parse(self, words: str) -> date | None:
        """Return the day in the form of `written`; None for another form."""

    @abstractmethod
    def ask(self, subject: str, chain: tuple[str, ...], day: date | None = None) -> str:
        """Return the question for the end of a chain, now or on a former `day`, or for the day of a
        visit.
        """

    @abstractmethod
    def parse_question(self, question: str) -> ParsedQuestion | None:
        """Parse a question written by `ask`; None for any other."""


def personal(relation: str) -> bool:
    """Return whether the value of `relation` is a person."""
    return RELATIONS[relation][1] == "person"
