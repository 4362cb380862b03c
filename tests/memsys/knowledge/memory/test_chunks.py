"""Chunks of a whole conversation as memories."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memsys.context.writers import dated
from memsys.core.errors import InputError
from memsys.core.tokens import count_tokens
from memsys.core.turns import line
from memsys.core.types import UNDATED, Session, Turn
from memsys.knowledge.memory.base import all_of
from memsys.knowledge.memory.chunks import Chunks
from memsys.strategies.plain import FullContext, VectorOnly
from tests.memsys.build import SESSIONS
from tests.memsys.contract import QUERIES

CHUNKS = Chunks("chunks", 40)
LINES = {turn.id: dated(line(turn), one.time) for one in SESSIONS for turn in one.turns}


def test_chunks_cut_the_dated_lines_of_all_sessions_into_equal_parts():
    made = all_of(CHUNKS, SESSIONS)
    text = "".join(LINES.values())
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
    bounds, start = {}, 0
    for id_, text in LINES.items():
        bounds[id_] = (start, start + len(text))
        start += len(text)
    start = 0
    for one in all_of(CHUNKS, SESSIONS):
        end = start + len(one.content)
        assert one.turns == tuple(
            t for t, (low, high) in bounds.items() if low < end and high > start
        )
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
    whole = FullContext(parts(memory=CHUNKS))
    for one in SESSIONS:
        whole.ingest(one)
    assert whole.retrieve(QUERIES[0]).context.replace("\n", "") == "".join(LINES.values()).replace(
        "\n", ""
    )


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


def test_a_chunk_has_at_least_sixteen_tokens():
    with pytest.raises(InputError, match=r"memory\.tokens: 8; use a whole number of 16 or more"):
        Chunks("chunks", 8)
