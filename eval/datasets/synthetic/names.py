"""Names that nobody has: no model can have learnt them, and no two things share one."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

_FIRST = (
    "Al Bel Cor Dar El Fen Gar Hal Ist Jor Kel Lor Mar Nev Or Per Quin Ros Sel Tor Ul Vel Wil Yor"
)
_LAST = "ba bert da den do fin gar la len lo mar na nel ra ric sa sen ta ton va ven wyn"
_FIRM = "Bakery Foundry Library Mill Clinic Workshop Nursery Press"
_TOWN = "Port Upper Lower Saint Mount Old"
_DISH = "Stew Soup Pie Dumplings Bread Pudding"
_SURNAME = "沈林苏顾程陆宋叶江秦许傅郑彭范石"
_GIVEN = "青望明若云知远初晓清文安然思书禾舒朗宁溪"
_ZH = {
    "firm": ("面包店", "图书馆", "诊所", "工坊", "书店", "苗圃"),
    "town": ("镇", "村", "城"),
    "dish": ("饼", "汤", "粥", "面"),
}


class Names:
    """Names of one conversation, each given once. `kind`: person, firm, town or dish."""

    def __init__(self, language: str, random: Random) -> None:
        self._make = self._chinese if language == "zh" else self._english
        self._random, self._given = random, set[str]()

    def new(self, kind: str) -> str:
        """A name that was not given before."""
        return self._fresh(lambda: self._make(kind))

    def first(self) -> str:
        """The bare first name of somebody who speaks."""
        return self._fresh(lambda: self._make("person").split()[0])

    def _fresh(self, make: Callable[[], str]) -> str:
        while (name := make()) in self._given:
            pass
        self._given.add(name)
        return name

    def _english(self, kind: str) -> str:
        one, other = self._word(), self._word()
        if kind == "person":
            return f"{one} {other}"
        if kind == "town":
            return f"{self._random.choice(_TOWN.split())} {one}"
        return f"{one} {self._random.choice((_FIRM if kind == 'firm' else _DISH).split())}"

    def _word(self) -> str:
        ends = self._random.choices(_LAST.split(), k=self._random.choice((1, 2)))
        return self._random.choice(_FIRST.split()) + "".join(ends)

    def _chinese(self, kind: str) -> str:
        given = "".join(self._random.sample(_GIVEN, 2))
        if kind == "person":
            return self._random.choice(_SURNAME) + given
        return given + self._random.choice(_ZH[kind])
