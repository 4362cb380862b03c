"""Planted facts: turns inserted into the sessions of a data set, whose truth is known exactly.

docs/datasets.md describes the kinds. Every name is invented and occurs nowhere else in the data
set, so that a wrong value in a context or in an answer can come from the planted turns only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Annotated, Final, Literal

from eval.datasets.selection import check_names
from eval.datasets.synthetic.languages import RELATIONS, Language, WorldFact
from eval.datasets.synthetic.plot import Plot, language_in, texts_of
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


@dataclass(frozen=True)
class _Planting:
    """One plant: where it goes, its random numbers, and names that nothing else has."""

    plot: Plot
    other: Plot | None  # of another owner
    id: str
    random: Random
    names: Names

    def fact(self, person: str | None = None, but: str = "") -> WorldFact:
        """Return a new fact about `person` (None: a new one), of another relation than `but`."""
        relation = self.random.choice([one for one in _PERSONAL if one != but])
        return WorldFact(person or self.names.new("person"), relation, self.value(relation))

    def value(self, relation: str) -> str:
        """Return a new value of `relation`."""
        return self.names.new(RELATIONS[relation][1])

    def utterance(self, fact: WorldFact) -> str:
        """Return a turn's text that states `fact`."""
        language = self.plot.language
        sentence = language.sentences[fact.relation].format(s=fact.subject, v=fact.value)
        return self.random.choice(language.frames).format(sentence)

    def state(self, session: int, speaker: int, fact: WorldFact) -> str:
        """State `fact`; return the id of the turn."""
        return self.plot.say(session, speaker, self.utterance(fact), self.random)

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
    near = it.fact(it.names.new("person", like=known.subject), but=known.relation)
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
        it.plot.forgets[later].append(turn)
    it.ask(gone, Plant("deleted", False, (turn,), (gone.value,)), None)


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

    Raises InputError for an invalid setting, and where a conversation is too short for them.
    """
    settings.check()
    plots = [Plot(one, language or language_in(one)) for one in dataset.conversations]
    used: set[str] = set()
    text = "\n".join(text for one in dataset.conversations for text in texts_of(one)).casefold()
    wanted = [kind for kind in PLANT_KINDS if settings.kinds is None or kind in settings.kinds]
    steps = dict(_KINDS) | (
        {"deleted": partial(_deleted, done=False)} if settings.deletion == "said" else {}
    )
    for number, plot in enumerate(plots):
        others = [*plots[:number], *plots[number + 1 :]]
        for kind in wanted:
            for index in range(settings.each):
                key = f"{settings.seed}/{plot.conversation.id}/{kind}/{index}"
                random = Random(key)  # noqa: S311 - a world, not a secret
                other = random.choice(others) if others else None
                names = Names(plot.language, random, used, text)
                it = _Planting(plot, other, str(index), random, names)
                steps[kind](it, *random.choice(plot.later_sessions), random.randrange(2))
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
