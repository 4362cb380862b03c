"""A new fact is compared with the stored facts that it may contradict."""

from __future__ import annotations

import re
from typing import Any

import pytest

from memsys.knowledge.facts.fact_writer import UpdateSettings
from memsys.service.memory import Memory
from tests.memsys.knowledge.facts.models import Planned, call, fact, facts
from tests.memsys.service.made import memory
from tests.memsys.service.test_facts import JUNE, MAY, add, said


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
    assert [text.partition("\n</stored")[0] for text in shown] == [
        *("1. Mara has a kiln", "1. Mara has a kiln\n2. Mara has a kiln")
    ]


LOVES = fact("Alice loves to play badminton", "Alice", 1)
NO_MORE = fact("Alice does not like badminton any more", "user", 2)


def badminton(
    store: Memory, first: dict[str, Any], second: dict[str, Any], name: str | None = None
) -> list[tuple[str, Any, Any]]:
    """Who was told what: the memories after two contradicting messages of owners, with theirs."""
    named = {"name": name} if name else {}
    loves = [{"role": "user", "content": "I love to play badminton", **named}]
    store.add(loves, infer=True, time=MAY, **first)
    store.add("I do not like badminton any more", infer=True, time=JUNE, **second)
    left = store.get_all(user_id="alice")
    return [(one.memory, one.owner.run_id, one.owner.agent_id) for one in left]


@pytest.mark.parametrize("name", ["Alice", None])
@pytest.mark.parametrize("own", [{"run_id": "r1"}, {"agent_id": "coach"}, {}])
def test_a_contradiction_is_found_under_wider_ids_and_without_a_name(tmp_path, name, own):
    first = {**LOVES, "speaker": name or "user"}
    new = "Alice, the user, gave up badminton"
    for kind, left in (
        (call("UPDATE", id=1, content=new), [(new, own.get("run_id"), own.get("agent_id"))]),
        (call("DELETE", id=1), []),
    ):
        llm = Planned([facts(first), facts(NO_MORE)], [(kind,)])
        with memory(tmp_path / kind[0], llm=llm) as store:
            owners = {"user_id": "alice", **own}, {"user_id": "alice"}
            assert badminton(store, *owners, name) == left


def test_a_setting_compares_facts_of_exactly_the_same_ids(tmp_path):
    llm = Planned([facts(LOVES), facts(NO_MORE)], [(call("DELETE", id=1),)])
    update = UpdateSettings(calls="tools", similar=3, prompt="mem0_update", compare="owner")
    with memory(tmp_path, llm=llm, update=update) as store:
        left = badminton(store, {"user_id": "alice", "run_id": "r1"}, {"user_id": "alice"})
    assert (len(left), llm.asked["decide"]) == (2, [])


def test_facts_of_several_users_are_compared_under_their_agent(tmp_path):
    rows = [fact("Alice loves to play badminton", "user", 1), fact("Bob loves kilns", "user", 2)]
    llm = Planned([facts(rows[0]), facts(rows[1]), facts(NO_MORE)], [(call("DELETE", id=1),)])
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
