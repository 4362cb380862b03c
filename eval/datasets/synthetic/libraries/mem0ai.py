"""Answers to mem0ai 2, which asks once per exchange for new memories and only adds them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any, Final

from eval.datasets.synthetic.reading import PromptMessage, lines_as_messages, noticed, read

_ROLE: Final = re.compile(r"(?:user|assistant|system): ")


def message_of(body: Mapping[str, Any], misses: float) -> dict[str, Any] | None:
    """Return the answer to a request of the library, else None.

    A memory is a fact of the new messages that is in none of the shown memories; it links to those
    with the same subject.
    """
    parts = _sections(str(body["messages"][-1]["content"]))
    if not {"Existing Memories", "New Messages", "Observation Date"} <= parts.keys():
        return None
    day = date.fromisoformat(parts["Observation Date"])
    shown = json.loads(parts["Existing Memories"])
    known = [(row["id"], fact) for row in shown for _, fact in read(row["text"])]
    facts = {fact for _, fact in known}
    rows: list[dict[str, Any]] = []
    for message in noticed(messages(parts["New Messages"], day), "mem0ai", misses):
        for language, fact in read(message.text, day):
            if fact not in facts:
                facts.add(fact)
                linked = dict.fromkeys(name for name, old in known if old.subject == fact.subject)
                row = {"id": str(len(rows)), "text": language.restate(fact)}
                rows.append(row | {"attributed_to": "user", "linked_memory_ids": list(linked)})
    return as_message({"memory": rows})


def messages(text: str, day: date) -> Iterator[PromptMessage]:
    """Yield the lines `user: Ada: content`, with or without the role, as messages."""
    return lines_as_messages(
        "\n".join(_ROLE.sub("", line, count=1) for line in text.splitlines()), day
    )


def as_message(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message whose content is a JSON object."""
    return {"role": "assistant", "content": json.dumps(value, ensure_ascii=False)}


def _sections(prompt: str) -> dict[str, str]:
    """Return the text below each heading of the second level."""
    _, *rest = re.split(r"^## ", prompt, flags=re.MULTILINE)
    parts = (one.partition("\n") for one in rest)
    return {name: text.strip() for name, _, text in parts}
