"""The real Letta on a real PostgreSQL, against a scripted server."""

from __future__ import annotations

import re
from typing import Any

from tests.baselines.libraries.real import asking, ingested, needs
from tests.memsys.build import query
from tests.memsys.llm import faults
from tests.memsys.llm.server import Behaviour, FaultyServer
from tests.memsys.llm.tool_calls import calls

pytestmark = needs("letta")
LIKES = query("What does Ada like or love?")
SLOW_START = 600.0  # seconds: the server's imports


def agent(body: dict[str, Any]) -> Behaviour:
    """Insert the sentences of the last message, one per step, then reply."""
    said = body["messages"]
    last = max(i for i, one in enumerate(said) if one["role"] == "user")
    sentences = re.findall(r"Ada: [^\n]+\.", said[last]["content"])
    done = sum(bool(one.get("tool_calls")) for one in said[last:])
    if done == len(sentences):
        return faults.says("Noted.")
    insert = ("archival_memory_insert", {"content": sentences[done]})
    return calls(insert, prefix=f"{len(said)}_")  # the library merges equal ids


def test_what_the_agent_inserts_has_the_turns_of_its_exchange(parts, tmp_path):
    texts = []
    with FaultyServer(agent) as server:
        for mode in ("auto", "replay"):
            given = asking(parts, server, tmp_path, mode)
            with ingested("letta", given, timeout_s=SLOW_START) as strategy:
                found = strategy.retrieve(LIKES).candidates
                texts.append({one.memory.content: one.memory.turns for one in found})
                assert strategy.forget(["D1:1"]) is None, "the agent's messages contain it"
        assert server.requests == 6, "two inserts and a reply for each exchange, never asked again"
        prompt = str(server.bodies[-1]["messages"])
    assert texts[0] == texts[1]
    assert texts[0] == {
        "Ada: I like badminton.": ("D1:1", "D1:2"),
        "Ada: I love pizza.": ("D1:1", "D1:2"),
        "Ada: I do not like badminton any more.": ("D2:1", "D2:2"),
        "Ada: I also love burgers.": ("D2:1", "D2:2"),
    }
    assert "2023-05-20" in prompt, "the agent's time is the session's"
