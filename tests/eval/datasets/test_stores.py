"""Conversations and stores of a data set: splits, one store for all, and unrelated sessions around
the same questions and evidence.
"""

import copy
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from eval.datasets import selection as splits
from eval.datasets.grown import Grown
from eval.datasets.locomo import LoCoMo
from eval.datasets.types import Dataset
from memsys.core.errors import InputError
from memsys.core.types import Session
from tests.eval.commands import small_sample
from tests.eval.datasets.conftest import LOCOMO

DEV, HELD_OUT = splits.LOCOMO["dev"], splits.LOCOMO["held_out"]


@pytest.fixture
def ten(sample: dict[str, Any]) -> list[dict[str, Any]]:
    """A sample for each of LoCoMo's conversations, and another one."""
    return [{**sample, "sample_id": name} for name in (*HELD_OUT, "conv-1", *DEV)]


def names(dataset: Dataset) -> set[str]:
    return {one.id for one in dataset.conversations}


def test_the_splits_are_the_whole_of_locomo(locomo):
    assert {*DEV, *HELD_OUT} == names(locomo)
    assert len(DEV) == len(HELD_OUT) == 5
    assert not {*splits.REALTALK["dev"]} & {*splits.REALTALK["held_out"]}
    dev = LoCoMo(name="locomo", path=str(LOCOMO), split="dev").load()
    asked = [one for one in locomo.questions if one.conversation in DEV]
    assert list(dev.questions) == asked
    assert 0 < len(asked) < len(locomo.questions)


def test_a_split_filters_the_conversations(ten, load):
    assert names(load(ten)) == {*DEV, *HELD_OUT, "conv-1"}
    dev = load(ten, split="dev")
    assert names(dev) == set(DEV)
    assert {one.conversation for one in dev.questions} == set(DEV)
    assert names(load(ten, split="held_out")) == set(HELD_OUT)
    assert names(load(ten, split="dev", conversations=["conv-43"])) == {"conv-43"}
    (pooled,) = load(ten, split="dev", pooled=True).conversations
    assert {session.owner for session in pooled.sessions} == set(DEV)


def test_what_is_not_of_the_split_is_refused(ten, load):
    with pytest.raises(InputError, match=r"dataset\.conversations: 'conv-44' is not one of conv-2"):
        load(ten, split="dev", conversations=["conv-26", "conv-44"])
    with pytest.raises(InputError, match=r"^dataset\.split: 'train'; use one of dev, held_out"):
        load(ten, split="train")
    with pytest.raises(InputError, match=r"split=dev: the data has no conv-43; splits are of LoC"):
        load(ten[:-1], split="dev")


@pytest.fixture
def two(sample: dict[str, Any]) -> list[dict[str, Any]]:
    """conv-1 of 8 and 9 May 2023, and conv-2, whose second session is dated before its first."""
    other = copy.deepcopy(sample)
    other["sample_id"] = "conv-2"
    other["conversation"]["session_1_date_time"] = "2023-05-08 20:00"
    other["conversation"]["session_2_date_time"] = "2023-05-01 08:00"
    other["observation"] = {"session_2_observation": {"Ada": [["Ada has a fig.", "D1:1"]]}}
    return [sample, other]


def test_sessions_are_ordered_by_time_and_within_a_conversation_as_in_the_file(two, load):
    (pooled,) = load(two, pooled=True).conversations
    assert (pooled.id, pooled.speakers) == ("pooled", ("Ada", "Bo"))
    assert [(one.id, one.owner) for one in pooled.sessions] == [
        ("conv-1:session_1", "conv-1"),
        ("conv-2:session_1", "conv-2"),
        ("conv-2:session_2", "conv-2"),
        ("conv-1:session_2", "conv-1"),
    ]
    turns = [turn.id for one in pooled.sessions for turn in one.turns]
    assert turns[:3] == ["conv-1:D1:1", "conv-1:D1:2", "conv-2:D1:1"]
    assert len(set(turns)) == 6
    assert pooled.sessions[2].observations[0].turns == ("conv-2:D1:1",)


def test_questions_remain_those_of_their_conversations(two, load):
    own, pooled = load(two), load(two, pooled=True)
    assert [(one.id, one.conversation) for one in pooled.questions] == [
        (one.id, one.conversation) for one in own.questions
    ]
    assert {one.searched for one in pooled.questions} == {"pooled"}
    assert {one.searched for one in own.questions} == {"conv-1", "conv-2"}
    assert pooled.questions[2].evidence == ("conv-2:D1:1",)
    assert pooled.files == own.files


def test_conversations_without_a_question_left_are_in_the_store(two, load):
    two[1]["qa"] = two[1]["qa"][:1]
    assert len(load(two, types=["adversarial"]).conversations) == 1
    pooled = load(two, types=["adversarial"], pooled=True)
    assert {one.owner for one in pooled.conversations[0].sessions} == {"conv-1", "conv-2"}
    chosen = load(two, conversations=["conv-2"], pooled=True)
    assert {one.owner for one in chosen.conversations[0].sessions} == {"conv-2"}


def test_a_filter_without_a_pool_and_the_name_of_the_store_are_refused(two, load):
    with pytest.raises(InputError, match=r"owner_filter=true: .* add dataset\.pooled=true"):
        load(two, owner_filter=True)
    two[1]["sample_id"] = "pooled"
    with pytest.raises(InputError, match=r"^my\.json: sample #2: sample_id: pooled is the"):
        load(two)


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
    ("options", "message"),
    [
        ({"unrelated": -1}, "dataset.unrelated: -1; use a whole number of 0 or more"),
        ({"sample": 0}, "dataset.sample: 0; use a whole number of 1 or more"),
        ({"conversations": ["oak"]}, "dataset.conversations: 'oak' is not one of ash"),
        ({"types": ["riddle"]}, "dataset.types: 'riddle' is not one of"),
        ({"of": "longmemeval"}, "dataset.of=longmemeval: not of LoCoMo's layout"),
        ({"conversations": []}, "dataset.conversations: []; use a list, such as [ash], or null"),
    ],
)
def test_invalid_parameters_are_named(path, options, message):
    with pytest.raises(InputError, match="dataset") as error:
        Grown(**{"name": "grown", "of": path, **options}).load()
    assert message in str(error.value)


def test_no_question_left_is_refused(tmp_path):
    ash = small_sample("ash")
    path = tmp_path / "small.json"
    path.write_text(json.dumps([ash | {"qa": ash["qa"][:1]}]))
    with pytest.raises(InputError, match="no question is left; widen"):
        grown(str(path), types=["temporal"])
