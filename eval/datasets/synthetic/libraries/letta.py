"""Answers to the requests of a Letta 0.16 agent that has a tool to insert into its archive."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from eval.datasets.synthetic.reading import (
    ANY_DAY,
    calling,
    lines_as_messages,
    noticed,
    read,
    tool_names,
)

_INSERT: Final = "archival_memory_insert"


def message_of(body: Mapping[str, Any], misses: float) -> dict[str, Any] | None:
    """Return the answer to a request of the library, else None.

    The agent inserts the facts of the last user message, one per step, in their own words: its
    request says neither the day of the session nor what the archive contains.
    """
    if _INSERT not in tool_names(body):
        return None
    said = [one for one in body["messages"] if one["role"] != "system"]
    last = max((i for i, one in enumerate(said) if one["role"] == "user"), default=0)
    inserted = {text for one in said[last:] for text in _inserted(one)}
    lines = lines_as_messages(str(said[last]["content"]), ANY_DAY)
    for message in noticed(lines, "letta", misses):
        if message.text not in inserted and any(read(message.text, message.day)):
            answer = calling([(_INSERT, {"content": message.text})], "")
            answer["tool_calls"][0]["id"] = f"call_{len(said)}"  # the library merges equal ids
            return answer
    return calling([], "Noted.")


def _inserted(message: Mapping[str, Any]) -> Iterator[str]:
    for call in message.get("tool_calls") or ():
        yield json.loads(call["function"]["arguments"])["content"]
