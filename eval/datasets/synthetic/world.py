"""A small world: chains of facts that change, visits, and what is asked about them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise, product
from random import Random

from eval.datasets.synthetic.language import RELATIONS, VISIT, Fact, Telling
from eval.datasets.synthetic.names import Names
from eval.datasets.synthetic.places import Places


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: where its chain starts, the chain, its answer (None: nothing was told), and the
    places of the tellings that it takes, in the order of the chain. `until`: the place where that
    answer changes, if it is a former one that is asked for.
    """

    subject: str
    chain: tuple[str, ...]
    answer: str | None
    evidence: tuple[int, ...]
    until: int | None = None


def paths(hops: int) -> list[tuple[str, ...]]:
    """Chains of so many relations, each leading from where the one before leads to; those of more
    than one begin with a person.
    """
    return [
        chain
        for chain in product(RELATIONS, repeat=hops)
        if (hops == 1 or RELATIONS[chain[0]][0] == "person")
        and all(RELATIONS[one][1] == RELATIONS[other][0] for one, other in pairwise(chain))
    ]


class World:
    """Tells facts at places of their own, updates in order of time."""

    def __init__(self, names: Names, random: Random, places: Places, past: bool) -> None:
        """`past`: earlier values are asked for, so no later telling may name them."""
        self._names, self._random = names, random
        self._places, self._past = places, past
        self.tellings: list[Telling] = []

    def chain(self, hops: int, updates: int) -> Asked:
        """A chain of `hops` facts, each of which changes `updates` times; the last values count."""
        relations = self._random.choice(paths(hops))
        subject = start = self._names.new(RELATIONS[relations[0]][0])
        evidence = []
        for relation in relations:
            former = None
            for place in self._places.changes(1 + updates):
                value = self._names.new(RELATIONS[relation][1])
                fact = Fact(subject, relation, value)
                self.tellings.append(Telling(place, fact, None if self._past else former))
                former, last = value, place
            evidence.append(last)
            subject = value
        return Asked(start, relations, subject, tuple(evidence))

    def former(self, known: Asked) -> Asked:
        """A question for one of the earlier values of the first fact of `known`."""
        key = known.subject, known.chain[0]
        told = [one for one in self.tellings if (one.fact.subject, one.fact.relation) == key]
        at = self._random.randrange(len(told) - 1)
        value, evidence = told[at].fact.value, (told[at].place,)
        return Asked(known.subject, known.chain[:1], value, evidence, told[at + 1].place)

    def visit(self, relative_share: float) -> Asked:
        """Somebody's visit to a town; the answer is told by whoever knows the days."""
        (place,) = self._places.changes(1)
        fact = Fact(self._names.new("person"), VISIT, self._names.new("town"))
        relative = self._random.random() < relative_share
        back = self._random.randint(1, 4)
        self.tellings.append(Telling(place, fact, back=back, relative=relative))
        return Asked(fact.subject, (VISIT + fact.value,), None, (place,))

    def untold(self, known: Asked) -> Asked:
        """A question about the person where `known` starts, for what was never told of them."""
        others = [
            relation
            for relation, (of, _) in RELATIONS.items()
            if of == "person" and relation != known.chain[0]
        ]
        return Asked(known.subject, (self._random.choice(others),), None, ())

    def near(self) -> None:
        """A fact of the same kind as the others that nobody asks for."""
        relation = self._random.choice(list(RELATIONS))
        of, to = RELATIONS[relation]
        fact = Fact(self._names.new(of), relation, self._names.new(to))
        (place,) = self._places.changes(1)
        self.tellings.append(Telling(place, fact))


def session_times(sessions: int, random: Random) -> Iterator[datetime]:
    """Three to ten days apart, at any minute of the day."""
    day = datetime(2023, 1, 9)
    for _ in range(sessions):
        yield day + timedelta(minutes=random.randrange(24 * 60))
        day += timedelta(days=random.randint(3, 10))
