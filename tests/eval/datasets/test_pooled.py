"""One store for all conversations: ids, order, owners, and what is refused."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from eval.datasets.types import Dataset
from memsys.core.errors import InputError

Load = Callable[..., Dataset]


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
    with pytest.raises(InputError, match=r"^my\.json: sample pooled: sample_id: pooled is the"):
        load(two)
