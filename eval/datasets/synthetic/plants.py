"""Planted facts: turns inserted into the sessions of a data set, whose truth is known exactly.

docs/harm.md describes the kinds. Every name is invented and occurs nowhere else in the data set, so
that a wrong value in a context or in an answer can come from the planted turns only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from random import Random
from typing import Annotated, Final, Literal

from eval.datasets.selection import check_names
from eval.datasets.synthetic.languages import LANGUAGES, RELATIONS, Language, WorldFact
from eval.datasets.types import (
    ADVERSARIAL,
    PLANT_KINDS,
    TYPES,
    AnswerKey,
    Dataset,
    Plant,
    PlantKind,
    Question,
)
from memsys.core.declared import CountFrom0, Range, check_fields
from memsys.core.errors import InputError
from memsys.core.language import language_of
from memsys.core.types import Conversation, Session, Turn

Deletion = Literal["done", "said"]
FactsOfAKind = Annotated[int, Range(1, 50)]  # 50 in each of two conversations take 20 s
_PERSONAL: Final = tuple(one for one, (of, _) in RELATIONS.items() if of == "person")
_SINGLE_HOP = 4
_CATEGORIES: Final[Mapping[PlantKind, int]] = {
    **dict.fromkeys(("absent", "adjacent", "deleted"), ADVERSARIAL),
    "superseded": 7,
    "contradiction": 8,
    "other_owner": 9,
    "injected": 10,
}
_TYPES: Final = {
    **TYPES,
    **{id_: kind for kind, id_ in _CATEGORIES.items() if id_ != ADVERSARIAL},
}


@dataclass(frozen=True, kw_only=True)
class PlantSettings:
    """The planted facts of each conversation: `each` of every kind, and as many controls.

    kinds: None for all. deletion: `done` if requests are also carried out (`Session.forgets`),
    `said` if they are only turns. base_questions: also ask those of the data set itself.
    """

    kinds: Sequence[str] | None = None
    each: FactsOfAKind = 3
    deletion: Deletion = "done"
    base_questions: bool = False
    seed: CountFrom0 = 0

    def check(self) -> None:
        """Raise InputError for an invalid setting."""
        check_fields(self, "dataset")
        check_names("kinds", self.kinds, PLANT_KINDS)


def holds_plants(conversation: Conversation) -> bool:
    """Return whether facts can be planted: by two speakers, and in a session and a later one."""
    times = [session.time for session in conversation.sessions]
    later = any(one < other for one, other in pairwise(times))
    return later and len(conversation.speakers) >= 2


@dataclass
class _Plot:
    """A conversation that turns are inserted into, with the questions about them."""

    conversation: Conversation
    language: Language
    questions: list[Question] = field(default_factory=list)
    _added: list[list[tuple[int, Turn]]] = field(init=False)  # by session: place and turn
    _forgets: list[list[str]] = field(init=False)
    _pairs: list[tuple[int, int]] = field(init=False)  # a session and a later one

    def __post_init__(self) -> None:
        sessions = self.conversation.sessions
        self._added = [[] for _ in sessions]
        self._forgets = [[] for _ in sessions]
        times = [session.time for session in sessions]
        self._pairs = [
            (one, other)
            for one in range(len(times))
            for other in range(one + 1, len(times))
            if times[one] < times[other]
        ]
        if not holds_plants(self.conversation):
            raise InputError(
                f"dataset: planted facts need two speakers and sessions of two times; "
                f"{self.conversation.id:.60} has fewer"
            )

    def two_sessions(self, random: Random) -> tuple[int, int]:
        """Return the numbers of a random session and of one that is later."""
        return random.choice(self._pairs)

    def say(self, session: int, speaker: int, text: str, random: Random) -> str:
        """Insert a turn at a random place of a session; return its id."""
        within, added = self.conversation.sessions[session], self._added[session]
        prefix = within.turns[0].id.rpartition(":")[0] if within.turns else within.id
        id_ = f"{prefix}:p{len(added) + 1}"
        place = random.randint(0, len(within.turns))
        added.append((place, Turn(id_, self.conversation.speakers[speaker], text)))
        return id_

    def forget(self, session: int, turn: str) -> None:
        """Let `session` delete `turn`."""
        self._forgets[session].append(turn)

    def ask(
        self,
        name: str,
        asked: tuple[str, str],
        plant: Plant,
        gold: str | None,
        evidence: Sequence[str] = (),
    ) -> None:
        """Add a question for the relation of a person, `asked`."""
        category = _SINGLE_HOP if plant.control else _CATEGORIES[plant.kind]
        wrong = plant.values[0] if plant.values and gold is None else None
        control = "control-" * plant.control
        self.questions.append(
            Question(
                id=f"{self.conversation.id}/{plant.kind}-{control}{name}",
                conversation=self.conversation.id,
                category=category,
                type=_TYPES[category],
                text=self.language.ask(asked[0], asked[1:]),
                gold=gold,
                evidence=tuple(evidence),
                adversarial=wrong,
                plant=plant,
            )
        )

    def written(self) -> Conversation:
        """Return the conversation with the inserted turns."""
        sessions = map(_with_turns, self.conversation.sessions, self._added, self._forgets)
        return replace(self.conversation, sessions=tuple(sessions))


def _with_turns(
    session: Session, added: Sequence[tuple[int, Turn]], forgets: Sequence[str]
) -> Session:
    turns: list[Turn] = []
    for place in range(len(session.turns) + 1):
        turns += [turn for at, turn in added if at == place]
        turns += session.turns[place : place + 1]
    return replace(session, turns=tuple(turns), forgets=(*session.forgets, *forgets))


@dataclass(frozen=True)
class _Planting:
    """One plant: where it goes, its random numbers, and names that nothing else has."""

    plot: _Plot
    other: _Plot | None  # of another owner
    name: str
    random: Random
    used: set[str]
    text: str  # of the whole data set, case-folded

    def invent(self, kind: str, like: str | None = None) -> str:
        """Return a new name of a `kind`; of a person, it may share a part with the name `like`."""
        language = self.plot.language
        while True:
            name = (
                language.invent(kind, self.random)
                if like is None
                else language.similar(like, self.random)
            )
            if name not in self.used and name.casefold() not in self.text:
                self.used.add(name)
                return name

    def fact(self, person: str | None = None, but: str = "") -> WorldFact:
        """Return a new fact about `person` (None: a new one), of another relation than `but`."""
        relation = self.random.choice([one for one in _PERSONAL if one != but])
        return WorldFact(person or self.invent("person"), relation, self.value(relation))

    def value(self, relation: str) -> str:
        """Return a new value of `relation`."""
        return self.invent(RELATIONS[relation][1])

    def utterance(self, fact: WorldFact) -> str:
        """Return a turn's text that states `fact`."""
        language = self.plot.language
        sentence = language.sentences[fact.relation].format(s=fact.subject, v=fact.value)
        return self.random.choice(language.frames).format(sentence)

    def state(self, session: int, speaker: int, fact: WorldFact) -> str:
        """State `fact`; return the id of the turn."""
        return self.plot.say(session, speaker, self.utterance(fact), self.random)

    def ask(self, fact: WorldFact, plant: Plant, gold: str | None, *evidence: str) -> None:
        self.plot.ask(self.name, (fact.subject, fact.relation), plant, gold, evidence)

    def control(self, kind: PlantKind, fact: WorldFact, *evidence: str) -> None:
        self.ask(fact, Plant(kind, control=True), fact.value, *evidence)

    def stated_control(self, kind: PlantKind, session: int, speaker: int) -> None:
        """State a fact of a new person, and ask for it."""
        fact = self.fact()
        self.control(kind, fact, self.state(session, speaker, fact))


def _absent(it: _Planting, first: int, _: int, speaker: int) -> None:
    known = it.fact()
    it.control("absent", known, it.state(first, speaker, known))
    asked = it.random.choice([one for one in _PERSONAL if one != known.relation])
    it.ask(WorldFact(known.subject, asked, ""), Plant("absent"), None)


def _adjacent(it: _Planting, first: int, later: int, speaker: int) -> None:
    known = it.fact()  # another relation of the person asked of
    it.state(first, speaker, known)
    near = it.fact(it.invent("person", like=known.subject), but=known.relation)
    turn = it.state(later, speaker, near)
    it.control("adjacent", near, turn)
    asked = near._replace(subject=known.subject)
    it.ask(asked, Plant("adjacent", False, (turn,), (near.value,)), None)


def _superseded(it: _Planting, first: int, later: int, speaker: int) -> None:
    old = it.fact()
    new = old._replace(value=it.value(old.relation))
    before, after = it.state(first, speaker, old), it.state(later, speaker, new)
    it.ask(new, Plant("superseded", False, (before,), (old.value,)), new.value, after)
    it.stated_control("superseded", later, speaker)


def _contradiction(it: _Planting, first: int, _: int, speaker: int) -> None:
    one = it.fact()
    other = one._replace(value=it.value(one.relation))
    turns = (it.state(first, speaker, one), it.state(first, 1 - speaker, other))
    values = (one.value, other.value)
    it.ask(one, Plant("contradiction", False, turns, values), " / ".join(values), *turns)
    agreed = it.fact()
    twice = [it.state(first, by, agreed) for by in (speaker, 1 - speaker)]
    it.control("contradiction", agreed, *twice)


def _deleted(it: _Planting, first: int, later: int, speaker: int, *, done: bool = True) -> None:
    gone = it.fact()
    turn = it.state(first, speaker, gone)
    stays = it.fact(gone.subject, but=gone.relation)
    it.control("deleted", stays, it.state(first, speaker, stays))
    language = it.plot.language
    request = language.forget.format(t=language.phrase(gone.subject, (gone.relation,)))
    it.plot.say(later, speaker, request, it.random)
    if done:
        it.plot.forget(later, turn)
    it.ask(gone, Plant("deleted", False, (turn,), (gone.value,)), None)


def _said(it: _Planting, first: int, later: int, speaker: int) -> None:
    _deleted(it, first, later, speaker, done=False)


def _other_owner(it: _Planting, first: int, later: int, speaker: int) -> None:
    if it.other is None:
        raise InputError(
            "dataset.kinds: other_owner needs a second conversation; add one, or leave it out"
        )
    mine = it.fact()
    theirs = mine._replace(value=it.value(mine.relation))
    right = it.state(first, speaker, mine)
    there = it.random.randrange(len(it.other.conversation.sessions))
    turn = it.other.say(there, speaker, it.utterance(theirs), it.random)
    wrong = f"{it.other.conversation.id}:{turn}"
    it.ask(mine, Plant("other_owner", False, (wrong,), (theirs.value,)), mine.value, right)
    it.stated_control("other_owner", later, speaker)


def _injected(it: _Planting, first: int, later: int, speaker: int) -> None:
    true, language = it.fact(), it.plot.language
    right = it.state(first, speaker, true)
    false = true._replace(value=it.value(true.relation))
    said = language.inject.format(
        t=language.phrase(true.subject, (true.relation,)),
        f=language.sentences[false.relation].format(s=false.subject, v=false.value),
    )
    wrong = it.plot.say(later, 1 - speaker, said, it.random)
    it.ask(true, Plant("injected", False, (wrong,), (false.value,)), true.value, right)
    it.stated_control("injected", later, speaker)


_Kind = Callable[[_Planting, int, int, int], None]
_KINDS: Final[Mapping[PlantKind, _Kind]] = {
    "absent": _absent,
    "superseded": _superseded,
    "contradiction": _contradiction,
    "adjacent": _adjacent,
    "deleted": _deleted,
    "other_owner": _other_owner,
    "injected": _injected,
}


def planted(dataset: Dataset, settings: PlantSettings, language: Language | None = None) -> Dataset:
    """Return `dataset` with planted facts and the questions about them; the same for the same
    arguments. Ids and order of the other turns do not change. `language`: None to detect it.

    Raises InputError where a conversation is too short for them.
    """
    plots = [_Plot(one, language or _language(one)) for one in dataset.conversations]
    used: set[str] = set()
    text = "\n".join(turn.text for one in dataset.conversations for turn in _turns(one)).casefold()
    wanted = [kind for kind in PLANT_KINDS if settings.kinds is None or kind in settings.kinds]
    steps = dict(_KINDS) | ({"deleted": _said} if settings.deletion == "said" else {})
    for number, plot in enumerate(plots):
        others = [*plots[:number], *plots[number + 1 :]]
        for kind in wanted:
            for index in range(settings.each):
                key = f"{settings.seed}/{plot.conversation.id}/{kind}/{index}"
                random = Random(key)  # noqa: S311 - a world, not a secret
                other = random.choice(others) if others else None
                it = _Planting(plot, other, str(index), random, used, text)
                steps[kind](it, *plot.two_sessions(random), random.randrange(2))
    if not settings.base_questions:
        dataset = replace(dataset, questions=(), key=AnswerKey(), subset=None, evidence=None)
    asked = {plot.conversation.id: plot.questions for plot in plots}
    for question in reversed(dataset.questions):
        asked[question.conversation].insert(0, question)
    return replace(
        dataset,
        conversations=tuple(plot.written() for plot in plots),
        questions=tuple(question for questions in asked.values() for question in questions),
        types={**dataset.types, **_TYPES},
    )


def _turns(conversation: Conversation) -> list[Turn]:
    return [turn for session in conversation.sessions for turn in session.turns]


def _language(conversation: Conversation) -> Language:
    """Return the grammar of the conversation's language; of one without a grammar, the English."""
    found = language_of([turn.text for turn in _turns(conversation)])
    return LANGUAGES.get(found, LANGUAGES["en"])
