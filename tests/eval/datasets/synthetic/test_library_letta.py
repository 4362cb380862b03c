"""What `llm=grammar` answers to an agent of Letta."""

from __future__ import annotations

import json
from typing import Any

from eval.datasets.synthetic.libraries.letta import message_of
from eval.datasets.synthetic.served import reply

COUSIN = "I heard that Velma Orr's cousin is Dar Sule."
VISIT = "By the way, Nev Lar visited Port Sen the day before yesterday."
CHAT = "My tea got cold while we were talking."


def body(*said: dict[str, Any]) -> dict[str, Any]:
    """A request of an agent whose conversation is `said`."""
    names = ("archival_memory_insert", "archival_memory_search")
    return {
        "model": "grammar",
        "messages": [{"role": "system", "content": "You are an agent."}, *said],
        "tools": [{"type": "function", "function": {"name": name}} for name in names],
    }


def inserted(*texts: str) -> list[str]:
    """Texts that the agent inserts until it replies."""
    said: list[dict[str, Any]] = [{"role": "user", "content": "\n".join(texts)}]
    stored: list[str] = []
    while True:
        message = message_of(body(*said), 0.0)
        assert message is not None
        if "tool_calls" not in message:
            return stored
        (call,) = message["tool_calls"]
        assert call["id"] not in {one.get("tool_call_id") for one in said}
        stored.append(json.loads(call["function"]["arguments"])["content"])
        said += [message, {"role": "tool", "tool_call_id": call["id"], "content": "None"}]


def test_each_message_with_a_fact_is_inserted_once_and_chat_is_not():
    assert inserted(f"Ada: {COUSIN}", f"Bo: {CHAT}", f"Bo: {VISIT}") == [COUSIN, VISIT]


def test_earlier_exchanges_are_not_read_again():
    before = [{"role": "user", "content": f"Ada: {COUSIN}"}, {"role": "assistant", "content": ""}]
    message = message_of(body(*before, {"role": "user", "content": f"Bo: {CHAT}"}), 0.0)
    assert message == {"role": "assistant", "content": "Noted."}


def test_what_it_overlooks_is_missing():
    message = message_of(body({"role": "user", "content": f"Ada: {COUSIN}"}), misses=1.0)
    assert message == {"role": "assistant", "content": "Noted."}


def test_the_server_answers_and_leaves_other_requests_to_others():
    asked = body({"role": "user", "content": f"Ada: {COUSIN}"})
    assert reply(asked)["choices"][0]["finish_reason"] == "tool_calls"
    assert message_of({**asked, "tools": []}, 0.0) is None
