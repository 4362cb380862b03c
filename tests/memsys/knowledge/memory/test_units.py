"""Turns, windows, observations and chunks of a conversation as memories."""

from dataclasses import replace
from datetime import datetime
from itertools import accumulate

import pytest

from memsys.context.writers import dated
from memsys.core.errors import InputError
from memsys.core.tokens import count_tokens
from memsys.core.turns import importance, line
from memsys.core.types import UNDATED, Conversation, Observation, Session, Turn
from memsys.knowledge.memory.base import all_of
from memsys.knowledge.memory.chunks import Chunks
from memsys.knowledge.memory.observations import Observations
from memsys.knowledge.memory.turns import Turns
from memsys.strategies.plain import FullContext, VectorOnly
from tests.memsys.build import SESSIONS, ingest_all
from tests.memsys.contract import QUERIES

FIRST = SESSIONS[0]
LINES = [f"{turn.speaker}: {turn.text}" for turn in FIRST.turns]


def test_a_turn_is_one_memory_and_the_lead_is_matched_but_not_shown():
    made = Turns("turns", lead=2).build(FIRST)
    assert [(one.id, one.turns, one.content, one.speaker, one.time) for one in made] == [
        (turn.id, (turn.id,), text, turn.speaker, FIRST.time)
        for turn, text in zip(FIRST.turns, LINES, strict=True)
    ]
    texts = [made[0].index_text, made[1].index_text, made[3].index_text]
    assert texts == [LINES[0], "\n".join(LINES[0:2]), "\n".join(LINES[1:4])]
    assert [memory.importance for memory in made] == [importance(line) for line in LINES]
    assert 0 < made[3].importance < made[0].importance < 1
    assert [memory.index_text for memory in Turns("turns", lead=0).build(FIRST)] == LINES


def test_a_window_ends_with_its_session():
    made = Turns("windows", before=1, after=2, lead=0).build(FIRST)
    ids = ("D1:1", "D1:2", "D1:3", "D1:4")
    assert [memory.turns for memory in made] == [ids[:3], ids, ids[1:], ids[2:]]
    assert [memory.id for memory in made] == list(ids)
    assert (made[3].content, made[3].speaker) == ("\n".join(LINES[2:]), "Theo")
    # a lead stands before the window
    made = Turns("windows", before=1, after=0, lead=1).build(FIRST)
    assert made[3].content == "\n".join(LINES[2:4])
    assert made[3].index_text == "\n".join(LINES[1:4])
    assert made[1].index_text == "\n".join(LINES[0:2])


def test_an_image_is_remembered_by_its_caption():
    turn = Turn("D1:1", "Mara", "Look!", caption="a cracked bowl")
    (memory,) = Turns("turns").build(Session("1", datetime(2024, 3, 2), (turn,)))
    assert memory.content == line(turn) == "Mara: Look! [image: a cracked bowl]"
    assert line(Turn("D1:2", "Mara", "Look!")) == "Mara: Look!"


def test_an_empty_session_and_every_conversation_will_do_but_no_negative_number():
    assert Turns("turns").build(Session("1", datetime(2024, 3, 2), ())) == []
    Turns("turns").check(Conversation("talk", ("Mara", "Theo"), SESSIONS))
    for field in ("before", "after", "lead"):
        with pytest.raises(InputError, match=rf"memory\.{field}: -1"):
            Turns("turns", **{field: -1})
    with pytest.raises(InputError, match=r"memory\.tokens: 8; use a whole number of 16 or more"):
        Chunks("chunks", 8)


def test_importance_is_distinct_terms_over_20():
    assert importance("") == importance("So it is!") == 0
    assert importance("bowl, kiln, bowl, kilns") == pytest.approx(2 / 20)
    assert importance(" ".join(f"word{i}" for i in range(20))) == 1
    assert importance(" ".join(f"word{i}" for i in range(300))) == 1


NOTES = (
    Observation("Mara", "Mara takes pottery lessons.", ("D1:1",)),
    Observation("Theo", "Theo grows tomatoes on an allotment.", ("D1:2", "D1:4")),
)
NOTED = replace(SESSIONS[0], observations=NOTES)


def test_a_fact_is_one_memory_and_rests_on_its_turns():
    made = Observations("observations").build(NOTED)
    texts = "Mara: Mara takes pottery lessons.", "Theo: Theo grows tomatoes on an allotment."
    assert [(one.content, one.index_text, one.turns, one.speaker, one.time) for one in made] == [
        (text, text, note.turns, note.speaker, NOTED.time)
        for text, note in zip(texts, NOTES, strict=True)
    ]
    assert made[0].importance == pytest.approx(4 / 20)  # mara take potteri lesson


def test_ids_are_unique_in_a_conversation_and_without_facts_there_is_no_memory():
    builder = Observations("observations")
    sessions = [replace(session, observations=NOTES) for session in SESSIONS]
    ids = [memory.id for session in sessions for memory in builder.build(session)]
    assert len(set(ids)) == len(ids) == 6
    assert builder.build(SESSIONS[0]) == []


def test_a_conversation_without_any_fact_is_refused():
    builder = Observations("facts")
    talk = Conversation("talk-7", ("Mara", "Theo"), SESSIONS)
    with pytest.raises(InputError, match=r"memory=facts: sample talk-7 .*use memory=turns"):
        builder.check(talk)
    builder.check(replace(talk, sessions=(*SESSIONS[1:], NOTED)))


CHUNKS = Chunks("chunks", 40)
DATED = {turn.id: dated(line(turn), one.time) for one in SESSIONS for turn in one.turns}


def test_chunks_cut_the_dated_lines_of_all_sessions_into_equal_parts():
    made = all_of(CHUNKS, SESSIONS)
    text = "".join(DATED.values())
    assert "".join(one.content for one in made) == text
    assert text.startswith("[")
    sizes = [count_tokens(one.content) for one in made]
    assert len(made) == -(-count_tokens(text) // 40) > 2
    assert set(sizes[:-1]) == {40}
    assert [one.id for one in made] == [f"c{i + 1}" for i in range(len(made))]
    assert {one.time for one in made} == {UNDATED}
    sessions = [{turn.partition(":")[0] for turn in one.turns} for one in made]
    assert max(map(len, sessions)) == 2  # a chunk goes on in the next session


def test_the_turns_of_a_chunk_are_those_of_which_it_has_a_part():
    ends = list(accumulate(map(len, DATED.values())))
    bounds, start = list(zip(DATED, [0, *ends], ends, strict=False)), 0
    for one in all_of(CHUNKS, SESSIONS):
        end = start + len(one.content)
        assert one.turns == tuple(t for t, low, high in bounds if low < end and high > start)
        start = end


def test_a_chunk_goes_on_in_the_next_session(parts):
    strategy = VectorOnly(parts(memory=CHUNKS), None)
    added = 0
    for number, one in enumerate(SESSIONS, 1):
        added += strategy.ingest(one)
        assert strategy.store.memories == all_of(CHUNKS, SESSIONS[:number])
        found = strategy.retrieve(QUERIES[0]).candidates  # of the indexes of this moment
        assert {c.memory for c in found} == set(strategy.store.memories)
    assert added == len(strategy.store.memories)
    assert strategy.forget([SESSIONS[0].turns[0].id]) is None
    whole = ingest_all(FullContext(parts(memory=CHUNKS)))
    context, text = whole.retrieve(QUERIES[0]).context, "".join(DATED.values())
    assert context.replace("\n", "") == text.replace("\n", "")


def test_no_chunk_ends_within_a_character():
    session = Session("1", UNDATED, (Turn("t", "", "🦤𝕏鑿🏴‍☠️" * 40),))
    made = all_of(Chunks("chunks", 16), [session])
    assert "".join(one.content for one in made) == session.turns[0].text + "\n"
    assert {14, 15, 16} & {count_tokens(one.content) for one in made}


def test_owners_share_no_chunk():
    mine, theirs = (replace(one, owner=name) for one, name in zip(SESSIONS, "ab", strict=False))
    made = all_of(CHUNKS, [mine, theirs])
    assert [one.turns for one in made if {*one.turns} & {t.id for t in mine.turns}] == [
        one.turns for one in all_of(CHUNKS, [mine])
    ]
