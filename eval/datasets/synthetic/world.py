"""A small world of facts that change, stated in a conversation, and questions about them."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise, product
from random import Random
from typing import Annotated, Literal

from eval.datasets.synthetic.languages import (
    LANGUAGES,
    RELATIONS,
    VISIT,
    Language,
    Statement,
    WorldFact,
    place_of,
)
from eval.datasets.types import ADVERSARIAL, TYPES, Question
from memsys.core.declared import Count, CountFrom0, Range, Share, check_fields
from memsys.core.errors import InputError
from memsys.core.types import Conversation, Session, Turn

_MULTI_HOP, _TEMPORAL, _SINGLE_HOP, _FORMER = 1, 2, 4, 6
_TYPES = {**TYPES, _FORMER: "former_value"}  # not a type of LoCoMo
_VISITS = 0.25  # questions about a day per question about a chain


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """Parameters of the generator.

    `turns`: of each session. `distractors`: share of all turns that state nothing asked for, half
    of them facts of the same kind about others, half small talk. `hops`: facts needed to answer a
    question. `updates`: how often each of these facts changes. `relative_dates`: share of visits
    dated relative to the day of the session ("yesterday"). `tellers`: `one` if the same speaker
    states a fact and all its changes, else `any`. `past`: also ask for earlier values, by a day; a
    change then does not mention the former value and is stated in a separate session.
    """

    conversations: Count
    sessions: Count
    turns: Annotated[int, Range(2)]
    distractors: Share
    hops: Annotated[int, Range(1, 4)]  # person, person, firm, town, dish; then persons only
    updates: CountFrom0
    relative_dates: Share
    language: Literal["en", "zh"]
    seed: CountFrom0
    tellers: Literal["any", "one"] = "any"
    past: bool = False

    # Checked by load(): Hydra would bury the message of an InputError in its own.
    def check(self) -> None:
        """Raise InputError for a parameter out of range, or if no question fits the turns."""
        check_fields(self, "dataset")
        if self.past and not 1 <= self.updates < self.sessions:
            raise InputError(
                f"dataset.past: requires dataset.updates of 1 to {self.sessions - 1}, one less "
                f"than dataset.sessions; it is {self.updates}"
            )
        if self.chains < 1:
            raise InputError(
                f"dataset: {self.informative} turns with facts are too few for a question of "
                f"{self.hops * (1 + self.updates)}; raise sessions or turns, or lower hops, "
                "updates or distractors"
            )

    @property
    def informative(self) -> int:
        """Turns per conversation that are no distractors."""
        return round(self.sessions * self.turns * (1 - self.distractors))

    @property
    def chains(self) -> int:
        """Questions per conversation about the end of a chain."""
        return int(self.informative / (self.hops * (1 + self.updates) + _VISITS))


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
            if like is None:
                name = self.language.invent(kind, self.random)
            else:
                name = self.language.similar(like, self.random)
            name = name.split()[0] if first else name
            if name not in self.used and name.casefold() not in self.text:
                self.used.add(name)
                return name


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
        and all(RELATIONS[link][1] == RELATIONS[other][0] for link, other in pairwise(chain))
    ]


class SmallWorld:
    """Facts, each stated in a separate turn, with updates in order of time. A turn is a number
    counted through all sessions.
    """

    def __init__(self, parameters: Parameters, names: Names, random: Random) -> None:
        self._parameters, self._names, self._random = parameters, names, random
        total = parameters.sessions * parameters.turns
        self._free = random.sample(range(total), total)  # turns without a statement
        self.statements: list[Statement] = []

    def chain(self) -> WorldQuestion:
        """State a chain of facts, each with its updates; ask for the last values."""
        relations = self._random.choice(paths(self._parameters.hops))
        subject = start = self._names.new(RELATIONS[relations[0]][0])
        evidence = []
        for relation in relations:
            former = None
            for turn in self._take(1 + self._parameters.updates):
                value = self._names.new(RELATIONS[relation][1])
                fact = WorldFact(subject, relation, value)
                # If earlier values are asked for, no later statement may mention them.
                former = None if self._parameters.past else former
                self.statements.append(Statement(turn, fact, former))
                former, last = value, turn
            evidence.append(last)
            subject = value
        return WorldQuestion(start, relations, subject, tuple(evidence))

    def former(self, current: WorldQuestion) -> WorldQuestion:
        """Ask for an earlier value of the first fact of `current`."""
        key = current.subject, current.chain[0]
        stated = [statement for statement in self.statements if statement.fact.key == key]
        at = self._random.randrange(len(stated) - 1)
        value, evidence = stated[at].fact.value, (stated[at].turn,)
        until = stated[at + 1].turn
        return WorldQuestion(current.subject, current.chain[:1], value, evidence, until)

    def visit(self) -> WorldQuestion:
        """State a person's visit to a town; ask for its day, relative to the day of the session."""
        (turn,) = self._take(1)
        fact = WorldFact(self._names.new("person"), VISIT, self._names.new("town"))
        relative = self._random.random() < self._parameters.relative_dates
        back = self._random.randint(1, 4)
        self.statements.append(Statement(turn, fact, back=back, relative=relative))
        return WorldQuestion(fact.subject, (VISIT + fact.value,), None, (turn,))

    def unanswerable(self, current: WorldQuestion) -> WorldQuestion:
        """Ask for a fact about the subject of `current` that is never stated."""
        others = [relation for relation, (of, _) in RELATIONS.items() if of == "person"]
        others = [relation for relation in others if relation != current.chain[0]]
        return WorldQuestion(current.subject, (self._random.choice(others),), None, ())

    def near(self) -> None:
        """State a fact of the same kind as the others that no question asks for."""
        relation = self._random.choice(list(RELATIONS))
        of, to = RELATIONS[relation]
        fact = WorldFact(self._names.new(of), relation, self._names.new(to))
        (turn,) = self._take(1)
        self.statements.append(Statement(turn, fact))

    def _take(self, number: int) -> list[int]:
        """Return `number` free turns for one fact and its changes, in order of time.

        Raises InputError if the parameters allow no such turns.
        """
        turns, one_teller = self._parameters.turns, self._parameters.tellers == "one"
        taken: list[int] = []
        for turn in self._free:
            if len(taken) == number:
                break
            same_speaker = not any((other - turn) % turns % 2 for other in taken)
            apart = all(other // turns != turn // turns for other in taken)
            if (same_speaker or not one_teller) and (apart or not self._parameters.past):
                taken.append(turn)
        if len(taken) < number:
            raise InputError(
                "dataset: too few turns to state facts by one speaker or in separate sessions; "
                "raise sessions, turns or distractors, or lower updates"
            )
        self._free = [turn for turn in self._free if turn not in taken]
        return sorted(taken)


def dialogue(parameters: Parameters, number: int) -> tuple[Conversation, list[Question]]:
    """Return conversation `number` and its questions; the same for the same arguments."""
    random = Random(f"{parameters.seed}/{number}")  # noqa: S311 - a world, not a secret
    language = LANGUAGES[parameters.language]
    names = Names(language, random, set())
    world = SmallWorld(parameters, names, random)
    count = parameters.chains
    chains = [world.chain() for _ in range(count)]
    visits = [world.visit() for _ in range(int(count * _VISITS))]
    personal = [chain for chain in chains if RELATIONS[chain.chain[0]][0] == "person"]
    unanswerable = [world.unanswerable(chain) for chain in personal[: max(count // 4, 1)]]
    former = [world.former(chain) for chain in chains] if parameters.past else []
    for _ in range((parameters.sessions * parameters.turns - parameters.informative) // 2):
        world.near()
    speakers = (names.new("person", first=True), names.new("person", first=True))
    sessions = tuple(_sessions(parameters, language, world.statements, speakers, random))
    conversation = Conversation(f"world-{number}", speakers, sessions)
    turns = [turn for session in sessions for turn in session.turns]
    days = [session.time.date() for session in sessions for _ in session.turns]  # of each turn

    def question(index: int, asked: WorldQuestion) -> Question:
        gold, category = asked.answer, _MULTI_HOP if parameters.hops > 1 else _SINGLE_HOP
        day = None
        if asked.until is not None:
            category, stated = _FORMER, days[asked.evidence[0]]
            day = stated + (days[asked.until] - stated) // 2
        elif place_of(asked.chain[0]):
            category = _TEMPORAL
            visit = next(claim for claim in world.statements if claim.turn == asked.evidence[0])
            gold = language.days_before(days[visit.turn], visit.back)
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
            adversarial=chains[0].answer if gold is None else None,
        )

    asked = [*chains, *visits, *unanswerable, *former]
    return conversation, [question(index, query) for index, query in enumerate(asked)]


def _sessions(
    parameters: Parameters,
    language: Language,
    statements: list[Statement],
    speakers: tuple[str, str],
    random: Random,
) -> Iterator[Session]:
    """Yield the sessions, three to ten days apart, at any minute of the day."""
    by_turn = {statement.turn: statement for statement in statements}
    day = datetime(2023, 1, 9)
    for number in range(parameters.sessions):
        time = day + timedelta(minutes=random.randrange(24 * 60))
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
        yield Session(f"session_{number + 1}", time, tuple(turns))
        day += timedelta(days=random.randint(3, 10))
