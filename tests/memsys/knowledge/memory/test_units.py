"""Turns, windows, observations, chunks and facts of a conversation as memories."""

import json
from dataclasses import replace
from datetime import datetime
from itertools import accumulate
from typing import Any

import pytest

from baselines.mem0 import Mem0
from baselines.rankings import BM25
from memsys.context.writers import dated
from memsys.core.errors import InputError
from memsys.core.tokens import count_tokens
from memsys.core.turns import importance, line
from memsys.core.types import UNDATED, Conversation, Observation, Session, Turn
from memsys.knowledge.memory.base import all_of, builder_for
from memsys.knowledge.memory.chunks import Chunks
from memsys.knowledge.memory.facts import Facts
from memsys.knowledge.memory.observations import Observations
from memsys.knowledge.memory.turns import Turns
from memsys.strategies.plain import FullContext, VectorOnly
from tests.memsys.build import SESSIONS, ingest_all, query
from tests.memsys.build import session as talk
from tests.memsys.contract import QUERIES
from tests.memsys.knowledge.facts.models import Planned, fact, facts
from tests.memsys.left import mentions
from tests.memsys.strategies.make import graph_expand

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


REPLIES = [
    facts(fact("Mara takes pwalrusy lessons", "Mara", 1), fact("Theo has an allotment", "Theo", 2)),
    facts(fact("Mara broke a bowl", "Mara", 6)),
    facts(
        fact("Theo has no allotment any more", "Theo", 9),
        *(fact(f"Mara {does} a bowl", "Mara", 8) for does in ("broke", "sold")),
    ),
]
ALL = {
    *("Mara takes pwalrusy lessons", "Theo has an allotment", "Mara broke a bowl"),
    *("Theo has no allotment any more", "Mara sold a bowl"),
}


def unit(**own: Any) -> Any:
    given: Any = {"exchange": 4, "recent": 10, "images": "caption", "retries": 0}
    prompts: Any = {"prompt": "facts_extract", "summary_prompt": None}
    return Facts(**{"name": "facts", **given, **prompts, **own})


def test_every_fact_is_added_once_and_logged_and_none_is_dropped():
    llm = Planned(REPLIES)
    one = unit().open(llm)
    built = [one.build(session) for session in SESSIONS]
    assert [len(memories) for memories in built] == [2, 1, 2]
    memories = [memory for found in built for memory in found]
    assert {memory.content for memory in memories} == ALL
    assert [memory.id for memory in memories] == ["f1", "f2", "f3", "f4", "f5"]
    assert memories[2].turns == ("D2:2",)
    assert [memory.time for memory in memories[2:4]] == [SESSIONS[1].time, SESSIONS[2].time]
    assert llm.asked["decide"] == []
    done = [(event["operation"], event["why"]) for event in one.events if event["step"] == "apply"]
    add, noop = ("ADD", "nothing is compared"), ("NOOP", "it is stored already, word for word")
    assert done == [add, add, add, add, noop, add]
    last = {"step": "session", "ADD": 2, "NOOP": 1, "faults": 0, "lost": 0, "of": 1}
    assert one.events[-1] == last
    assert json.loads(json.dumps(one.events)) == one.events


@pytest.mark.parametrize("kind", ["vector", "words", "graph", "mem0 without operations"])
def test_any_strategy_can_use_them(parts, kind):
    given = parts(memory=unit(), llm=Planned(REPLIES))
    if kind == "vector":
        one: Any = VectorOnly(given, 9, None)
    elif kind == "words":
        one = BM25(given, 9, None)
    elif kind == "graph":
        one = graph_expand(given, 9, start="hybrid")
    else:
        one = Mem0(given, 9, None, infer=False, facts={}, update={})
    assert [one.ingest(session) for session in SESSIONS] == [2, 1, 2]
    found = one.retrieve(query("Who sold a bowl? And the allotment?")).candidates
    assert {candidate.memory.content for candidate in found} == ALL
    assert (one.events[-1]["step"], set(one.prompts)) == ("session", {"facts"})


def test_two_conversations_of_a_run_share_nothing(parts):
    llm = Planned([REPLIES[0]], summary=["Mara pots."])
    given = parts(memory=unit(summary_prompt="facts_summary"), llm=llm)
    first, second = VectorOnly(given, 9, None), VectorOnly(given, 9, None)
    first.ingest(SESSIONS[0])
    assert second.events == []
    assert second.ingest(SESSIONS[0]) == 2
    assert llm.asked["extract"][1] == llm.asked["extract"][0]
    assert "Mara pots." not in llm.asked["extract"][1]
    ids = [[memory.id for memory in one.store.memories] for one in (first, second)]
    assert ids == [["f1", "f2"], ["f1", "f2"]]


def test_wrong_settings_and_a_missing_model_are_named(parts):
    for wrong in ({"exchange": 0}, {"retries": -1}, {"images": "eyes"}):
        with pytest.raises(InputError, match=f"^memory.{min(wrong)}: "):
            VectorOnly(parts(memory=unit(**wrong), llm=Planned()), 9, None)
    message = "^memory=facts: no model to write the facts; add llm=openai or llm=local$"
    with pytest.raises(InputError, match=message):
        VectorOnly(parts(memory=unit()), 9, None)


def test_an_option_without_state_is_its_own_builder():
    assert builder_for(turns := Turns("turns"), None) is turns


def test_facts_of_forgotten_turns_are_gone_and_may_be_stated_again(parts):
    nameless = fact("Theo met a walrus", "Theo")
    lessons = fact("Mara takes pwalrusy lessons", "Mara", 1)
    llm = Planned([facts(lessons, nameless), *REPLIES[1:], facts(lessons)])
    strategy = ingest_all(VectorOnly(parts(memory=unit(), llm=llm), 9, None))
    strategy.retrieve(query("pwalrusy"))
    assert strategy.forget(["D9:9"]) == 0
    assert strategy.forget(["D1:1"]) == 2  # and the fact that names no turn of its session
    left = ALL - {"Mara takes pwalrusy lessons", "Theo has an allotment"}
    assert {one.content for one in strategy.store.memories} == left
    strategy.events.clear()
    assert not mentions(strategy, "lessons", strategy.parts.embedder, llm)
    assert not mentions(strategy, "walrus", strategy.parts.embedder, llm)
    again = talk(4, SESSIONS[2].time, ("Mara", "Pwalrusy lessons again."))
    assert strategy.ingest(again) == 1
    assert strategy.store.memories[-1].id == "f6"  # no id is used twice
