"""A small world of facts that change, stated in a conversation, and questions about them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise, product
from random import Random

from eval.datasets.synthetic.languages import (
    LANGUAGES,
    RELATIONS,
    VISIT,
    Language,
    Statement,
    WorldFact,
)
from eval.datasets.synthetic.parameters import Parameters
from eval.datasets.types import ADVERSARIAL, TYPES, Question
from memsys.core.errors import InputError
from memsys.core.types import Conversation, Session, Turn

_MULTI_HOP, _TEMPORAL, _SINGLE_HOP, _FORMER = 1, 2, 4, 6
_TYPES = {**TYPES, _FORMER: "former_value"}  # not a type of LoCoMo


@dataclass(frozen=True, slots=True)
class Names:
    """Invented names, which no model can have learnt: none is in `used`, which they are added to,
    or in `text`, which is case-folded.
    """

    language: Language
    random: Random
    used: set[str]
    text: str = ""

    def new(self, kind: str, *, first: bool = False, like: str | None = None) -> str:
        """Return a new name for a `kind` of thing: person, firm, town or dish.

        `first`: only the first word of the name. `like`: a person, with whose name that of another
        one shares a part.
        """
        while True:
            invented = (
                self.language.invent(kind, self.random)
                if like is None
                else self.language.similar(like, self.random)
            )
            name = invented.split()[0] if first else invented
            if name not in self.used and name.casefold() not in self.text:
                self.used.add(name)
                return name


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
    """Facts, each stated in a separate turn, with updates in order of time."""

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
        until = stated[at + 1].turn
        return WorldQuestion(current.subject, current.chain[:1], value, evidence, until)

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
        others = [one for one, (of, _) in RELATIONS.items() if of == "person"]
        others = [one for one in others if one != current.chain[0]]
        return WorldQuestion(current.subject, (self._random.choice(others),), None, ())

    def near(self) -> None:
        """State a fact of the same kind as the others that no question asks for."""
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


def dialogue(parameters: Parameters, number: int) -> tuple[Conversation, list[Question]]:
    """Return conversation `number` and its questions; the same for the same arguments."""
    random = Random(f"{parameters.seed}/{number}")  # noqa: S311 - a world, not a secret
    language = LANGUAGES[parameters.language]
    names = Names(language, random, set())
    world = SmallWorld(names, random, FreeTurns(parameters, random), parameters.past)
    chains = [world.chain(parameters.hops, parameters.updates) for _ in range(parameters.chains)]
    visits = [world.visit(parameters.relative_dates) for _ in range(parameters.visits)]
    personal = [one for one in chains if RELATIONS[one.chain[0]][0] == "person"]
    unanswerable = [world.unanswerable(one) for one in personal[: parameters.unanswerable]]
    former = [world.former(one) for one in chains] if parameters.past else []
    for _ in range(parameters.near):
        world.near()
    speakers = (names.new("person", first=True), names.new("person", first=True))
    sessions = _sessions(parameters, language, world.statements, speakers, random)
    conversation = Conversation(f"world-{number}", speakers, sessions)
    turns = [turn for session in sessions for turn in session.turns]
    starts = [session.time.date() for session in sessions]

    def question(index: int, asked: WorldQuestion) -> Question:
        gold, category = asked.answer, _MULTI_HOP if parameters.hops > 1 else _SINGLE_HOP
        day = None
        if asked.until is not None:
            category = _FORMER
            stated, changed = (
                starts[turn // parameters.turns] for turn in (asked.evidence[0], asked.until)
            )
            day = stated + (changed - stated) // 2
        elif asked.chain[0].startswith(VISIT):
            category = _TEMPORAL
            visit = next(one for one in world.statements if one.turn == asked.evidence[0])
            gold = language.days_before(starts[visit.turn // parameters.turns], visit.back)
        elif gold is None:
            category = ADVERSARIAL
        return Question(
            id=f"{conversation.id}/{index}",
            conversation=conversation.id,
            category=category,
            type=_TYPES[category],
            text=language.ask(asked.subject, asked.chain, day),
            gold=gold,
            evidence=tuple(turns[turn].id for turn in asked.evidence),
            adversarial=next(one.answer for one in chains) if gold is None else None,
        )

    return conversation, [
        question(i, one) for i, one in enumerate([*chains, *visits, *unanswerable, *former])
    ]


def _sessions(
    parameters: Parameters,
    language: Language,
    statements: list[Statement],
    speakers: tuple[str, str],
    random: Random,
) -> tuple[Session, ...]:
    by_turn = {one.turn: one for one in statements}
    sessions = []
    for number, time in enumerate(session_times(parameters.sessions, random)):
        turns = []
        for at in range(parameters.turns):
            statement = by_turn.get(number * parameters.turns + at)
            if statement is None:
                line = random.choice(language.small_talk)
                text = line.format(n=speakers[(at + 1) % 2], i=random.randint(2, 90))
            else:
                sentence = language.sentence(statement, time.date())
                text = random.choice(language.frames).format(sentence)
            turns.append(Turn(f"D{number + 1}:{at + 1}", speakers[at % 2], text))
        sessions.append(Session(f"session_{number + 1}", time, tuple(turns)))
    return tuple(sessions)
