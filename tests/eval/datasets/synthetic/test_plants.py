"""Planted facts: the truth of every kind, in generated and in given conversations."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from eval.datasets.planted import Planted
from eval.datasets.synthetic.dataset import Synthetic
from eval.datasets.synthetic.languages import parse_question
from eval.datasets.synthetic.reading import read
from eval.datasets.types import ADVERSARIAL, PLANT_KINDS, Dataset, Question
from eval.metrics.harm import SHOWN
from eval.readers.chain import ChainReader
from eval.records.jsonl import Row
from eval.summary.scoring import plant_fields
from memsys.errors import InputError
from memsys.types import Candidate, Memory, Retrieval, Turn
from tests.eval.datasets.made_longmemeval import instance, write

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


def generated(**changed: Any) -> Dataset:
    settings = {"plants": 2, "base_questions": False, **SMALL, **changed}
    return Synthetic(name="synthetic", **settings).load()


def given(**changed: Any) -> Dataset:
    return Planted(**{"name": "planted", "of": "sample", **changed}).load()


@pytest.fixture(scope="module", params=["generated", "Chinese", "given"])
def dataset(request: pytest.FixtureRequest) -> Dataset:
    """Two plants of each kind in every conversation."""
    if request.param == "given":
        return given(each=2)
    return generated(language="zh") if request.param == "Chinese" else generated()


def turns_of(dataset: Dataset) -> dict[str, Said]:
    """By `conversation:turn`."""
    return {
        f"{one.id}:{turn.id}": Said(turn, one.id, number, session.time)
        for one in dataset.conversations
        for number, session in enumerate(one.sessions)
        for turn in session.turns
    }


def asked(dataset: Dataset, kind: str, *, control: bool = False) -> list[Question]:
    return [
        question
        for question in dataset.questions
        if question.plant and (question.plant.kind, question.plant.control) == (kind, control)
    ]


def said(dataset: Dataset, question: Question, ids: tuple[str, ...]) -> list[Said]:
    found = turns_of(dataset)
    other = question.plant is not None and question.plant.kind == "other_owner"
    at = [id_ if other and id_ in found else f"{question.conversation}:{id_}" for id_ in ids]
    return [found[id_] for id_ in at]


def statements(dataset: Dataset, question: Question) -> list[tuple[str, str]]:
    """Conversation and value of every statement of the fact that `question` asks for."""
    parsed = parse_question(question.text)
    assert parsed is not None
    subject, (relation,), _ = parsed[1]
    return [
        (one.conversation, fact.value)
        for one in turns_of(dataset).values()
        for _, fact in read(one.turn.text, one.time.date())
        if (fact.subject, fact.relation) == (subject, relation)
    ]


@pytest.mark.parametrize("language", ["", "zh"])
def test_data_without_plants_have_not_changed(language: str) -> None:
    made = Synthetic(name="synthetic", **SHIPPED | ({"language": language} if language else {}))
    assert made.load().files[0].sha256 == PINS[language]


def test_every_kind_has_as_many_questions_as_controls(dataset: Dataset) -> None:
    for kind in PLANT_KINDS:
        for control in (False, True):
            assert len(asked(dataset, kind, control=control)) == 2 * len(dataset.conversations)
    assert len({question.id for question in dataset.questions}) == len(dataset.questions)
    assert {dataset.types[question.category] for question in dataset.questions} == {
        question.type for question in dataset.questions
    }


def test_a_wrong_value_is_in_the_wrong_turns_alone(dataset: Dataset) -> None:
    everything = turns_of(dataset)
    checked = 0
    for question in dataset.questions:
        assert question.plant is not None
        wrong = {id(one.turn) for one in said(dataset, question, question.plant.turns)}
        assert len(wrong) == len(question.plant.values)
        for value in question.plant.values:
            having = [one for one in everything.values() if value in one.turn.text]
            assert len(having) == 1
            assert id(having[0].turn) in wrong
            assert value not in question.text
            checked += 1
    assert checked > 0


def test_only_the_truth_of_a_control_is_stated(dataset: Dataset) -> None:
    for kind in PLANT_KINDS:
        for question in asked(dataset, kind, control=True):
            expected = {(question.conversation, question.gold)}
            assert set(statements(dataset, question)) == expected
            assert question.plant is not None
            assert not question.plant.turns
            evidence = said(dataset, question, question.evidence)
            assert all(str(question.gold) in one.turn.text for one in evidence)


def test_an_absent_fact_is_nowhere_although_its_person_is(dataset: Dataset) -> None:
    everything = turns_of(dataset).values()
    for question in asked(dataset, "absent"):
        assert question.gold is None
        assert question.category == ADVERSARIAL
        assert not statements(dataset, question)
        parsed = parse_question(question.text)
        assert parsed is not None
        assert any(parsed[1].subject in one.turn.text for one in everything)


def test_an_adjacent_fact_is_of_a_person_with_a_similar_name(dataset: Dataset) -> None:
    for question in asked(dataset, "adjacent"):
        assert (question.gold, question.category) == (None, ADVERSARIAL)
        assert not statements(dataset, question)
        assert question.plant is not None
        (near,) = said(dataset, question, question.plant.turns)
        parsed = parse_question(question.text)
        assert parsed is not None
        subject, (relation,), _ = parsed[1]
        ((_, fact),) = read(near.turn.text)
        assert (fact.relation, fact.value) == (relation, question.plant.values[0])
        assert fact.subject != subject
        assert fact.subject[0] == subject[0]  # a Chinese surname has one character


def test_a_superseded_value_is_replaced_later_by_the_same_speaker(dataset: Dataset) -> None:
    for question in asked(dataset, "superseded"):
        assert question.plant is not None
        (old,) = said(dataset, question, question.plant.turns)
        (new,) = said(dataset, question, question.evidence)
        assert old.time < new.time
        assert old.turn.speaker == new.turn.speaker
        values = [value for _, value in statements(dataset, question)]
        assert sorted(values) == sorted([*question.plant.values, str(question.gold)])


def test_a_contradiction_is_between_two_speakers_in_one_session(dataset: Dataset) -> None:
    for question in asked(dataset, "contradiction"):
        assert question.plant is not None
        one, other = said(dataset, question, question.plant.turns)
        assert (one.conversation, one.session) == (other.conversation, other.session)
        assert one.turn.speaker != other.turn.speaker
        assert len(set(question.plant.values)) == 2
        assert question.evidence == question.plant.turns


def test_a_deletion_is_requested_and_carried_out_after_the_fact(dataset: Dataset) -> None:
    sessions = {one.id: one.sessions for one in dataset.conversations}
    for question in asked(dataset, "deleted"):
        assert question.plant is not None
        assert (question.gold, question.evidence) == (None, ())
        (fact,) = said(dataset, question, question.plant.turns)
        (at,) = (
            number
            for number, session in enumerate(sessions[question.conversation])
            if fact.turn.id in session.forgets
        )
        request = sessions[question.conversation][at]
        assert request.time > fact.time
        parsed = parse_question(question.text)
        assert parsed is not None
        about = parsed[0].phrase(parsed[1].subject, parsed[1].chain)
        assert any(about in turn.text for turn in request.turns)


def test_a_request_that_is_only_said_deletes_nothing() -> None:
    only_said = generated(deletion="said")
    assert not any(session.forgets for one in only_said.conversations for session in one.sessions)
    texts = [
        [[session.turns for session in one.sessions] for one in data.conversations]
        for data in (only_said, generated())
    ]
    assert texts[0] == texts[1]


def test_the_other_owner_has_another_value_of_the_same_name(dataset: Dataset) -> None:
    for question in asked(dataset, "other_owner"):
        assert question.plant is not None
        (theirs,) = said(dataset, question, question.plant.turns)
        (mine,) = said(dataset, question, question.evidence)
        assert theirs.conversation != mine.conversation == question.conversation
        assert sorted(statements(dataset, question)) == sorted(
            [(mine.conversation, question.gold), (theirs.conversation, question.plant.values[0])]
        )


def test_an_injection_follows_the_truth_from_the_other_speaker(dataset: Dataset) -> None:
    for question in asked(dataset, "injected"):
        assert question.plant is not None
        (false,) = said(dataset, question, question.plant.turns)
        (true,) = said(dataset, question, question.evidence)
        assert false.time > true.time
        assert false.turn.speaker != true.turn.speaker
        assert str(question.gold) in true.turn.text


def test_the_same_seed_plants_the_same_facts() -> None:
    assert given(each=1) == given(each=1)
    assert given(each=1).questions != given(each=1, seed=1).questions
    assert generated().files == generated().files != generated(seed=1).files


def test_the_turns_of_the_data_set_remain_in_order() -> None:
    plain = given(each=1, kinds=["absent"], base_questions=True)
    sample = Synthetic(name="synthetic", **SMALL).load()
    dense = generated(base_questions=True)
    old = [turn for one in sample.conversations for s in one.sessions for turn in s.turns]
    new = [turn for one in dense.conversations for s in one.sessions for turn in s.turns]
    assert [turn for turn in new if ":p" not in turn.id] == old
    assert [q for q in dense.questions if q.plant is None] == list(sample.questions)
    assert sum(question.plant is not None for question in plain.questions) == 6
    assert len(plain.questions) > 100


def test_in_a_pool_plants_name_the_turns_of_the_pool() -> None:
    pooled = generated(pooled=True)
    ids = {turn.id for session in pooled.conversations[0].sessions for turn in session.turns}
    for question in pooled.questions:
        assert question.plant is not None
        assert ids.issuperset(question.plant.turns)
    forgotten = [one for session in pooled.conversations[0].sessions for one in session.forgets]
    assert len(forgotten) == 6
    assert ids.issuperset(forgotten)


def shown_and_answer(dataset: Dataset, question: Question) -> tuple[Row, str]:
    """With the whole conversation in the context: the field of the record, and chain's answer."""
    conversation = next(one for one in dataset.conversations if one.id == question.conversation)
    candidates = [
        Candidate(Memory(t.id, t.text, t.text, s.time, t.speaker, (t.id,)), 1.0)
        for s in conversation.sessions
        for t in s.turns
    ]
    context = "\n".join(one.memory.content for one in candidates)
    answer = ChainReader("chain").read(question.text, Retrieval(tuple(candidates), context, 0))
    return plant_fields(question, context)["plant"], answer.text


def test_whoever_reads_everything_is_shown_what_is_stated(dataset: Dataset) -> None:
    expected = {"superseded": True, "adjacent": True, "deleted": True, "injected": True}
    expected |= {"contradiction": False, "other_owner": False}
    for question in dataset.questions:
        assert question.plant is not None
        entry, answer = shown_and_answer(dataset, question)
        if question.plant.control:
            assert entry["shown"] is None
            assert answer == question.gold
            continue
        assert entry["shown"] == expected.get(question.plant.kind), SHOWN
        if question.plant.kind in ("injected", "deleted"):
            assert answer == question.plant.values[0]  # it believes and obeys every statement
        elif question.plant.kind in ("absent", "adjacent"):
            assert answer == "I do not know."
        elif question.plant.kind != "contradiction":
            assert answer == question.gold


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"plants": -1}, "dataset.plants: -1; use a whole number of 1 or more"),
        ({"plants": 1, "kinds": ["stale"]}, "dataset.kinds: 'stale' is not one of absent"),
        ({"plants": 1, "deletion": "maybe"}, "dataset.deletion: 'maybe' is none of done, said"),
        ({"plants": 1, "conversations": 1}, "other_owner needs a second conversation"),
        ({"plants": 1, "sessions": 1, "turns": 40}, "sessions of two times; world-0 has fewer"),
        ({"plants": 0}, "dataset.plants: 0; dataset.kinds and"),
        ({"plants": 1, "owner_filter": True}, "add dataset.pooled=true"),
        ({"plants": 1, "base_questions": 3}, "dataset.base_questions"),
    ],
)
def test_unusable_parameters_are_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as refused:
        generated(**changed)
    assert message in str(refused.value)


def test_conversations_that_cannot_hold_plants_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eval.datasets.files.DATA", tmp_path)
    once = {"haystack_dates": ["2023/05/20 (Sat) 18:30"] * 2}
    made = [instance("a"), instance("b", **once), instance("c")]
    write(tmp_path / "longmemeval_oracle.json", *made)
    planted = given(of="longmemeval", each=1, base_questions=True)
    assert [one.id for one in planted.conversations] == ["a", "c"]
    assert {one.conversation for one in planted.questions} == {"a", "c"}
    assert planted.repairs == (
        "b: left out, as planted facts need two speakers and sessions of two times",
    )
    write(tmp_path / "longmemeval_oracle.json", made[1])
    with pytest.raises(InputError, match="sessions of two times; b has fewer"):
        given(of="longmemeval")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"of": "nowhere"}, "dataset.of nowhere: no such file"),
        ({"each": 0}, "dataset.each: 0; use a whole number of 1 or more"),
        ({"conversations": ["harbour"]}, "other_owner needs a second conversation"),
        ({"conversations": ["nobody"]}, "dataset.conversations: 'nobody' is not one of harbour"),
    ],
)
def test_unusable_settings_of_planted_are_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as refused:
        Planted(**{"name": "planted", "of": "sample", **changed}).load()
    assert message in str(refused.value)
