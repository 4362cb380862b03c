"""Splits of the conversations, and one store for all: ids, order, owners, what is refused."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from eval.datasets import selection as splits
from eval.datasets.locomo import LoCoMo
from eval.datasets.types import Dataset
from memsys.core.errors import InputError
from tests.eval.datasets.conftest import LOCOMO

Load = Callable[..., Dataset]
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
