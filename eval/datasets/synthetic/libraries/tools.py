"""Answers to libraries that write memories by calling tools. The prompts have no time, so relative
days remain as stated.
"""

from __future__ import annotations

import json
import re
from ast import literal_eval
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from eval.datasets.synthetic.languages import LANGUAGES, VISIT
from eval.datasets.synthetic.reading import ANY_DAY, Message, Request, calling, read

_SESSION: Final = re.compile(r"<(session_[\w-]+)>\n(.*)\n</\1>", re.DOTALL)
_STORED: Final = re.compile(r"<instance id=(\S+) schema_type=\"Memory\">\n(.*?)\n</instance>")


class _Fact(NamedTuple):
    key: tuple[str, str]  # subject and relation
    value: str
    words: str  # the fact as a sentence


def langmem(asked: Request) -> Message | None:
    """Return the answer to a request of langmem 0.0.30's memory manager, else None. The prompt has
    messages, similar stored memories, and tools that create a memory or patch one.

    Patches each stored memory of a changed fact and creates one of each new fact. If nothing
    changes but a tool call is required, returns a patch without edits.
    """
    session = _SESSION.search(asked.contents[-1])
    if "Memory" not in asked.tools or session is None:
        return None
    shown = _STORED.findall(asked.contents[0])  # memories are Python literals
    stored = [(name, one) for name, row in shown for one in _facts(literal_eval(row)["content"])]
    said = asked.noticed(session[2], "langmem")
    latest = {one.key: one for message in said for one in _facts(message.text)}
    calls: list[tuple[str, dict[str, Any]]] = []
    for new in latest.values():
        old = [(name, one) for name, one in stored if one.key == new.key]
        if not old:
            calls.append(("Memory", {"content": new.words}))
        edit = {"op": "replace", "path": "/content", "value": new.words}
        calls += [_patch(name, [edit]) for name, one in old if one.value != new.value]
    if not calls and shown and asked.body.get("tool_choice") == "required":
        calls = [_patch(shown[0][0], [])]
    return calling(calls, "Nothing new.")


def _patch(name: str, edits: list[dict[str, str]]) -> tuple[str, dict[str, Any]]:
    why = "another value holds now" if edits else "nothing new"
    return "PatchDoc", {"json_doc_id": name, "planned_edits": why, "patches": edits}


def _facts(text: str) -> Iterator[_Fact]:
    """Yield the facts in `text`; a visit's key includes its day, so only equal words are equal."""
    for one in read(text, ANY_DAY):
        if not one.fact.place:
            yield _Fact(one.fact.key, one.fact.value, one.sentence)
    for language in LANGUAGES.values():
        for match in re.finditer(language.visit.format(**language.patterns), text):
            key = match["s"], f"{VISIT}{match['v']} {match['d']}"
            yield _Fact(key, match["d"], language.frames[0].format(match[0]))


_INSERT: Final = "archival_memory_insert"


def letta(asked: Request) -> Message | None:
    """Return the answer to a request of a Letta 0.16 agent that can insert into its archive, else
    None.

    The agent inserts the facts of the last user message, one per step, in their own words: its
    request says neither the day of the session nor what the archive contains.
    """
    if _INSERT not in asked.tools:
        return None
    said = [one for one in asked.body["messages"] if one["role"] != "system"]
    last = max((i for i, one in enumerate(said) if one["role"] == "user"), default=0)
    calls = [call for one in said[last:] for call in one.get("tool_calls") or ()]
    inserted = {json.loads(call["function"]["arguments"])["content"] for call in calls}
    for message, _ in asked.stated(str(said[last]["content"]), "letta"):
        if message.text not in inserted:
            answer = calling([(_INSERT, {"content": message.text})], "")
            answer["tool_calls"][0]["id"] = f"call_{len(said)}"  # the library merges equal ids
            return answer
    return calling([], "Noted.")
