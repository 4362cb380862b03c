"""Mem0 as a strategy: current facts of both speakers, found by cosine; raw messages on demand."""

import json
from collections.abc import Sequence
from typing import Any, ClassVar

import pytest

from baselines.mem0 import Mem0
from memsys.core.errors import InputError
from memsys.core.types import Vectors
from memsys.llm.base import LLMError
from memsys.stores.faiss_vectors import FaissVectors
from memsys.stores.size import lines
from memsys.strategies.store import Parts
from memsys.strategies.strategy import Strategy
from tests.memsys.build import SESSIONS, TURN_IDS, MakeParts, query
from tests.memsys.contract import Contract
from tests.memsys.knowledge.facts.models import Planned, Reply, call, fact, facts
from tests.memsys.left import mentions

FACTS: dict[str, Any] = {
    "exchange": 4,
    "recent": 10,
    "prompt": "facts_extract",
    "summary_prompt": None,
}
UPDATE: dict[str, Any] = {"calls": "tools", "similar": 10, "prompt": "mem0_update"}
REPLIES = [
    facts(fact("Mara takes pottery lessons", "Mara", 1), fact("Theo has an allotment", "Theo", 2)),
    facts(fact("Mara broke a bowl", "Mara", 6)),
    facts(fact("Mara sold a bowl", "Mara", 8), fact("Theo gave up the allotment", "Theo", 9)),
]


def mem0(parts: Parts, k: int = 3, budget: int | None = None, **own: Any) -> Mem0:
    return Mem0(parts, k, budget, **{"infer": True, "facts": FACTS, "update": UPDATE, **own})


def ingested(parts: MakeParts, *decisions: Reply, **own: Any) -> tuple[Mem0, list[int]]:
    """A strategy after the three sessions, and what each ingest returned."""
    strategy = mem0(parts(llm=Planned(REPLIES, decisions)), **own)
    return strategy, [strategy.ingest(session) for session in SESSIONS]


def contents(strategy: Strategy, text: str) -> set[str]:
    return {one.memory.content for one in strategy.retrieve(query(text)).candidates}


class TestRawMessages(Contract):
    """With infer=false it is a strategy like any other, and asks no model."""

    def make(self, parts: Parts, k: int = 3, budget: int | None = None) -> Strategy:
        return mem0(parts, k, budget, infer=False)


def test_facts_of_both_speakers_are_found_and_what_was_dropped_is_not(parts):
    drop: Reply = (call("DELETE", id=1),)
    add: Reply = (call("ADD"),)
    own = {"k": 9}
    strategy, grown = ingested(parts, add, **own)
    assert grown == [2, 1, 2]
    assert contents(strategy, "allotment") > {"Mara sold a bowl", "Theo has an allotment"}
    strategy, grown = ingested(parts, add, add, drop, **own)
    assert grown == [2, 1, 0]
    left = {"Mara takes pottery lessons", "Mara broke a bowl", "Mara sold a bowl"}
    assert contents(strategy, "allotment") == left
    assert [change.operation for change in strategy._book.history][-1] == "DELETE"
    strategy, grown = ingested(parts, drop, **own)
    assert grown == [2, -1, 0]
    assert len(strategy.store.memories) == 1


def test_vectors_are_counted_once_and_the_history_is_too(parts):
    strategy, _ = ingested(parts, (call("ADD"),), (call("DELETE", id=1), ("ADD", "{")))
    held, kept, history = strategy.size(), strategy.store.memories, strategy._book.history
    assert {change.operation for change in history} == {"ADD", "DELETE"}
    told_of = sum(len(change.new or "") + len(change.old or "") for change in history)
    assert told_of < held["bytes"] - lines(kept) - len(kept) * 64 * 4 == lines(history)
    first = strategy.retrieve(query("bowl"))  # the facts' own vectors go into the store's index
    assert strategy.retrieve(query("bowl")) == first
    assert strategy.size() == held
    assert held.keys() == {"memories", "tokens", "bytes"}
    assert json.loads(json.dumps(strategy.events)) == strategy.events
    assert {event["step"] for event in strategy.events} == {"extract", "decide", "apply", "session"}


def test_a_session_without_any_answer_fails_and_what_was_known_stays(parts):
    llm = Planned([REPLIES[0], LLMError("no answer")])
    strategy = mem0(parts(llm=llm))
    strategy.ingest(SESSIONS[0])
    with pytest.raises(LLMError, match="none of 1 exchanges"):
        strategy.ingest(SESSIONS[1])
    assert len(strategy.retrieve(query("pottery")).candidates) == 2


def test_two_conversations_in_one_store_share_nothing_and_leave_nothing(parts):
    class Noted(FaissVectors):
        owners: ClassVar[set[str]] = set()

        def put(self, owner: str, ids: Sequence[str], vectors: Vectors) -> None:
            self.owners.add(owner)
            super().put(owner, ids, vectors)

    store = Noted()
    llm = Planned(REPLIES, [(call("ADD"),)])
    first = mem0(parts(llm=llm), vector_store=store)
    first.ingest(SESSIONS[0])
    second = mem0(parts(llm=Planned(REPLIES, [])), vector_store=store)
    assert second.ingest(SESSIONS[0]) == 2  # each the first of its speaker: nothing to decide
    assert len(store.owners) == 2
    assert sum(len(store.ids(owner)) for owner in store.owners) == 4
    first.close()
    second.close()
    assert [store.ids(owner) for owner in store.owners] == [[], []]


def test_its_prompts_are_named_and_it_takes_a_model(parts, tmp_path):
    path = tmp_path / "own.txt"
    path.write_text("{memories} {fact}", encoding="utf-8")
    strategy = mem0(parts(llm=Planned()), update={**UPDATE, "prompt": str(path)})
    names = {role: prompt.name for role, prompt in strategy.prompts.items()}
    assert names == {"facts": "facts_extract", "update": str(path)}
    with pytest.raises(InputError, match=r"^strategy=mem0: no model .* llm=openai"):
        mem0(parts())


def test_forgetting_sets_facts_back_to_what_other_turns_said(parts):
    update: Reply = (call("UPDATE", id=1, content="Mara broke a bowl in pottery class"),)
    drop: Reply = (call("DELETE", id=1),)
    vectors = FaissVectors()

    def after(*turns: str) -> tuple[int | None, set[str], Mem0]:
        strategy, _ = ingested(parts, update, (call("ADD"),), drop, k=9, vector_store=vectors)
        known = {"Mara broke a bowl in pottery class", "Mara sold a bowl"}
        assert contents(strategy, "bowl") == known
        changed = strategy.forget(turns)
        strategy.events.clear()
        return changed, contents(strategy, "bowl"), strategy

    changed, found, strategy = after("D1:1")  # the update repeats its words
    assert (changed, found) == (1, {"Mara sold a bowl"})
    assert not mentions(strategy, "class", strategy.parts.embedder, strategy.parts.llm)
    assert after("D2:2")[:2] == (1, {"Mara takes pottery lessons", "Mara sold a bowl"})
    changed, found, strategy = after("D3:2")  # what deleted another fact
    assert (changed, "Theo has an allotment" in found) == (1, True)
    assert strategy.store.memories[0].content == "Theo has an allotment"
    assert after(*TURN_IDS)[:2] == (2, set())
    assert after("D9:9")[0] == 0
