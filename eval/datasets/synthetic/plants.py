"""Planted facts: turns inserted into the sessions of a data set, whose truth is known exactly.

docs/datasets.md describes the kinds. Every name is invented and occurs nowhere else in the data
set, so that a wrong value in a context or in an answer can come from the planted turns only.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from random import Random
from typing import Annotated, Final, Literal

from eval.datasets.selection import check_names
from eval.datasets.synthetic.languages import LANGUAGES, RELATIONS, Language, WorldFact
from eval.datasets.synthetic.world import Names
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
from memsys.core.terms import language_of
from memsys.core.types import Conversation, Turn

Deletion = Literal["done", "said"]
_PERSONAL: Final = tuple(relation for relation, (of, _) in RELATIONS.items() if of == "person")
_SINGLE_HOP = 4
_CATEGORIES: Final[Mapping[PlantKind, int]] = {
    **dict.fromkeys(("absent", "adjacent", "deleted"), ADVERSARIAL),
    "superseded": 7,
    "contradiction": 8,
    "other_owner": 9,
    "injected": 10,
}
_TYPES: Final = TYPES | {id_: kind for kind, id_ in _CATEGORIES.items() if id_ != ADVERSARIAL}


@dataclass(frozen=True, kw_only=True)
class PlantSettings:
    """The planted facts of each conversation: `each` of every kind, and as many controls.

    kinds: None for all. deletion: `done` if requests are also carried out (`Session.forgets`),
    `said` if they are only turns. base_questions: also ask those of the data set itself.
    """

    kinds: Sequence[str] | None = None
    each: Annotated[int, Range(1, 50)] = 3  # 50 in each of two conversations take 20 s
    deletion: Deletion = "done"
    base_questions: bool = False
    seed: CountFrom0 = 0

    def check(self) -> None:
        """Raise InputError for an invalid setting."""
        check_fields(self, "dataset")
        check_names("kinds", self.kinds, PLANT_KINDS)


@dataclass
class _Plot:
    """A conversation that turns are inserted into, with the questions about them. `later_sessions`:
    pairs of a session and a later one, by index. `added`: place and turn, `forgets`: ids of turns,
    each by session.
    """

    conversation: Conversation
    language: Language
    later_sessions: Sequence[tuple[int, int]]
    questions: list[Question] = field(default_factory=list)
    added: dict[int, list[tuple[int, Turn]]] = field(default_factory=lambda: defaultdict(list))
    forgets: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))

    def say(self, session: int, speaker: int, text: str, random: Random) -> str:
        """Insert a turn at a random place of a session; return its id."""
        within, added = self.conversation.sessions[session], self.added[session]
        prefix = within.turns[0].id.rpartition(":")[0] if within.turns else within.id
        id_ = f"{prefix}:p{len(added) + 1}"
        place = random.randint(0, len(within.turns))
        added.append((place, Turn(id_, self.conversation.speakers[speaker], text)))
        return id_

    def written(self) -> Conversation:
        """Return the conversation with the inserted turns, each before the turn at its place."""
        sessions = []
        for number, session in enumerate(self.conversation.sessions):
            rows = [((place, 0), turn) for place, turn in self.added[number]]
            rows += [((place, 1), turn) for place, turn in enumerate(session.turns)]
            turns = tuple(turn for _, turn in sorted(rows, key=lambda row: row[0]))
            forgets = (*session.forgets, *self.forgets[number])
            sessions.append(replace(session, turns=turns, forgets=forgets))
        return replace(self.conversation, sessions=tuple(sessions))


@dataclass(frozen=True)
class _Planting:
    """One plant: where it goes (sessions `first` and `later`, and a speaker), its random numbers,
    and names that nothing else has.
    """

    plot: _Plot
    other: _Plot | None  # of another owner
    id: str
    random: Random
    names: Names
    first: int
    later: int
    speaker: int

    def fact(self, person: str | None = None, but: str = "") -> WorldFact:
        """Return a new fact about `person` (None: a new one), of another relation than `but`."""
        relation = self.random.choice([other for other in _PERSONAL if other != but])
        return WorldFact(person or self.names.new("person"), relation, self.value(relation))

    def value(self, relation: str) -> str:
        """Return a new value of `relation`."""
        return self.names.new(RELATIONS[relation][1])

    def utterance(self, fact: WorldFact) -> str:
        """Return a turn's text that states `fact`."""
        language = self.plot.language
        return self.random.choice(language.frames).format(language.clause(fact))

    def state(self, session: int, fact: WorldFact, other_speaker: bool = False) -> str:
        """State `fact`; return the id of the turn."""
        return self.say(session, self.utterance(fact), other_speaker)

    def say(self, session: int, text: str, other_speaker: bool = False) -> str:
        """Insert a turn of the speaker, or of the other one; return its id."""
        speaker = 1 - self.speaker if other_speaker else self.speaker
        return self.plot.say(session, speaker, text, self.random)

    def ask(self, fact: WorldFact, plant: Plant, gold: str | None, *evidence: str) -> None:
        """Add a question for the relation of `fact`."""
        category = _SINGLE_HOP if plant.control else _CATEGORIES[plant.kind]
        control, conversation = "control-" * plant.control, self.plot.conversation.id
        self.plot.questions.append(
            Question(
                id=f"{conversation}/{plant.kind}-{control}{self.id}",
                conversation=conversation,
                category=category,
                type=_TYPES[category],
                text=self.plot.language.ask(fact.subject, (fact.relation,)),
                gold=gold,
                evidence=evidence,
                adversarial=plant.values[0] if plant.values and gold is None else None,
                plant=plant,
            )
        )

    def control(self, kind: PlantKind, fact: WorldFact, *evidence: str) -> None:
        self.ask(fact, Plant(kind, control=True), fact.value, *evidence)

    def stated_control(self, kind: PlantKind) -> None:
        """State a fact of a new person in the later session, and ask for it."""
        fact = self.fact()
        self.control(kind, fact, self.state(self.later, fact))


def _absent(it: _Planting) -> None:
    fact = it.fact()
    it.control("absent", fact, it.state(it.first, fact))
    asked = it.random.choice([relation for relation in _PERSONAL if relation != fact.relation])
    it.ask(WorldFact(fact.subject, asked, ""), Plant("absent"), None)


def _adjacent(it: _Planting) -> None:
    fact = it.fact()  # another relation of the person asked of
    it.state(it.first, fact)
    near = it.fact(it.names.new("person", like=fact.subject), but=fact.relation)
    turn = it.state(it.later, near)
    it.control("adjacent", near, turn)
    asked = near._replace(subject=fact.subject)
    it.ask(asked, Plant("adjacent", False, (turn,), (near.value,)), None)


def _superseded(it: _Planting) -> None:
    old = it.fact()
    new = old._replace(value=it.value(old.relation))
    before, after = it.state(it.first, old), it.state(it.later, new)
    it.ask(new, Plant("superseded", False, (before,), (old.value,)), new.value, after)
    it.stated_control("superseded")


def _contradiction(it: _Planting) -> None:
    fact = it.fact()
    other = fact._replace(value=it.value(fact.relation))
    turns = (it.state(it.first, fact), it.state(it.first, other, other_speaker=True))
    values = (fact.value, other.value)
    it.ask(fact, Plant("contradiction", False, turns, values), " / ".join(values), *turns)
    agreed = it.fact()
    twice = [it.state(it.first, agreed, other_speaker=by) for by in (False, True)]
    it.control("contradiction", agreed, *twice)


def _deleted(it: _Planting) -> None:
    gone = it.fact()
    turn = it.state(it.first, gone)
    stays = it.fact(gone.subject, but=gone.relation)
    it.control("deleted", stays, it.state(it.first, stays))
    about = it.plot.language.phrase(gone.subject, (gone.relation,))
    it.say(it.later, it.plot.language.forget.format(t=about))
    it.plot.forgets[it.later].append(turn)
    it.ask(gone, Plant("deleted", False, (turn,), (gone.value,)), None)


def _other_owner(it: _Planting) -> None:
    if it.other is None:
        raise InputError(
            "dataset.kinds: other_owner needs a second conversation; add one, or leave it out"
        )
    mine = it.fact()
    theirs = mine._replace(value=it.value(mine.relation))
    right = it.state(it.first, mine)
    there = it.random.randrange(len(it.other.conversation.sessions))
    turn = it.other.say(there, it.speaker, it.utterance(theirs), it.random)
    wrong = f"{it.other.conversation.id}:{turn}"
    it.ask(mine, Plant("other_owner", False, (wrong,), (theirs.value,)), mine.value, right)
    it.stated_control("other_owner")


def _injected(it: _Planting) -> None:
    true, language = it.fact(), it.plot.language
    right = it.state(it.first, true)
    false = true._replace(value=it.value(true.relation))
    about = language.phrase(true.subject, (true.relation,))
    text = language.inject.format(t=about, f=language.clause(false))
    wrong = it.say(it.later, text, other_speaker=True)
    it.ask(true, Plant("injected", False, (wrong,), (false.value,)), true.value, right)
    it.stated_control("injected")


_KINDS: Final[Mapping[PlantKind, Callable[[_Planting], None]]] = {
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
    Conversations that cannot hold them are left out, each with a line in `repairs`.

    Raises InputError for an invalid setting, and if no conversation can hold them.
    """
    settings.check()
    needed = "planted facts need two speakers and sessions of two times"
    plots, texts, left_out = [], list[str](), list[str]()
    for conversation in dataset.conversations:
        pairs = combinations(enumerate(conversation.sessions), 2)
        later = [(at, after) for (at, early), (after, late) in pairs if early.time < late.time]
        if not later or len(conversation.speakers) < 2:
            left_out.append(conversation.id)
            continue
        own = [turn.text for session in conversation.sessions for turn in session.turns]
        detected = language or LANGUAGES.get(language_of(own), LANGUAGES["en"])
        plots.append(_Plot(conversation, detected, later))
        texts += own
    if not plots:
        raise InputError(f"dataset: {needed}; {left_out[0]:.60} has fewer")
    used, text = set[str](), "\n".join(texts).casefold()
    wanted = [kind for kind in PLANT_KINDS if settings.kinds is None or kind in settings.kinds]
    for plot in plots:
        others = [another for another in plots if another is not plot]
        for kind in wanted:
            for index in range(settings.each):
                key = f"{settings.seed}/{plot.conversation.id}/{kind}/{index}"
                random = Random(key)  # noqa: S311 - a world, not a secret
                other = random.choice(others) if others else None
                names = Names(plot.language, random, used, text)
                place = (*random.choice(plot.later_sessions), random.randrange(2))
                _KINDS[kind](_Planting(plot, other, str(index), random, names, *place))
        if settings.deletion == "said":
            plot.forgets.clear()
    if not settings.base_questions:
        dataset = replace(dataset, questions=(), key=AnswerKey(), subset=None, evidence=None)
    asked: dict[str, list[Question]] = {plot.conversation.id: [] for plot in plots}
    for question in (*dataset.questions, *(q for plot in plots for q in plot.questions)):
        if question.conversation in asked:
            asked[question.conversation].append(question)
    return replace(
        dataset,
        conversations=tuple(plot.written() for plot in plots),
        questions=tuple(question for questions in asked.values() for question in questions),
        repairs=(*dataset.repairs, *(f"{id_}: left out, as {needed}" for id_ in left_out)),
        types={**dataset.types, **_TYPES},
    )
