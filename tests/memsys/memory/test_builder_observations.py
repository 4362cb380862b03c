from __future__ import annotations

from dataclasses import replace

import pytest

from memsys.errors import InputError
from memsys.memory.observations import Observations
from memsys.types import Conversation, Observation
from tests.memsys.build import SESSIONS

FACTS = (
    Observation("Mara", "Mara takes pottery lessons.", ("D1:1",)),
    Observation("Theo", "Theo grows tomatoes on an allotment.", ("D1:2", "D1:4")),
)
NOTED = replace(SESSIONS[0], observations=FACTS)


def test_a_fact_is_one_memory_and_rests_on_its_turns() -> None:
    made = Observations("observations").build(NOTED)
    assert [memory.content for memory in made] == [
        "Mara: Mara takes pottery lessons.",
        "Theo: Theo grows tomatoes on an allotment.",
    ]
    assert [memory.turns for memory in made] == [("D1:1",), ("D1:2", "D1:4")]
    assert [memory.speaker for memory in made] == ["Mara", "Theo"]
    assert {memory.time for memory in made} == {NOTED.time}
    assert [memory.index_text for memory in made] == [memory.content for memory in made]
    assert made[0].importance == pytest.approx(4 / 20)  # mara take potteri lesson


def test_ids_are_unique_in_a_conversation() -> None:
    builder = Observations("observations")
    sessions = [replace(session, observations=FACTS) for session in SESSIONS]
    ids = [memory.id for session in sessions for memory in builder.build(session)]
    assert len(set(ids)) == len(ids) == 6


def test_a_session_without_facts_makes_no_memory() -> None:
    assert Observations("observations").build(SESSIONS[0]) == []


def test_a_conversation_without_any_fact_is_refused() -> None:
    builder = Observations("facts")
    talk = Conversation("talk-7", ("Mara", "Theo"), SESSIONS)
    with pytest.raises(InputError, match=r"memory=facts: sample talk-7 .*use memory=turns"):
        builder.check(talk)
    builder.check(replace(talk, sessions=(*SESSIONS[1:], NOTED)))
