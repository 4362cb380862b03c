"""Facts are added, changed, dropped and left alone as a model says; faults cost what they must."""

from datetime import datetime
from typing import Any

import pytest

from memsys.core.errors import InputError
from memsys.core.types import Session
from memsys.embed.cache import CachedEmbedder
from memsys.knowledge.facts.extract import ExtractSettings
from memsys.knowledge.facts.fact import Fact
from memsys.knowledge.facts.fact_book import FactBook
from memsys.knowledge.facts.fact_writer import UpdateSettings
from memsys.llm.base import LLMError
from memsys.stores.faiss_vectors import FaissVectors
from tests.memsys.build import session
from tests.memsys.knowledge.facts.models import (
    BookWriter,
    Planned,
    Reply,
    call,
    fact,
    facts,
    operation,
    operations,
)

DAY = datetime(2024, 3, 2, 10, 0)
BADMINTON = fact("Mara likes badminton", "Mara", 1)
NO_MORE = fact("Mara does not like badminton any more", "Mara", 1)


def talk(number: int, *texts: str) -> Session:
    return session(number, DAY.replace(day=number), *(("Mara", text) for text in texts))


def writer(
    llm: Planned,
    embedder: CachedEmbedder,
    calls: Any = "tools",
    similar: int = 10,
    retries: int = 0,
) -> BookWriter:
    own = {"prompt": "facts_extract", "summary_prompt": None, "exchange": 1, "retries": retries}
    extract = ExtractSettings(**own)
    update = UpdateSettings(calls=calls, similar=similar, prompt="mem0_update")
    return BookWriter(llm, embedder, extract, update)


def written(
    embedder: CachedEmbedder, rows: list[Any], decide: list[Reply], calls: str = "tools"
) -> tuple[BookWriter, Planned]:
    """A writer that read one message a session, each with one row of facts."""
    llm = Planned([facts(row) for row in rows], decide)
    one = writer(llm, embedder, calls)
    for number in range(1, len(rows) + 1):
        one.write(talk(number, f"message {number}"))
    return one, llm


def contents(one: BookWriter) -> list[str]:
    return [memory.content for memory in one.book.memories]


def faults(one: BookWriter) -> list[str]:
    return [event["fault"] for event in one.log if "fault" in event]


CHANGES = [
    ((call("DELETE", id=1), call("ADD")), "tools"),
    ((call("UPDATE", id=1, content="Mara does not like badminton any more"),), "tools"),
    (operations(operation("DELETE", 1), operation("ADD")), "schema"),
]


@pytest.mark.parametrize(("decision", "calls"), CHANGES)
def test_a_change_of_mind_ends_in_one_fact_and_a_history(bag_of_words, decision, calls):
    one, llm = written(bag_of_words, [BADMINTON, NO_MORE], [decision], calls)
    assert contents(one) == ["Mara does not like badminton any more"]
    assert llm.by_tools == (calls == "tools")
    history = [(change.operation, change.old, change.new) for change in one.book.history]
    assert history[0] == ("ADD", None, "Mara likes badminton")
    assert history[1][1] == "Mara likes badminton"
    assert history[-1][2] == "Mara does not like badminton any more"
    assert [change.time.day for change in one.book.history][:2] == [1, 2]
    logged = [event for event in one.log if event["step"] == "apply"]
    assert [(e["operation"], e["old"], e["new"]) for e in logged] == history
    assert [event["why"] for event in logged][1:] == ["so it is"] * (len(logged) - 1)
    decided = [event for event in one.log if event["step"] == "decide"]
    assert [e["tokens"] for e in decided] == [{"input_tokens": 100, "output_tokens": 10}]
    assert faults(one) == []


def test_an_update_keeps_the_id_and_rests_on_both_turns(bag_of_words):
    change = call("UPDATE", id=1, content="likes badminton and squash")
    one, _ = written(bag_of_words, [BADMINTON, fact("Mara likes squash", "Mara", 2)], [(change,)])
    (memory,) = one.book.memories
    assert (memory.id, memory.turns, memory.content, memory.time) == (
        *("f1", ("D1:1", "D2:1"), "Mara: likes badminton and squash", DAY.replace(day=2)),
    )


def test_adding_deletes_nothing_and_nothing_changes_by_noop(bag_of_words):
    one, llm = written(bag_of_words, [BADMINTON, NO_MORE], [(call("ADD"),)])
    assert contents(one) == ["Mara likes badminton", "Mara does not like badminton any more"]
    assert "1. Mara likes badminton" in llm.asked["decide"][0]
    assert [change.operation for change in one.book.history] == ["ADD", "ADD"]
    one, _ = written(bag_of_words, [BADMINTON, NO_MORE], [(call("NOOP"),)])
    assert (contents(one), len(one.book.history)) == (["Mara likes badminton"], 1)
    assert one.log[-1] == {"step": "session", "NOOP": 1, "faults": 0, "lost": 0, "of": 1}


def test_only_facts_of_the_same_speaker_are_compared(bag_of_words):
    one, llm = written(bag_of_words, [BADMINTON], [])
    llm.plans["extract"] = [facts(fact("Theo likes badminton", "Theo", 2))]
    one.write(session(2, DAY.replace(day=2), ("Theo", "Me too")))
    assert contents(one) == ["Mara likes badminton", "Theo likes badminton"]
    assert llm.asked["decide"] == []


def test_the_most_similar_are_shown_best_first(bag_of_words):
    rows = [fact(f"Mara likes {word}", "Mara", 1) for word in ("kelp", "old kilns", "kilns")]
    llm = Planned([facts(*rows), facts(fact("Mara sold kilns", "Mara", 2))], [(call("ADD"),)])
    writer(llm, bag_of_words, similar=2).write(talk(1, "first", "second"))
    shown = llm.asked["decide"][-1].partition("<stored_facts>\n")[2].partition("\n</stored")[0]
    assert shown == "1. Mara likes kilns\n2. Mara likes old kilns"


def test_the_store_follows_every_change(bag_of_words):
    book = FactBook(bag_of_words, FaissVectors())
    kelp = Fact("", "Mara likes kelp", None, "Mara", ())
    squash = Fact("", "Mara plays squash", None, "Mara", ())
    for one in (kelp, squash):
        book.add(one, DAY)
    book.update("f1", "Mara sold kilns", kelp, DAY)
    sold = Fact("", "Mara sold kilns", None, "Mara", ())
    assert [memory.id for memory in book.similar(sold, 1)] == ["f1"]
    book.delete("f1", sold, DAY)
    assert [memory.id for memory in book.similar(sold, 9)] == ["f2"]


@pytest.mark.parametrize(
    ("turn", "left", "history"),
    [
        ("t1", "Ann moved to Berlin", []),
        ("t5", "Ann moved to Berlin", [("ADD", None), ("DELETE", "Ann lives in Paris")]),
        ("t9", "Ann has a dog in Paris", [("ADD", None), ("UPDATE", "Ann lives in Paris")]),
    ],
)
def test_a_fact_deleted_by_another_turn_stays_deleted(bag_of_words, turn, left, history):
    book = FactBook(bag_of_words)
    said = {"t1": "lives in Paris", "t5": "has a dog", "t9": "moved to Berlin"}
    paris, dog, berlin = (Fact("", f"Ann {does}", None, "Ann", (t,)) for t, does in said.items())
    book.add(paris, DAY)
    book.update("f1", "Ann has a dog in Paris", dog, DAY)
    book.delete("f1", berlin, DAY)
    book.add(berlin, DAY)
    book.forget({turn}, ())
    assert [one.content for one in book.memories] == [left]
    assert [(one.operation, one.old) for one in book.history if one.id == "f1"] == history


@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        (("ADD", '{"why": '), "broken_json"),  # for others see test_fact_prompts
        (call("DELETE", id=9), "unknown_id"),
        (call("UPDATE", id=0, content="Mara is a fern"), "unknown_id"),
    ],
)
def test_a_bad_operation_is_logged_and_does_nothing(bag_of_words, bad, fault):
    one, _ = written(bag_of_words, [BADMINTON, NO_MORE], [(bad, call("NOOP"))])
    assert (contents(one), faults(one)) == (["Mara likes badminton"], [fault])
    assert one.log[-1]["faults"] == 1
    (event,) = [event for event in one.log if "fault" in event]
    assert event["fact"] == "Mara does not like badminton any more"


def test_what_one_operation_dropped_the_next_cannot_change(bag_of_words):
    calls = call("DELETE", id=1), call("UPDATE", id=1, content="Mara likes squash")
    one, _ = written(bag_of_words, [BADMINTON, NO_MORE], [calls])
    assert (contents(one), faults(one)) == ([], ["unknown_id"])
    one, _ = written(bag_of_words, [BADMINTON, NO_MORE], [operations()], "schema")
    assert faults(one) == ["no_operation"]  # an empty choice


def test_a_session_that_nobody_answered_for_is_an_error(bag_of_words):
    one = writer(Planned([LLMError("the model refused")]), bag_of_words)
    with pytest.raises(LLMError, match="none of 2 exchanges was ingested: the model refused"):
        one.write(talk(1, "first", "second"))
    assert one.log[-1]["faults"] == 2


@pytest.mark.parametrize(
    ("wrong", "message"), [({"calls": "words"}, "update.calls"), ({"similar": 0}, "update.similar")]
)
def test_wrong_settings_are_named(wrong, message):
    with pytest.raises(InputError, match=f"^strategy.{message}: "):
        UpdateSettings(**{"calls": "tools", "similar": 3, "prompt": "mem0_update", **wrong})


# What no answer came for is tried again at a session's end: a passing outage costs no memory.
OUT = LLMError("out of reach")
ROWS = [fact(f"Mara {does}", "Mara", n) for n, does in enumerate(("pots", "rows", "swims"), 1)]
TALK = talk(2, "first", "second", "third")


@pytest.mark.parametrize(("retries", "had"), [(0, "pots swims"), (1, "pots rows swims")])
def test_a_lost_exchange_is_had_at_the_end(bag_of_words, retries, had):
    llm = Planned([facts(ROWS[0]), OUT, facts(ROWS[2]), facts(ROWS[1])], [(call("ADD"),)])
    one = writer(llm, bag_of_words, retries=retries)
    one.write(TALK)
    asked = llm.asked["extract"]
    assert contents(one) == [f"Mara {does}" for does in had.split()]
    assert asked[3:] == asked[1 : 1 + retries]  # so that a recording is found
    session = {"step": "session", "ADD": 2 + retries, "faults": 1, "lost": 1 - retries, "of": 3}
    assert one.log[-1] == session
    assert [e["turns"] for e in one.log if "fault" in e] == [["D2:2"]]


def test_a_lost_decision_is_had_at_the_end(bag_of_words):
    llm = Planned([facts(row) for row in ROWS], [OUT, (call("ADD"),)])
    one = writer(llm, bag_of_words, retries=1)
    one.write(TALK)
    assert contents(one) == ["Mara pots", "Mara swims", "Mara rows"]
    assert one.log[-1] == {"step": "session", "ADD": 3, "faults": 1, "lost": 0, "of": 3}


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_what_stays_out_of_reach_is_lost_after_so_many(bag_of_words, retries):
    def extract(text: str) -> Reply:
        new = text.partition("<new_messages>")[2]
        return OUT if "second" in new else facts(ROWS["third" in new])

    llm = Planned(extract, [OUT])
    one = writer(llm, bag_of_words, retries=retries)
    one.write(TALK)
    assert contents(one) == ["Mara pots"]
    assert len(llm.asked["extract"]) == 3 + retries
    assert len(llm.asked["decide"]) == 1 + retries
    assert (one.log[-1]["lost"], one.log[-1]["faults"]) == (2, 2 * (1 + retries))


def test_an_answer_that_cannot_be_used_is_not_asked_for_again(bag_of_words):
    llm = Planned([facts(row) for row in ROWS[:2]], [(call("FORGET"),), (call("ADD"),)])
    one = writer(llm, bag_of_words, retries=1)
    one.write(talk(2, "first", "second"))
    assert (len(llm.asked["decide"]), one.log[-1]["lost"], contents(one)) == (1, 1, ["Mara pots"])
