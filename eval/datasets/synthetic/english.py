"""The English of `dataset=synthetic`."""

from __future__ import annotations

import re
from datetime import date
from typing import ClassVar, Final

from eval.datasets.synthetic.language import RELATIONS, VISIT, Language, Wanted, personal


class English(Language):
    """Persons by possessives, the rest by `of`: the workplace of Velma Orr's cousin."""

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
        """As in `6 May 2023`."""
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

    def asked(self, question: str) -> Wanted | None:
        """See Language."""
        if visit := re.fullmatch(r"When did (.+?) visit (.+)\?", question):
            return Wanted(visit[1], (VISIT + visit[2],))
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
                return Wanted(rest, tuple(chain), day) if chain else None
            chain.insert(0, relation)
