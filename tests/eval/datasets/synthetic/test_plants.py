"""Planted facts: the truth of every kind, in generated and in given conversations."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

import pytest

from eval.datasets.planted import Planted
from eval.datasets.synthetic.dataset import Synthetic
from eval.datasets.synthetic.languages import parse_question
from eval.datasets.synthetic.reading import read
from eval.datasets.types import ADVERSARIAL, PLANT_KINDS, Dataset, Plant, Question
from memsys.core.errors import InputError
from memsys.core.types import Turn
from tests.eval.datasets.conftest import instance, write_instances

SMALL: Mapping[str, Any] = {
    **{"conversations": 3, "sessions": 4, "turns": 8, "distractors": 0.5, "hops": 1, "updates": 1},
    **{"relative_dates": 0.5, "language": "en", "seed": 0},
}
SHIPPED = {**SMALL, "conversations": 5, "sessions": 20, "turns": 30, "distractors": 0.8, "hops": 2}
PINS = {  # sha256 of data without plants, by what differs from the shipped parameters
    "": "70d9afb574d8e3da68f81e15fd07055465ac0f8f2da0f799258391ff3cf4c731",
    "zh": "f5d7526dc9683546e48fcb3aa9f0f67a142cedac04c23d388b5fb188cf70a0de",
}


class Said(NamedTuple):
    """A turn, and the conversation, number and time of its session."""

    turn: Turn
    conversation: str
    session: int
    time: datetime


class World:
    """A data set, its turns, and conversation and value of each statement."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self.turns = {
            f"{one.id}:{turn.id}": Said(turn, one.id, number, session.time)
            for one in dataset.conversations
            for number, session in enumerate(one.sessions)
            for turn in session.turns
        }
        self._stated: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
        for one in self.turns.values():
            for _, fact in read(one.turn.text, one.time.date()):
                self._stated[fact.key].append((one.conversation, fact.value))

    def planted(
        self, kind: str | None = None, control: bool = False
    ) -> list[tuple[Question, Plant]]:
        return [
            (one, one.plant)
            for one in self.dataset.questions
            if one.plant and one.plant.control is control and kind in (None, one.plant.kind)
        ]

    def said(self, question: Question, ids: tuple[str, ...]) -> list[Said]:
        other = question.plant is not None and question.plant.kind == "other_owner"
        at = [i if other and i in self.turns else f"{question.conversation}:{i}" for i in ids]
        return [self.turns[id_] for id_ in at]

    def wrong_and_right(self, kind: str) -> Iterator[tuple[Question, Plant, Said, Said]]:
        """Each question of `kind` with the one wrong turn and the one right turn."""
        for question, plant in self.planted(kind):
            (wrong,), (right,) = (
                self.said(question, ids) for ids in (plant.turns, question.evidence)
            )
            yield question, plant, wrong, right

    def statements(self, question: Question) -> list[tuple[str, str]]:
        """Conversation and value of every statement of the fact that `question` asks for."""
        return self._stated[asked_for(question)]


def asked_for(question: Question) -> tuple[str, str]:
    """Subject and relation."""
    parsed = parse_question(question.text)
    assert parsed is not None
    subject, (relation,), _ = parsed[1]
    return subject, relation


def generated(**changed: Any) -> Dataset:
    settings = {"plants": 2, "base_questions": False, **SMALL, **changed}
    return Synthetic(name="synthetic", **settings).load()


def given(**changed: Any) -> Dataset:
    return Planted(**{"name": "planted", "of": "sample", **changed}).load()


@pytest.fixture(scope="module", params=["generated", "Chinese", "given"])
def world(request: pytest.FixtureRequest) -> World:
    """Two plants of each kind in every conversation."""
    if request.param == "given":
        return World(given(each=2))
    return World(generated(language="zh") if request.param == "Chinese" else generated())


@pytest.mark.parametrize("language", ["", "zh"])
def test_data_without_plants_have_not_changed(language):
    made = Synthetic(name="synthetic", **SHIPPED | ({"language": language} if language else {}))
    assert made.load().files[0].sha256 == PINS[language]


def test_every_kind_has_as_many_questions_as_controls(world):
    dataset = world.dataset
    for kind in PLANT_KINDS:
        for found in (world.planted(kind), world.planted(kind, control=True)):
            assert len(found) == 2 * len(dataset.conversations)
    assert len({question.id for question in dataset.questions}) == len(dataset.questions)
    assert {dataset.types[question.category] for question in dataset.questions} == {
        question.type for question in dataset.questions
    }


def test_a_wrong_value_is_in_the_wrong_turns_alone(world):
    texts = [one.turn.text for one in world.turns.values()]
    assert any(plant.values for _, plant in world.planted())
    for question, plant in world.planted():
        wrong = [one.turn.text for one in world.said(question, plant.turns)]
        assert len(wrong) == len(plant.values)
        for value in plant.values:
            (having,) = [text for text in texts if value in text]
            assert having in wrong
            assert value not in question.text


def test_only_the_truth_of_a_control_is_stated(world):
    for question, plant in world.planted(control=True):
        assert set(world.statements(question)) == {(question.conversation, question.gold)}
        assert (plant.turns, plant.values) == ((), ())
        evidence = world.said(question, question.evidence)
        assert all(str(question.gold) in one.turn.text for one in evidence)


def test_the_fact_is_nowhere_although_its_person_or_a_similar_one_is(world):
    for question, plant in [*world.planted("absent"), *world.planted("adjacent")]:
        assert (question.gold, question.category) == (None, ADVERSARIAL)
        assert not world.statements(question)
        subject, relation = asked_for(question)
        assert any(subject in one.turn.text for one in world.turns.values())
        for near in world.said(question, plant.turns):  # of the similar person
            ((_, fact),) = read(near.turn.text)
            assert (fact.relation, fact.value) == (relation, plant.values[0])
            assert fact.subject != subject
            assert fact.subject[0] == subject[0]  # a Chinese surname has one character


def test_a_superseded_value_is_replaced_later_by_the_same_speaker(world):
    for question, plant, old, new in world.wrong_and_right("superseded"):
        assert old.time < new.time
        assert old.turn.speaker == new.turn.speaker
        values = [value for _, value in world.statements(question)]
        assert sorted(values) == sorted([*plant.values, str(question.gold)])


def test_a_contradiction_is_between_two_speakers_in_one_session(world):
    for question, plant in world.planted("contradiction"):
        one, other = world.said(question, plant.turns)
        assert (one.conversation, one.session) == (other.conversation, other.session)
        assert one.turn.speaker != other.turn.speaker
        assert len(set(plant.values)) == 2
        assert question.evidence == plant.turns


def test_a_deletion_is_requested_and_carried_out_after_the_fact(world):
    sessions = {one.id: one.sessions for one in world.dataset.conversations}
    for question, plant in world.planted("deleted"):
        assert (question.gold, question.evidence) == (None, ())
        (fact,) = world.said(question, plant.turns)
        (request,) = (
            session
            for session in sessions[question.conversation]
            if fact.turn.id in session.forgets
        )
        assert request.time > fact.time
        parsed = parse_question(question.text)
        assert parsed is not None
        about = parsed[0].phrase(parsed[1].subject, parsed[1].chain)
        assert any(about in turn.text for turn in request.turns)


def test_the_other_owner_has_another_value_of_the_same_name(world):
    for question, plant, theirs, mine in world.wrong_and_right("other_owner"):
        assert theirs.conversation != mine.conversation == question.conversation
        assert sorted(world.statements(question)) == sorted(
            [(mine.conversation, question.gold), (theirs.conversation, plant.values[0])]
        )


def test_an_injection_follows_the_truth_from_the_other_speaker(world):
    for question, _, false, true in world.wrong_and_right("injected"):
        assert false.time > true.time
        assert false.turn.speaker != true.turn.speaker
        assert str(question.gold) in true.turn.text


def test_a_request_that_is_only_said_deletes_nothing():
    said, done = generated(deletion="said"), generated()
    cleared = [
        replace(one, sessions=tuple(replace(session, forgets=()) for session in one.sessions))
        for one in done.conversations
    ]
    assert list(said.conversations) == cleared != list(done.conversations)


def test_the_same_seed_plants_the_same_facts():
    assert given(each=1) == given(each=1)
    assert given(each=1).questions != given(each=1, seed=1).questions
    assert generated().files == generated().files != generated(seed=1).files


def test_the_turns_of_the_data_set_remain_in_order():
    plain = given(each=1, kinds=["absent"], base_questions=True)
    sample = Synthetic(name="synthetic", **SMALL).load()
    dense = generated(base_questions=True)
    old = [turn for one in sample.conversations for s in one.sessions for turn in s.turns]
    new = [turn for one in dense.conversations for s in one.sessions for turn in s.turns]
    assert [turn for turn in new if ":p" not in turn.id] == old
    assert [q for q in dense.questions if q.plant is None] == list(sample.questions)
    assert sum(question.plant is not None for question in plain.questions) == 6
    assert len(plain.questions) > 100


def test_in_a_pool_plants_name_the_turns_of_the_pool():
    pooled = World(generated(pooled=True))
    (store,) = pooled.dataset.conversations
    ids = {turn.id for session in store.sessions for turn in session.turns}
    assert all(ids.issuperset(plant.turns) for _, plant in pooled.planted())
    forgotten = [one for session in store.sessions for one in session.forgets]
    assert len(forgotten) == 6
    assert ids.issuperset(forgotten)


@pytest.mark.parametrize(
    ("load", "changed", "message"),
    [
        (generated, {"plants": -1}, "dataset.plants: -1; use a whole number from 0 to 50"),
        (generated, {"kinds": ["stale"]}, "dataset.kinds: 'stale' is not one of absent"),
        (generated, {"conversations": 1}, "other_owner needs a second conversation"),
        (generated, {"sessions": 1, "turns": 40}, "sessions of two times; world-0 has fewer"),
        (generated, {"plants": 0}, "dataset.plants: 0; dataset.kinds and"),
        (generated, {"owner_filter": True}, "add dataset.pooled=true"),
        (given, {"of": "nowhere"}, "dataset.of: nowhere: no such file"),
        (given, {"each": 0}, "dataset.each: 0; use a whole number from 1 to 50"),
        (given, {"conversations": ["harbour"]}, "other_owner needs a second conversation"),
        (given, {"conversations": ["x"]}, "dataset.conversations: 'x' is not one of harbour"),
    ],
)
def test_unusable_parameters_are_refused(load, changed, message):
    with pytest.raises(InputError) as refused:
        load(**changed)
    assert message in str(refused.value)


def test_conversations_that_cannot_hold_plants_are_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr("eval.datasets.files.DATA", tmp_path)
    once = {"haystack_dates": ["2023/05/20 (Sat) 18:30"] * 2}
    made = [instance("a"), instance("b", **once), instance("c")]
    write_instances(tmp_path / "longmemeval_oracle.json", *made)
    planted = given(of="longmemeval", each=1, base_questions=True)
    assert [one.id for one in planted.conversations] == ["a", "c"]
    assert {one.conversation for one in planted.questions} == {"a", "c"}
    assert planted.repairs == (
        "b: left out, as planted facts need two speakers and sessions of two times",
    )
    write_instances(tmp_path / "longmemeval_oracle.json", made[1])
    with pytest.raises(InputError, match="sessions of two times; b has fewer"):
        given(of="longmemeval")
