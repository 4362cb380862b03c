"""What no answer came for is tried again at a session's end: a passing outage costs no memory."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pytest

from memsys.core.types import Session
from memsys.embed.cache import CachedEmbedder
from memsys.knowledge.facts.extract import ExtractSettings
from memsys.knowledge.facts.fact_writer import UpdateSettings
from memsys.llm.base import LLMError
from tests.memsys.build import session
from tests.memsys.knowledge.facts.models import BookWriter, Planned, Reply, call, fact, facts
from tests.memsys.llm import faults
from tests.memsys.llm.answers import Body
from tests.memsys.llm.server import Behaviour, FaultyServer

DAY = datetime(2024, 3, 2, 10, 0)
OUT = LLMError("out of reach")
ROWS = [fact(f"Mara {does}", "Mara", n) for n, does in enumerate(("pots", "rows", "swims"), 1)]
TALK: Session = session(1, DAY, *(("Mara", text) for text in ("first", "second", "third")))


def writer(llm: Any, embedder: CachedEmbedder, retries: int = 1, **own: Any) -> BookWriter:
    extract = {"prompt": "facts_extract", "summary_prompt": None, "exchange": 1, **own}
    update = UpdateSettings(calls="tools", similar=10, prompt="mem0_update")
    return BookWriter(llm, embedder, ExtractSettings(retries=retries, **extract), update)


def contents(one: BookWriter) -> list[str]:
    return [memory.content for memory in one.book.memories]


@pytest.mark.parametrize("retries", [0, 1])
def test_a_lost_exchange_is_had_at_the_end_or_the_next_time_and_nothing_twice(
    bag_of_words, retries
):
    plan: list[Reply] = [facts(ROWS[0]), OUT, facts(ROWS[2]), facts(ROWS[1])]
    llm = Planned(plan, [(call("ADD"),)])
    one = writer(llm, bag_of_words, retries)
    for time in (1, 2, 3):
        one.write(TALK)
        if time == 1 and not retries:
            assert contents(one) == ["Mara pots", "Mara swims"]
            assert one.log[-1] == {"step": "session", "ADD": 2, "faults": 1, "lost": 1, "of": 3}
            continue
        assert set(contents(one)) == {"Mara pots", "Mara rows", "Mara swims"}
        assert one.log[-1]["lost"] == 0
    assert contents(one) == ["Mara pots", "Mara rows", "Mara swims"] if retries else True
    assert llm.asked["extract"][3] == llm.asked["extract"][1]  # so that a recording is found
    assert [len(llm.asked[kind]) for kind in ("extract", "decide")] == [4, 2]
    assert [e["turns"] for e in one.log if "fault" in e] == [["D1:2"]]


def test_a_lost_decision_is_had_at_the_end(bag_of_words):
    llm = Planned([facts(row) for row in ROWS], [OUT, (call("ADD"),)])
    one = writer(llm, bag_of_words)
    one.write(TALK)
    assert contents(one) == ["Mara pots", "Mara swims", "Mara rows"]
    assert one.log[-1] == {"step": "session", "ADD": 3, "faults": 1, "lost": 0, "of": 3}


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_what_stays_out_of_reach_is_lost_after_so_many(bag_of_words, retries):
    def extract(text: str) -> Reply:
        new = text.partition("<new_messages>")[2]
        return OUT if "second" in new else facts(ROWS["third" in new])

    llm = Planned(extract, [OUT])
    one = writer(llm, bag_of_words, retries)
    one.write(TALK)
    assert contents(one) == ["Mara pots"]
    assert len(llm.asked["extract"]) == 3 + retries
    assert len(llm.asked["decide"]) == 1 + retries
    assert (one.log[-1]["lost"], one.log[-1]["faults"]) == (2, 2 * (1 + retries))


def test_an_answer_that_cannot_be_used_is_not_asked_for_again(bag_of_words):
    """At temperature 0 it would be the same; the next time the session is written it is tried."""
    llm = Planned([facts(row) for row in ROWS[:2]], [(call("FORGET"),), (call("ADD"),)])
    one = writer(llm, bag_of_words)
    two = Session(TALK.id, TALK.time, TALK.turns[:2])
    one.write(two)
    assert len(llm.asked["decide"]) == 1
    assert one.log[-1]["lost"] == 1
    one.write(two)
    assert contents(one) == ["Mara pots", "Mara rows"]
    assert one.log[-1]["lost"] == 0


def test_a_retry_never_doubles_a_fact(bag_of_words):
    """The server notes all three facts for an exchange that it was slow with the first time."""
    plan: list[Reply] = [facts(ROWS[0]), OUT, facts(ROWS[2]), facts(*ROWS)]
    one = writer(Planned(plan, [(call("ADD"),)]), bag_of_words)
    one.write(TALK)
    one.write(TALK)
    assert sorted(contents(one)) == ["Mara pots", "Mara rows", "Mara swims"]
    assert [c.operation for c in one.book.history] == ["ADD"] * 3


def test_a_passing_outage_of_a_server_costs_no_memory(make, bag_of_words):
    late = {"second", "Mara swims"}  # one extraction and one decision, each the first time

    def script(body: Body) -> Behaviour:
        text = body["messages"][0]["content"]
        new = text.partition("<new_messages>")[2]
        for word in [one for one in late if one in new + text.partition("<new_fact>")[2]]:
            late.remove(word)
            return faults.reset
        if "tools" in body:
            return faults.answer(_tool_call(body, "ADD"))
        number = next(n for n, word in enumerate(("first", "second", "third"), 1) if word in new)
        return faults.says(facts(ROWS[number - 1]))

    with FaultyServer(script) as server:
        one = writer(make(server, retries=0), bag_of_words)
        one.write(TALK)
    assert sorted(contents(one)) == ["Mara pots", "Mara rows", "Mara swims"]
    assert [e["fault"] for e in one.log if "fault" in e] == ["no_answer", "no_answer"]
    assert one.log[-1]["lost"] == 0


def _tool_call(body: Body, name: str) -> Body:
    function = {"name": name, "arguments": json.dumps({"why": "so it is"})}
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "1", "type": "function", "function": function}],
    }
    return {
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 2},
    }


@pytest.mark.parametrize(
    ("turn", "left"), [("D9:9", ["Mara pots", "Mara rows"]), ("D1:3", ["Mara pots"])]
)
def test_a_waiting_fact_without_turns_is_forgotten_with_its_session(bag_of_words, turn, left):
    unnamed = fact("Mara rows")
    llm = Planned([facts(ROWS[0]), facts(unnamed), facts()], [OUT, (call("ADD"),)])
    one = writer(llm, bag_of_words, retries=0)
    one.write(TALK)
    one.forget([turn])
    one.write(TALK)
    assert contents(one) == left
