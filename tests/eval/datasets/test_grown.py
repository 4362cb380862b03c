"""Stores that grow: the same questions and evidence, and more unrelated sessions around them."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from eval.datasets.grown import Grown
from eval.datasets.locomo import LoCoMo
from eval.datasets.types import Dataset
from memsys.core.errors import InputError
from memsys.core.types import Session
from tests.eval.commands import small_sample

NAMES = ("ash", "beech", "cedar")  # of two sessions each
SIZES = (0, 1, 3, 4, 11)  # 4: all sessions of the others; then generated ones


@pytest.fixture
def path(tmp_path: Path) -> str:
    path = tmp_path / "small.json"
    path.write_text(json.dumps([small_sample(name) for name in NAMES]))
    return str(path)


def grown(path: str, **options: Any) -> Dataset:
    return Grown(name="grown", of=path, **options).load()


def sessions(dataset: Dataset, of: str) -> tuple[Session, ...]:
    return next(one.sessions for one in dataset.conversations if one.id == of)


def test_without_unrelated_sessions_the_conversations_are_those_of_the_data_set(path):
    plain = LoCoMo(name="small", path=path).load()
    same = grown(path, unrelated=0)
    assert same.conversations == plain.conversations
    assert same.questions == plain.questions


def test_questions_and_evidence_are_the_same_at_every_size(path):
    loaded = [grown(path, unrelated=size, sample=3) for size in SIZES]
    for one in loaded[1:]:
        assert one.questions == loaded[0].questions
        assert one.files == loaded[0].files
    for one, size in zip(loaded, SIZES, strict=True):
        for store in one.conversations:
            own = [session for session in store.sessions if not session.owner]
            assert own == list(sessions(loaded[0], store.id))
            assert len(store.sessions) == len(own) + size
            cited = {id_ for q in one.questions for id_ in q.evidence if q.searched == store.id}
            assert cited
            others = {turn.id for s in store.sessions if s.owner for turn in s.turns}
            assert not cited & others
            assert cited <= {turn.id for session in own for turn in session.turns}


def test_a_store_contains_the_smaller_ones_and_no_id_twice(path):
    stores = [sessions(grown(path, unrelated=size), "ash") for size in SIZES]
    for smaller, larger in pairwise(stores):
        assert {one.id for one in smaller} < {one.id for one in larger}
        kept = {one.id for one in smaller}
        assert [one for one in larger if one.id in kept] == list(smaller)
    turns = [turn.id for session in stores[-1] for turn in session.turns]
    assert len(set(turns)) == len(turns)
    assert len({session.id for session in stores[-1]}) == len(stores[-1])
    assert len({(session.owner, session.time) for session in stores[-1]}) == len(stores[-1])


def test_all_other_conversations_come_before_generated_ones_and_order_is_of_time(path):
    store = sessions(grown(path, unrelated=4), "beech")
    assert {one.owner for one in store} == {"", "ash", "cedar"}
    store = sessions(grown(path, unrelated=5), "beech")
    assert {one.owner for one in store} == {"", "ash", "cedar", "generated-0"}
    assert [one.time for one in store] == sorted(one.time for one in store)
    (generated,) = (one for one in store if one.owner == "generated-0")
    assert len(generated.turns) == 22
    assert generated.turns[0].id.startswith("generated-0:D")
    assert [turn.speaker for turn in generated.turns[:4]] == [
        turn.speaker for turn in generated.turns[:2]
    ] * 2


def test_a_part_has_the_stores_of_the_whole(path):
    whole = grown(path, unrelated=7, sample=2)
    part = grown(path, unrelated=7, sample=2, conversations=["cedar"])
    assert part.conversations == whole.conversations[2:]
    assert part.questions == whole.questions[4:]


def test_samples_depend_on_the_seed_and_are_in_order(path):
    made = [grown(path, sample=2, unrelated=2, seed=seed) for seed in range(4)]
    ids = [[question.id for question in one.questions] for one in made]
    assert all(one == sorted(one) and len(one) == 6 for one in ids)
    assert len({tuple(one) for one in ids}) > 1
    stores = {tuple(session.id for session in sessions(one, "ash")) for one in made}
    assert len(stores) > 1
    typed = grown(path, types=["temporal"], sample=5)
    assert [q.id for q in typed.questions] == ["ash/1", "beech/1", "cedar/1"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"unrelated": -1}, "dataset.unrelated: -1; use a whole number of 0 or more"),
        ({"sample": 0}, "dataset.sample: 0; use a whole number of 1 or more"),
        ({"conversations": ["oak"]}, "dataset.conversations: 'oak' is not one of ash"),
        ({"types": ["riddle"]}, "dataset.types: 'riddle' is not one of"),
        ({"of": "longmemeval"}, "dataset.of=longmemeval: not of LoCoMo's layout"),
        ({"conversations": []}, "dataset.conversations: []; use a list, such as [ash], or null"),
    ],
)
def test_invalid_parameters_are_named(path, options, said):
    with pytest.raises(InputError, match="dataset") as error:
        Grown(**{"name": "grown", "of": path, **options}).load()
    assert said in str(error.value)


def test_no_question_left_is_refused(tmp_path):
    ash = small_sample("ash")
    path = tmp_path / "small.json"
    path.write_text(json.dumps([ash | {"qa": ash["qa"][:1]}]))
    with pytest.raises(InputError, match="no question is left; widen"):
        grown(str(path), types=["temporal"])
