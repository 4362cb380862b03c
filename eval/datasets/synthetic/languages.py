"""The grammar of `dataset=synthetic`: relations, sentences, questions and names of each language.

Three parts use it: the generator, which writes facts; the reader that knows it
(eval/readers/chain.py), so that all it misses was lost before reading; and the model that writes
memories (model.py). The texts are in languages.yaml.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

import yaml

from memsys.core.chinese_dates import resolve
from memsys.core.dates import MONTHS

RELATIONS: Final = {  # kinds of subject and value
    "neighbour": ("person", "person"),
    "cousin": ("person", "person"),
    "teacher": ("person", "person"),
    "workplace": ("person", "firm"),
    "town": ("firm", "town"),
    "dish": ("town", "dish"),
}
VISIT: Final = "visit "  # before a place: relation of a person and the day of the visit


def place_of(relation: str) -> str | None:
    """Return the place of a visit; None for another relation."""
    return relation.removeprefix(VISIT) if relation.startswith(VISIT) else None


class WorldFact(NamedTuple):
    """The `relation` of `subject` is `value`."""

    subject: str
    relation: str
    value: str

    @property
    def key(self) -> tuple[str, str]:
        """Subject and relation."""
        return self.subject, self.relation

    @property
    def place(self) -> str | None:
        """The place of a visit; None of another fact."""
        return place_of(self.relation)


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


class QuestionChain(NamedTuple):
    """A question for the end of `chain`, which starts at `subject`, now or on a former `day`."""

    subject: str
    chain: tuple[str, ...]
    day: date | None = None


@dataclass(frozen=True)
class Language:
    """A language: its texts, as languages.yaml describes them, and the forms that need rules, which
    are the English ones here: possessives of persons, else `of` (the workplace of Orr's cousin).

    `days`: words for one day ago, two days ago, ... `frames`: utterances around a sentence.
    `forget`: a request to delete; `inject`: an instruction with a wrong fact.
    """

    sentences: Mapping[str, str]
    names: Mapping[str, str]
    update: str
    forget: str
    inject: str
    visit: str
    days: Sequence[str]
    dated: str
    frames: Sequence[str]
    patterns: Mapping[str, str]
    small_talk: Sequence[str]
    name_parts: Mapping[str, str]

    def clause(self, fact: WorldFact) -> str:
        """Return a fact that is no visit as a sentence without its full stop."""
        return self.sentences[fact.relation].format(s=fact.subject, v=fact.value)

    def sentence(self, statement: Statement, said: date) -> str:
        """Return a statement made on the day `said` as a sentence without its full stop."""
        fact = statement.fact
        if fact.relation == VISIT:
            day = self.days[statement.back - 1]
            if not statement.relative:
                day = self.dated.format(self.days_before(said, statement.back))
            return self.visit.format(s=fact.subject, v=fact.value, d=day)
        if statement.former is None:
            return self.clause(fact)
        return self.update.format(f=self.clause(fact), o=statement.former)

    def restate(self, fact: WorldFact) -> str:
        """Return a parsed fact as a full sentence; a visit with its day."""
        if fact.place is None:
            return self.frames[0].format(self.clause(fact))
        day = self.dated.format(fact.value)
        return self.frames[0].format(self.visit.format(s=fact.subject, v=fact.place, d=day))

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
            day = self.parse(match["d"])
            if day is None and len(resolved := resolve(match["d"], said) or "") == len(
                "2023-05-06"
            ):
                day = date.fromisoformat(resolved)
            if day is not None:
                yield WorldFact(match["s"], VISIT + match["v"], self.written(day))

    def written(self, day: date) -> str:
        """Return a day as it is written: `6 May 2023`."""
        return f"{day.day} {MONTHS[day.month - 1]} {day.year}"

    def parse(self, words: str) -> date | None:
        """Return the day in the form of `written`; None for another form."""
        match = re.fullmatch(rf"(\d+) ({'|'.join(MONTHS)}) (\d+)", words)
        return date(int(match[3]), MONTHS.index(match[2]) + 1, int(match[1])) if match else None

    def ask(self, subject: str, chain: tuple[str, ...], day: date | None = None) -> str:
        """Return the question for the end of a chain, now or on a former `day`, or for the day of a
        visit.
        """
        if (place := place_of(chain[0])) is not None:
            return f"When did {subject} visit {place}?"
        asked = self.phrase(subject, chain)
        whose = "Who" if personal(chain[-1]) else "What"
        return (
            f"{whose} is {asked}?"
            if day is None
            else f"{whose} was {asked} on {self.written(day)}?"
        )

    def phrase(self, subject: str, chain: tuple[str, ...]) -> str:
        """Return the end of a chain as a noun phrase, such as "Velma Orr's cousin"."""
        for relation in chain:
            subject = (
                f"{subject}'s {relation}" if personal(relation) else f"the {relation} of {subject}"
            )
        return subject

    def similar(self, person: str, random: Random) -> str:
        """Return a random name of a person that shares a part with the name `person`."""
        return f"{person.split(maxsplit=1)[0]} {self._word(random)}"

    def parse_question(self, question: str) -> QuestionChain | None:
        """Parse a question written by `ask`; None for any other."""
        if visit := re.fullmatch(r"When did (.+?) visit (.+)\?", question):
            return QuestionChain(visit[1], (VISIT + visit[2],))
        whole = re.fullmatch(r"(?:Who|What) (?:is (.+)|was (.+) on (.+))\?", question)
        if whole is None:
            return None
        rest, day, chain = whole[1] or whole[2], self.parse(whole[3] or ""), list[str]()
        while outer := re.fullmatch(r"the (\w+) of (.+)|(.+)'s (\w+)", rest):
            chain.insert(0, outer[1] or outer[4])
            rest = outer[2] or outer[3]
        return QuestionChain(rest, tuple(chain), day) if chain else None

    def invent(self, kind: str, random: Random) -> str:
        """Return a random name of a person, firm, town or dish."""
        one, other = self._word(random), self._word(random)
        if kind == "person":
            return f"{one} {other}"
        part = self._part(kind, random)
        return f"{part} {one}" if kind == "town" else f"{one} {part}"

    def _word(self, random: Random) -> str:
        ends = random.choices(self.name_parts["end"].split(), k=random.choice((1, 2)))
        return self._part("start", random) + "".join(ends)

    def _part(self, kind: str, random: Random) -> str:
        return random.choice(self.name_parts[kind].split())


def personal(relation: str) -> bool:
    """Return whether the value of `relation` is a person."""
    return RELATIONS[relation][1] == "person"


class Chinese(Language):
    """The Chinese grammar: every relation is expressed by 的, as in 沈青禾的表亲的单位; a day is
    written as 2023年5月6日.
    """

    def written(self, day: date) -> str:
        """See Language."""
        return f"{day.year}年{day.month}月{day.day}日"

    def parse(self, words: str) -> date | None:
        """See Language."""
        match = re.fullmatch(r"(\d+)年(\d+)月(\d+)日", words)
        return date(*map(int, match.groups())) if match else None

    def ask(self, subject: str, chain: tuple[str, ...], day: date | None = None) -> str:
        """See Language."""
        if (place := place_of(chain[0])) is not None:
            return f"{subject}什么时候去了{place}？"
        wanted = "谁" if personal(chain[-1]) else "什么"
        text = f"{self.phrase(subject, chain)}是{wanted}？"
        return text if day is None else f"{self.written(day)}那天，{text}"

    def phrase(self, subject: str, chain: tuple[str, ...]) -> str:
        """See Language."""
        return "的".join([subject, *map(self._noun, chain)])

    def similar(self, person: str, random: Random) -> str:
        """See Language."""
        return person[0] + self._word(random)

    def parse_question(self, question: str) -> QuestionChain | None:
        """See Language."""
        if visit := re.fullmatch(r"(.+)什么时候去了(.+)？", question):
            return QuestionChain(visit[1], (VISIT + visit[2],))
        relations = {self._noun(relation): relation for relation in RELATIONS}
        whole = re.fullmatch(r"(?:(.+)那天，)?(.+?)((?:的\w+?)+)是(?:谁|什么)？", question)
        words = whole[3].split("的")[1:] if whole else []
        if whole is None or any(word not in relations for word in words):
            return None
        chain = tuple(relations[word] for word in words)
        return QuestionChain(whole[2], chain, self.parse(whole[1] or ""))

    def invent(self, kind: str, random: Random) -> str:
        """See Language."""
        given = self._word(random)
        if kind == "person":
            return self._part("surname", random) + given
        return given + self._part(kind, random)

    def _word(self, random: Random) -> str:
        return "".join(random.sample(self.name_parts["given"].split(), 2))

    def _noun(self, relation: str) -> str:
        return self.names[relation].removeprefix("的").removesuffix("是")


_TEXTS = yaml.safe_load(Path(__file__).with_name("languages.yaml").read_text(encoding="utf-8"))
LANGUAGES: Final[Mapping[str, Language]] = {
    "en": Language(**_TEXTS["en"]),
    "zh": Chinese(**_TEXTS["zh"]),
}


def parse_question(question: str) -> tuple[Language, QuestionChain] | None:
    """Return the language and the parts of a generated question; None for any other question."""
    for language in LANGUAGES.values():
        if parsed := language.parse_question(question):
            return language, parsed
    return None
