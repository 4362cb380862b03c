"""What mem0ai 2 is answered: it asks once an exchange for new memories, and only ever adds them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any, Final

from eval.datasets.synthetic.reading import Message, heard, read, said_in

_ROLE: Final = re.compile(r"(?:user|assistant|system): ")


def message_of(body: Mapping[str, Any], misses: float) -> dict[str, Any] | None:
    """See known.MessageOf. A memory is a fact of the new messages that none of the shown memories
    tells; it links to those of the same subject.
    """
    parts = _sections(str(body["messages"][-1]["content"]))
    if not {"Existing Memories", "New Messages", "Observation Date"} <= parts.keys():
        return None
    day = date.fromisoformat(parts["Observation Date"])
    shown = json.loads(parts["Existing Memories"])
    known = [(row["id"], fact) for row in shown for _, fact in read(row["text"])]
    told = {fact for _, fact in known}
    rows: list[dict[str, Any]] = []
    for message in heard(messages(parts["New Messages"], day), "mem0ai", misses):
        for language, fact in read(message.text, day):
            if fact not in told:
                told.add(fact)
                linked = dict.fromkeys(name for name, old in known if old.subject == fact.subject)
                row = {"id": str(len(rows)), "text": language.stated(fact)}
                rows.append(row | {"attributed_to": "user", "linked_memory_ids": list(linked)})
    return spoken({"memory": rows})


def messages(text: str, day: date) -> Iterator[Message]:
    """One a line: `user: Ada: words`, or without the role."""
    return said_in("\n".join(_ROLE.sub("", line, count=1) for line in text.splitlines()), day)


def spoken(value: Mapping[str, Any]) -> dict[str, Any]:
    """A message that says a JSON object."""
    return {"role": "assistant", "content": json.dumps(value, ensure_ascii=False)}


def _sections(prompt: str) -> dict[str, str]:
    """What stands below each heading of the second level."""
    _, *rest = re.split(r"^## ", prompt, flags=re.MULTILINE)
    parts = (one.partition("\n") for one in rest)
    return {name: text.strip() for name, _, text in parts}
