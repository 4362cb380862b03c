"""A model writes facts, and keeps them by ADD, UPDATE, DELETE and NOOP: a new one is compared with
the stored ones that it may contradict.
"""

import re
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from memsys.knowledge.facts.extract import ExtractSettings
from memsys.knowledge.facts.fact_writer import UpdateSettings
from memsys.llm.base import LLMError
from memsys.llm.prompt import load_prompt
from memsys.service.memory import Memory
from tests.memsys.knowledge.facts.models import Planned, call, fact, facts
from tests.memsys.service.made import memory, said, texts

MAY = datetime(2024, 5, 8, 13, 56)
JUNE = datetime(2024, 6, 1, 9, 0)


def add(store: Memory, text: str, id_: str = "D1:1", time: datetime = MAY, **own: Any) -> Any:
    return store.add(said(text, id_), infer=True, time=time, **({"user_id": "mara"} | own))


def two(tmp_path: Path, decision: Any, new: str = "Mara sold the kiln") -> tuple[Any, Memory, Any]:
    """A store with one fact, after a second was decided on."""
    rows = fact("Mara has a kiln", "Mara", 1), fact(new, "Mara", 2)
    llm = Planned([facts(row) for row in rows], [decision])
    store = memory(tmp_path, llm=llm)
    add(store, "I got a kiln")
    added = add(store, "I sold it", "D2:1", JUNE, metadata={"b": 2})
    return added, store, llm


def test_a_fact_is_updated_or_deleted_and_the_tokens_of_every_call_are_logged(tmp_path):
    added, store, llm = two(tmp_path, (call("UPDATE", id=1, content="Mara had a kiln"),))
    (change,) = ((one.event, one.old, one.new) for one in added.changes)
    assert change == ("UPDATE", "Mara has a kiln", "Mara had a kiln")
    (record,) = store.get_all(user_id="mara")
    assert (record.turns, record.time, record.metadata) == (("D1:1", "D2:1"), JUNE, {"b": 2})
    assert (record.kind, record.speaker) == ("fact", "Mara")
    assert "1. Mara has a kiln" in llm.asked["decide"][0]
    assert store.search("Mara had a kiln", user_id="mara")[0].score == pytest.approx(1)
    steps = [one["step"] for one in added.events]
    assert steps == ["extract", "decide", "apply", "summary", "session"]
    assert added.events[1]["tokens"] == {"input_tokens": 100, "output_tokens": 10}
    assert added.faults == []
    added, store, _ = two(tmp_path / "b", (call("DELETE", id=1),))
    assert [(c.event, c.old) for c in added.changes] == [("DELETE", "Mara has a kiln")]
    assert store.get_all(user_id="mara") == []


def test_noop_a_fault_and_what_stands_word_for_word_change_nothing(tmp_path):
    added, store, _ = two(tmp_path, (call("NOOP"),))
    assert (added.changes, len(store.get_all(user_id="mara"))) == ((), 1)
    store.close()
    added, store, _ = two(tmp_path / "b", (call("ADD"),), new="Mara has a kiln!")
    assert (added.changes, len(store.get_all(user_id="mara"))) == ((), 1)
    added, store, _ = two(tmp_path / "c", LLMError("gone"))
    assert [one["fault"] for one in added.faults] == ["no_answer"]
    assert texts(store.get_all(user_id="mara")) == ["Mara has a kiln"]


def test_the_dialogue_goes_on_in_another_process_and_ends_with_its_owner(tmp_path):
    for i in range(1, 4):
        llm = Planned([facts()], summary=[f"summary {i}"])
        with memory(tmp_path, llm=llm) as store:
            add(store, f"word{i}", time=MAY)
    for words in ("1. Mara: word1\n2. Mara: word2", "3. Mara: word3", "summary 2"):
        assert words in llm.asked["extract"][0]
    with memory(tmp_path, llm=llm) as store:
        store.delete_all(user_id="mara")
        add(store, "word4")
    for words in ("word3", "summary 3"):
        assert words not in llm.asked["extract"][-1]


def test_an_agent_s_facts_have_a_prompt_of_their_own(tmp_path):
    llm = Planned([facts()])
    prompts = {"prompt": "facts_extract", "assistant_prompt": "facts_assistant"}
    own = ExtractSettings(**prompts, summary_prompt=None, retries=0)
    talk = [said("Hello"), {"role": "assistant", "content": "I like ferries."}]
    with memory(tmp_path, llm=llm, facts=own) as store:
        store.add(talk, agent_id="guide", infer=True)
        store.add(talk, user_id="mara", infer=True)
    for text, name in zip(llm.asked["extract"], ("facts_assistant", own.prompt), strict=True):
        assert text.startswith(load_prompt(name, []).text.split("{")[0][:60])


class Meanwhile(Planned):
    """Runs `action` once, during the extraction that `begin` names by its number."""

    def __init__(self, begin: int, *plans: Any, **named: Any) -> None:
        super().__init__(*plans, **named)
        self.begin, self.action = begin, lambda: None

    def complete(self, messages: Any, **given: Any) -> Any:
        reply = super().complete(messages, **given)
        if len(self.asked["extract"]) == self.begin:
            self.begin = 0
            self.action()
        return reply


@pytest.mark.parametrize("remove", ["delete_all", "reset"])
def test_messages_that_are_deleted_during_an_addition_do_not_return(tmp_path, remove):
    llm = Meanwhile(2, [facts()], summary=["secret one", "secret two", "last"])
    with memory(tmp_path, llm=llm) as store:
        add(store, "a secret message")
        llm.action = lambda: getattr(store, remove)(user_id="mara")
        add(store, "word2")
        add(store, "word3")
    assert ["secret" in text for text in llm.asked["extract"][1:]] == [True, False]
    assert "word2" in llm.asked["extract"][2]


def test_additions_of_one_owner_at_once_lose_no_message(tmp_path):
    llm = Meanwhile(1, [facts()])
    with memory(tmp_path, llm=llm) as store:
        llm.action = lambda: add(store, "word2")
        add(store, "word1")
        add(store, "word3")
    assert all(word in llm.asked["extract"][2] for word in ("word1", "word2"))


def test_facts_are_compared_with_those_of_matching_ids_and_of_one_speaker(tmp_path):
    llm = Planned([facts(fact("Mara has a kiln", "Mara", 1))], [(call("NOOP"),)])
    with memory(tmp_path, llm=llm) as store:
        add(store, "I got a kiln")
        add(store, "I got a kiln", user_id="theo")
        add(store, "I got a kiln", agent_id="cook", user_id="ida")
        add(store, "I got a kiln", run_id="r1")  # of mara, who has a fact of no run
        store.add(said("Mara has a kiln", name="Theo"), user_id="eve", infer=False)
        add(store, "I got a kiln", user_id="eve")
        assert llm.asked["decide"] == []  # nothing comparable was stored
        add(store, "I got a kiln", user_id="ida")
        add(store, "I got a kiln", user_id="mara")
        shown = [text.partition("<stored_facts>\n")[2] for text in llm.asked["decide"]]
    one, two = "1. Mara has a kiln", "1. Mara has a kiln\n2. Mara has a kiln"
    assert [text.partition("\n</stored")[0] for text in shown] == [one, two]


LOVES = fact("Alice loves to play badminton", "Alice", 1)
NO_MORE = fact("Alice does not like badminton any more", "user", 2)


def badminton(
    store: Memory, first: dict[str, Any], second: dict[str, Any], name: str | None = None
) -> list[tuple[str, Any, Any]]:
    """What each owner knows: the memories after two contradicting messages, with their owners."""
    named = {"name": name} if name else {}
    loves = [{"role": "user", "content": "I love to play badminton", **named}]
    store.add(loves, infer=True, time=MAY, **first)
    store.add("I do not like badminton any more", infer=True, time=JUNE, **second)
    left = store.get_all(user_id="alice")
    return [(one.memory, one.owner.run_id, one.owner.agent_id) for one in left]


@pytest.mark.parametrize("name", ["Alice", None])
@pytest.mark.parametrize("own", [{"run_id": "r1"}, {"agent_id": "coach"}, {}])
def test_a_contradiction_is_found_under_wider_ids_and_without_a_name(tmp_path, name, own):
    first, new = {**LOVES, "speaker": name or "user"}, "Alice, the user, gave up badminton"
    changed = [(new, own.get("run_id"), own.get("agent_id"))]
    update, delete = call("UPDATE", id=1, content=new), call("DELETE", id=1)
    for kind, left in ((update, changed), (delete, [])):
        llm = Planned([facts(first), facts(NO_MORE)], [(kind,)])
        with memory(tmp_path / kind[0], llm=llm) as store:
            owners = {"user_id": "alice", **own}, {"user_id": "alice"}
            assert badminton(store, *owners, name) == left


def test_a_setting_compares_facts_of_exactly_the_same_ids(tmp_path):
    llm = Planned([facts(LOVES), facts(NO_MORE)])
    update = UpdateSettings(calls="tools", similar=3, prompt="mem0_update", compare="owner")
    with memory(tmp_path, llm=llm, update=update) as store:
        left = badminton(store, {"user_id": "alice", "run_id": "r1"}, {"user_id": "alice"})
    assert (len(left), llm.asked["decide"]) == (2, [])


def test_facts_of_several_users_are_compared_under_their_agent(tmp_path):
    rows = {**LOVES, "speaker": "user"}, fact("Bob loves kilns", "user", 2), NO_MORE
    llm = Planned([facts(row) for row in rows], [(call("DELETE", id=1),)])
    update = UpdateSettings(calls="tools", similar=2, prompt="mem0_update", scores=True)
    with memory(tmp_path, llm=llm, update=update) as store:
        for user in ("alice", "bob"):
            store.add("A fact", user_id=user, agent_id="coach", infer=True)
        store.add("I do not like badminton any more", agent_id="coach", infer=True)
        left = store.get_all(agent_id="coach")
    assert [(one.memory, one.owner.user_id) for one in left] == [("user: Bob loves kilns", "bob")]
    (shown,) = llm.asked["decide"]
    assert "1. user: Alice loves to play badminton (similarity 0." in shown
    assert re.search(r"\n2. user: Bob loves kilns \(similarity 0\.\d\d\)\n", shown)
