"""A small world: names, chains of facts that change, visits, and questions about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise, product
from random import Random

from eval.datasets.synthetic.language import RELATIONS, VISIT, Statement, WorldFact
from eval.datasets.synthetic.parameters import Parameters
from memsys.errors import InputError

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
    """Invented, unique names of one conversation, which no model can have learnt.

    Kinds of names: person, firm, town, dish.
    """

    def __init__(self, language: str, random: Random) -> None:
        self._make = self._chinese if language == "zh" else self._english
        self._random, self._used = random, set[str]()

    def new(self, kind: str) -> str:
        """Return an unused name."""
        return self._fresh(lambda: self._make(kind))

    def first(self) -> str:
        """Return an unused first name, for a speaker."""
        return self._fresh(lambda: self._make("person").split()[0])

    def _fresh(self, make: Callable[[], str]) -> str:
        while (name := make()) in self._used:
            pass
        self._used.add(name)
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


class FreeTurns:
    """Turns without a statement, as numbers counted through all sessions, in random order."""

    def __init__(self, parameters: Parameters, random: Random) -> None:
        total = parameters.sessions * parameters.turns
        self._free, self._parameters = random.sample(range(total), total), parameters

    def take(self, number: int) -> list[int]:
        """Return `number` turns for one fact and its changes, in order of time.

        Raises InputError if the parameters allow no such turns.
        """
        taken: list[int] = []
        for turn in self._free:
            if len(taken) == number:
                break
            if self._fits(turn, taken):
                taken.append(turn)
        if len(taken) < number:
            raise InputError(
                "dataset: too few turns to state facts by one speaker or in separate sessions; "
                "raise sessions, turns or distractors, or lower updates"
            )
        used = set(taken)
        self._free = [turn for turn in self._free if turn not in used]
        return sorted(taken)

    def _fits(self, turn: int, taken: list[int]) -> bool:
        turns = self._parameters.turns
        if self._parameters.tellers == "one" and any((t - turn) % turns % 2 for t in taken):
            return False
        return not self._parameters.past or all(t // turns != turn // turns for t in taken)


@dataclass(frozen=True, slots=True)
class WorldQuestion:
    """A question: the start of its chain, the chain, its answer and its evidence.

    `answer`: None if it is never stated. `evidence`: turn numbers of the statements it requires, in
    the order of the chain. `until`: for a former answer, the turn in which it changes.
    """

    subject: str
    chain: tuple[str, ...]
    answer: str | None
    evidence: tuple[int, ...]
    until: int | None = None


def paths(hops: int) -> list[tuple[str, ...]]:
    """Return all chains of `hops` relations in which each starts at the value of the one before.

    Chains of more than one relation start at a person.
    """
    return [
        chain
        for chain in product(RELATIONS, repeat=hops)
        if (hops == 1 or RELATIONS[chain[0]][0] == "person")
        and all(RELATIONS[one][1] == RELATIONS[other][0] for one, other in pairwise(chain))
    ]


class SmallWorld:
    """Facts, each stated in a turn of its own, updates in order of time."""

    def __init__(self, names: Names, random: Random, free_turns: FreeTurns, past: bool) -> None:
        """`past`: earlier values are asked for, so no later statement may mention them."""
        self._names, self._random = names, random
        self._free_turns, self._past = free_turns, past
        self.statements: list[Statement] = []

    def chain(self, hops: int, updates: int) -> WorldQuestion:
        """State a chain of `hops` facts, each changed `updates` times; ask for the last values."""
        relations = self._random.choice(paths(hops))
        subject = start = self._names.new(RELATIONS[relations[0]][0])
        evidence = []
        for relation in relations:
            former = None
            for turn in self._free_turns.take(1 + updates):
                value = self._names.new(RELATIONS[relation][1])
                fact = WorldFact(subject, relation, value)
                self.statements.append(Statement(turn, fact, None if self._past else former))
                former, last = value, turn
            evidence.append(last)
            subject = value
        return WorldQuestion(start, relations, subject, tuple(evidence))

    def former(self, current: WorldQuestion) -> WorldQuestion:
        """Ask for an earlier value of the first fact of `current`."""
        key = current.subject, current.chain[0]
        stated = [one for one in self.statements if (one.fact.subject, one.fact.relation) == key]
        at = self._random.randrange(len(stated) - 1)
        value, evidence = stated[at].fact.value, (stated[at].turn,)
        return WorldQuestion(
            current.subject, current.chain[:1], value, evidence, stated[at + 1].turn
        )

    def visit(self, relative_share: float) -> WorldQuestion:
        """State a person's visit to a town; ask for its day, relative to the day of the session."""
        (turn,) = self._free_turns.take(1)
        fact = WorldFact(self._names.new("person"), VISIT, self._names.new("town"))
        relative = self._random.random() < relative_share
        back = self._random.randint(1, 4)
        self.statements.append(Statement(turn, fact, back=back, relative=relative))
        return WorldQuestion(fact.subject, (VISIT + fact.value,), None, (turn,))

    def unanswerable(self, current: WorldQuestion) -> WorldQuestion:
        """Ask for a fact about the subject of `current` that is never stated."""
        others = [
            relation
            for relation, (of, _) in RELATIONS.items()
            if of == "person" and relation != current.chain[0]
        ]
        return WorldQuestion(current.subject, (self._random.choice(others),), None, ())

    def near(self) -> None:
        """State a fact of the same kind as the others that nobody asks for."""
        relation = self._random.choice(list(RELATIONS))
        of, to = RELATIONS[relation]
        fact = WorldFact(self._names.new(of), relation, self._names.new(to))
        (turn,) = self._free_turns.take(1)
        self.statements.append(Statement(turn, fact))


def session_times(sessions: int, random: Random) -> Iterator[datetime]:
    """Yield times of sessions, three to ten days apart, at any minute of the day."""
    day = datetime(2023, 1, 9)
    for _ in range(sessions):
        yield day + timedelta(minutes=random.randrange(24 * 60))
        day += timedelta(days=random.randint(3, 10))
