"""The languages of `dataset=synthetic`, by code."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import ClassVar, Final

from eval.datasets.synthetic.language import (
    RELATIONS,
    VISIT,
    Language,
    ParsedQuestion,
    personal,
)


class English(Language):
    """English: possessives of persons, else `of`, as in the workplace of Velma Orr's cousin."""

    sentences: ClassVar = {
        **{relation: f"{{s}}'s {relation} is {{v}}" for relation in RELATIONS},
        "workplace": "{s} works at {v}",
        "town": "{s} stands in {v}",
        "dish": "{s} is known for {v}",
    }
    names: ClassVar = {
        **{relation: f"has as {relation}" for relation in RELATIONS},
        "workplace": "works at",
        "town": "stands in",
        "dish": "is known for",
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
        """Return a day as in `6 May 2023`."""
        return f"{day.day} {self._MONTHS[day.month - 1]} {day.year}"

    def parse(self, words: str) -> date | None:
        """See Language."""
        match = re.fullmatch(rf"(\d+) ({'|'.join(self._MONTHS)}) (\d+)", words)
        return (
            date(int(match[3]), self._MONTHS.index(match[2]) + 1, int(match[1])) if match else None
        )

    def ask(self, subject: str, chain: tuple[str, ...], day: date | None = None) -> str:
        """See Language."""
        if chain[0].startswith(VISIT):
            return f"When did {subject} visit {chain[0].removeprefix(VISIT)}?"
        for relation in chain:
            subject = (
                f"{subject}'s {relation}" if personal(relation) else f"the {relation} of {subject}"
            )
        whose = "Who" if personal(chain[-1]) else "What"
        if day is None:
            return f"{whose} is {subject}?"
        return f"{whose} was {subject} on {self.written(day)}?"

    def parse_question(self, question: str) -> ParsedQuestion | None:
        """See Language."""
        if visit := re.fullmatch(r"When did (.+?) visit (.+)\?", question):
            return ParsedQuestion(visit[1], (VISIT + visit[2],))
        whole = re.fullmatch(r"(?:Who|What) (?:is (.+)|was (.+) on (.+))\?", question)
        if whole is None:
            return None
        rest, day, chain = whole[1] or whole[2], self.parse(whole[3] or ""), list[str]()
        while True:
            if outer := re.fullmatch(r"the (\w+) of (.+)", rest):
                relation, rest = outer.groups()
            elif outer := re.fullmatch(r"(.+)'s (\w+)", rest):
                rest, relation = outer.groups()
            else:
                return ParsedQuestion(rest, tuple(chain), day) if chain else None
            chain.insert(0, relation)


class Chinese(Language):
    """Chinese: every relation by 的, as in 沈青禾的表亲的单位."""

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
    names: ClassVar = {relation: f"的{word}是" for relation, word in _WORDS.items()}
    update = "{f}；以前是{o}"
    visit = "{s}在{d}去了{v}"
    days = ("昨天", "前天", "三天前", "四天前")
    dated = "{}"
    frames = ("{}。", "对了，{}。", "听人说，{}。", "据我所知，{}。")
    patterns: ClassVar = {
        "s": "(?P<s>[一-龥]{2,6}?)",
        "v": r"(?P<v>[一-龥]{2,6})(?=[。；\n]|$| \()",
        "d": "(?P<d>[^。；]+?)",
    }

    def written(self, day: date) -> str:
        """Return a day as in `2023年5月6日`."""
        return f"{day.year}年{day.month}月{day.day}日"

    def parse(self, words: str) -> date | None:
        """See Language."""
        match = re.fullmatch(r"(\d+)年(\d+)月(\d+)日", words)
        return date(*map(int, match.groups())) if match else None

    def ask(self, subject: str, chain: tuple[str, ...], day: date | None = None) -> str:
        """See Language."""
        if chain[0].startswith(VISIT):
            return f"{subject}什么时候去了{chain[0].removeprefix(VISIT)}？"
        wanted = "谁" if personal(chain[-1]) else "什么"
        text = "的".join([subject, *(self._WORDS[one] for one in chain)]) + f"是{wanted}？"
        return text if day is None else f"{self.written(day)}那天，{text}"

    def parse_question(self, question: str) -> ParsedQuestion | None:
        """See Language."""
        if visit := re.fullmatch(r"(.+)什么时候去了(.+)？", question):
            return ParsedQuestion(visit[1], (VISIT + visit[2],))
        relations = {word: relation for relation, word in self._WORDS.items()}
        whole = re.fullmatch(r"(?:(.+)那天，)?(.+?)((?:的\w+?)+)是(?:谁|什么)？", question)
        words = whole[3].split("的")[1:] if whole else []
        if whole is None or any(word not in relations for word in words):
            return None
        chain = tuple(relations[word] for word in words)
        return ParsedQuestion(whole[2], chain, self.parse(whole[1] or ""))


LANGUAGES: Final[Mapping[str, Language]] = {"en": English(), "zh": Chinese()}


def parse_question(question: str) -> tuple[Language, ParsedQuestion] | None:
    """Return the language and the parts of a generated question; None for any other question."""
    for language in LANGUAGES.values():
        if parsed := language.parse_question(question):
            return language, parsed
    return None
