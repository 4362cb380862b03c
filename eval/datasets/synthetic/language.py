"""How facts are put into words, asked for, and read back, in English and Chinese.

One grammar serves the teller and the reader that knows it (eval/readers/chain.py): what that reader
misses was lost before reading.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import ClassVar, Final, NamedTuple

from memsys.facts.dates import resolve

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


class Language(ABC):
    """Sentences have the places {s} subject, {v} value, {o} former value, {d} day, {f} fact."""

    sentences: ClassVar[Mapping[str, str]]  # of each relation
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

    def days_before(self, said: date, back: int) -> str:
        """A day as it is written."""
        return self.written(said - timedelta(back))

    def read(self, text: str, said: date) -> Iterator[Fact]:
        """Every fact in a `text` of the day `said`; a visit's value is its date, as answered."""
        for relation, sentence in self.sentences.items():
            for match in re.finditer(sentence.format(**self.patterns), text):
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
    def ask(self, subject: str, chain: tuple[str, ...]) -> str:
        """The question for what a chain of relations leads to, or for the day of a visit."""

    @abstractmethod
    def asked(self, question: str) -> tuple[str, tuple[str, ...]] | None:
        """Subject and chain of a question; None where `ask` did not write it."""


def _personal(relation: str) -> bool:
    return RELATIONS[relation][1] == "person"


class English(Language):
    """Persons by possessives, the rest by `of`: the workplace of Velma Orr's cousin."""

    sentences: ClassVar = {
        **{relation: f"{{s}}'s {relation} is {{v}}" for relation in RELATIONS},
        "workplace": "{s} works at {v}",
        "town": "{s} stands in {v}",
        "dish": "{s} is known for {v}",
    }
    update = "{f} now; before, it was {o}"
    visit = "{s} visited {v} {d}"
    days = ("yesterday", "the day before yesterday", "three days ago", "four days ago")
    dated = "on {}"
    frames = ("{}.", "By the way, {}.", "I heard that {}.", "As far as I know, {}.")
    _NAME: Final = "[A-Z][a-z]+(?: [A-Z][a-z]+)*"
    patterns: ClassVar = {
        "s": f"(?P<s>{_NAME})",
        "v": f"(?P<v>{_NAME})",
        "d": r"(?:on )?(?P<d>[^.;]+)",
    }
    _MONTHS: Final = tuple(f"{date(2000, month, 1):%B}" for month in range(1, 13))

    def written(self, day: date) -> str:
        """As in `6 May 2023`."""
        return f"{day.day} {self._MONTHS[day.month - 1]} {day.year}"

    def parse(self, words: str) -> date | None:
        """See Language."""
        match = re.fullmatch(rf"(\d+) ({'|'.join(self._MONTHS)}) (\d+)", words)
        return (
            date(int(match[3]), self._MONTHS.index(match[2]) + 1, int(match[1])) if match else None
        )

    def ask(self, subject: str, chain: tuple[str, ...]) -> str:
        """See Language."""
        if chain[0].startswith(VISIT):
            return f"When did {subject} visit {chain[0].removeprefix(VISIT)}?"
        for relation in chain:
            subject = (
                f"{subject}'s {relation}" if _personal(relation) else f"the {relation} of {subject}"
            )
        return f"{'Who' if _personal(chain[-1]) else 'What'} is {subject}?"

    def asked(self, question: str) -> tuple[str, tuple[str, ...]] | None:
        """See Language."""
        if visit := re.fullmatch(r"When did (.+?) visit (.+)\?", question):
            return visit[1], (VISIT + visit[2],)
        whole = re.fullmatch(r"(?:Who|What) is (.+)\?", question)
        rest, chain = whole[1] if whole else "", list[str]()
        while True:
            if outer := re.fullmatch(r"the (\w+) of (.+)", rest):
                relation, rest = outer.groups()
            elif outer := re.fullmatch(r"(.+)'s (\w+)", rest):
                rest, relation = outer.groups()
            else:
                return (rest, tuple(chain)) if chain else None
            chain.insert(0, relation)


class Chinese(Language):
    """Every relation by 的, as in 沈青禾的表亲的单位."""

    _WORDS: Final = {
        "neighbour": "邻居",
        "cousin": "表亲",
        "teacher": "老师",
        "workplace": "单位",
        "town": "所在地",
        "dish": "名菜",
    }
    sentences: ClassVar = {
        "neighbour": "{s}的邻居是{v}",
        "cousin": "{s}的表亲是{v}",
        "teacher": "{s}的老师是{v}",
        "workplace": "{s}的单位是{v}",
        "town": "{s}的所在地是{v}",
        "dish": "{s}的名菜是{v}",
    }
    update = "{f}；以前是{o}"
    visit = "{s}在{d}去了{v}"
    days = ("昨天", "前天", "三天前", "四天前")
    dated = "{}"
    frames = ("{}。", "对了，{}。", "听人说，{}。", "据我所知，{}。")
    patterns: ClassVar = {
        "s": "(?P<s>[一-龥]{2,6}?)",
        "v": "(?P<v>[一-龥]{2,6})(?=[。；])",
        "d": "(?P<d>[^。；]+?)",
    }

    def written(self, day: date) -> str:
        """As in `2023年5月6日`."""
        return f"{day.year}年{day.month}月{day.day}日"

    def parse(self, words: str) -> date | None:
        """See Language."""
        match = re.fullmatch(r"(\d+)年(\d+)月(\d+)日", words)
        return date(*map(int, match.groups())) if match else None

    def ask(self, subject: str, chain: tuple[str, ...]) -> str:
        """See Language."""
        if chain[0].startswith(VISIT):
            return f"{subject}什么时候去了{chain[0].removeprefix(VISIT)}？"
        wanted = "谁" if _personal(chain[-1]) else "什么"
        return "的".join([subject, *(self._WORDS[one] for one in chain)]) + f"是{wanted}？"

    def asked(self, question: str) -> tuple[str, tuple[str, ...]] | None:
        """See Language."""
        if visit := re.fullmatch(r"(.+)什么时候去了(.+)？", question):
            return visit[1], (VISIT + visit[2],)
        relations = {word: relation for relation, word in self._WORDS.items()}
        whole = re.fullmatch(r"(.+?)((?:的\w+?)+)是(?:谁|什么)？", question)
        words = whole[2].split("的")[1:] if whole else []
        if whole is None or any(word not in relations for word in words):
            return None
        return whole[1], tuple(relations[word] for word in words)


LANGUAGES: Final[Mapping[str, Language]] = {"en": English(), "zh": Chinese()}
