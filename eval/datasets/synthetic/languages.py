"""The grammar of `dataset=synthetic`: relations, sentences, questions and names of each language.

Three parts use it: the generator, which writes facts; the reader that knows it
(eval/readers/chain.py), so that all it misses was lost before reading; and the model that writes
memories (model.py). The texts are in languages.yaml.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

import yaml

from memsys.core.chinese_dates import resolve

RELATIONS: Final = {  # kinds of subject and value
    "neighbour": ("person", "person"),
    "cousin": ("person", "person"),
    "teacher": ("person", "person"),
    "workplace": ("person", "firm"),
    "town": ("firm", "town"),
    "dish": ("town", "dish"),
}
_CHAIN: Final = {"s": ".+", "r": r"\w+"}  # parts of a relation of a subject
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
    """A language: its texts, as languages.yaml describes them, and how names are invented, which is
    the English way here.

    `days`: words for one day ago, two days ago, ... `frames`: utterances around a sentence.
    `forget`: a request to delete; `inject`: an instruction with a wrong fact. `day`: how a day is
    written. `asked`: questions; `chains`: a relation of a subject, by the kind of its value;
    `nouns`: names of relations in these, where they are others.
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
    day: str
    months: Sequence[str]
    asked: Mapping[str, str]
    chains: Mapping[str, str]
    nouns: Mapping[str, str]

    def clause(self, fact: WorldFact) -> str:
        """Return a fact that is no visit as a sentence without its full stop."""
        return self.sentences[fact.relation].format(s=fact.subject, v=fact.value)

    def sentence(self, statement: Statement, today: date) -> str:
        """Return a statement made on the day `today` as a sentence without its full stop."""
        fact = statement.fact
        if fact.relation == VISIT:
            day = self.days[statement.back - 1]
            if not statement.relative:
                day = self.dated.format(self.days_before(today, statement.back))
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

    def days_before(self, day: date, back: int) -> str:
        """Return the day `back` days before `day`, as it is written."""
        return self.written(day - timedelta(back))

    def read(self, text: str, today: date) -> Iterator[WorldFact]:
        """Yield every fact in a `text` of the day `today`; a visit's value is its written day."""
        for relation, sentence in self.sentences.items():
            # As a sentence, or as a graph shows a relation; some are the same.
            for form in dict.fromkeys((sentence, f"{{s}} {self.names[relation]} {{v}}")):
                for match in re.finditer(form.format(**self.patterns), text):
                    yield WorldFact(match["s"], relation, match["v"])
        for match in re.finditer(self.visit.format(**self.patterns), text):
            day = self.parse(match["d"])
            if day is None and len(resolved := resolve(match["d"], today) or "") == len(
                "2023-05-06"
            ):
                day = date.fromisoformat(resolved)
            if day is not None:
                yield WorldFact(match["s"], VISIT + match["v"], self.written(day))

    def written(self, day: date) -> str:
        """Return a day as it is written: `6 May 2023`."""
        return self.day.format(d=day.day, m=self.months[day.month - 1], y=day.year)

    def parse(self, words: str) -> date | None:
        """Return the day in the form of `written`; None for another form."""
        match = _parsed(self.day, words, d=r"\d+", m="|".join(self.months), y=r"\d+")
        if match is None:
            return None
        return date(int(match["y"]), self.months.index(match["m"]) + 1, int(match["d"]))

    def ask(self, subject: str, chain: tuple[str, ...], day: date | None = None) -> str:
        """Return the question for the end of a chain, now or on a former `day`, or for the day of a
        visit.
        """
        if (place := place_of(chain[0])) is not None:
            return self.asked["visit"].format(s=subject, v=place)
        words = {"w": self.asked[_kind(chain[-1])], "a": self.phrase(subject, chain)}
        if day is None:
            return self.asked["now"].format(**words)
        return self.asked["then"].format(**words, d=self.written(day))

    def phrase(self, subject: str, chain: tuple[str, ...]) -> str:
        """Return the end of a chain as a noun phrase, such as "Velma Orr's cousin"."""
        for relation in chain:
            noun = self.nouns.get(relation, relation)
            subject = self.chains[_kind(relation)].format(s=subject, r=noun)
        return subject

    def parse_question(self, question: str) -> QuestionChain | None:
        """Parse a question written by `ask`; None for any other."""
        if visit := _parsed(self.asked["visit"], question, s=".+?", v=".+"):
            return QuestionChain(visit["s"], (VISIT + visit["v"],))
        which = f"{self.asked['person']}|{self.asked['thing']}"
        then = _parsed(self.asked["then"], question, w=which, a=".+", d=".+")
        whole = then or _parsed(self.asked["now"], question, w=which, a=".+")
        if whole is None:
            return None
        rest, chain = whole["a"], list[str]()
        relations = {noun: relation for relation, noun in self.nouns.items()}
        forms = self.chains.values()
        while outer := next(filter(None, (_parsed(form, rest, **_CHAIN) for form in forms)), None):
            if relations and outer["r"] not in relations:
                return None
            chain.insert(0, relations.get(outer["r"], outer["r"]))
            rest = outer["s"]
        day = self.parse(then["d"]) if then else None
        return QuestionChain(rest, tuple(chain), day) if chain else None

    def similar(self, person: str, random: Random) -> str:
        """Return a random name of a person that shares a part with the name `person`."""
        return f"{person.split(maxsplit=1)[0]} {self._word(random)}"

    def invent(self, kind: str, random: Random) -> str:
        """Return a random name of a person, firm, town or dish."""
        word, other = self._word(random), self._word(random)
        if kind == "person":
            return f"{word} {other}"
        part = self._part(kind, random)
        return f"{part} {word}" if kind == "town" else f"{word} {part}"

    def _word(self, random: Random) -> str:
        ends = random.choices(self.name_parts["end"].split(), k=random.choice((1, 2)))
        return self._part("start", random) + "".join(ends)

    def _part(self, kind: str, random: Random) -> str:
        return random.choice(self.name_parts[kind].split())


def _kind(relation: str) -> str:
    """Return "person" or "thing", whatever the value of `relation` is."""
    return "person" if RELATIONS[relation][1] == "person" else "thing"


def _parsed(form: str, text: str, **parts: str) -> re.Match[str] | None:
    """Return the match of `text` with a `form`, whose parts in braces are these expressions."""
    pattern = re.escape(form)
    for name, part in parts.items():
        pattern = pattern.replace(rf"\{{{name}\}}", f"(?P<{name}>{part})")
    return re.fullmatch(pattern, text)


class Chinese(Language):
    """Chinese: names are invented another way."""

    def similar(self, person: str, random: Random) -> str:
        """See Language."""
        return person[0] + self._word(random)

    def invent(self, kind: str, random: Random) -> str:
        """See Language."""
        given = self._word(random)
        if kind == "person":
            return self._part("surname", random) + given
        return given + self._part(kind, random)

    def _word(self, random: Random) -> str:
        return "".join(random.sample(self.name_parts["given"].split(), 2))


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
