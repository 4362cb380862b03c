"""Answers to libraries that write memories by calling tools. The prompts have no time, so relative
days remain as stated.
"""

from __future__ import annotations

import json
import re
from ast import literal_eval
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from eval.datasets.synthetic.languages import LANGUAGES, VISIT
from eval.datasets.synthetic.reading import (
    ANY_DAY,
    calling,
    lines_as_messages,
    noticed,
    read,
    tool_names,
)

_SESSION: Final = re.compile(r"<(session_[\w-]+)>\n(.*)\n</\1>", re.DOTALL)
_STORED: Final = re.compile(r"<instance id=(\S+) schema_type=\"Memory\">\n(.*?)\n</instance>")
_WHY: Final = "another value holds now"


class _Stated(NamedTuple):
    key: tuple[str, str]  # subject and relation
    value: str
    words: str  # the fact as a sentence


def langmem(body: Mapping[str, Any], misses: float) -> dict[str, Any] | None:
    """Return the answer to a request of langmem 0.0.30's memory manager, else None. The prompt has
    messages, similar stored memories, and tools that create a memory or patch one.

    Patches each stored memory of a changed fact and creates one of each new fact. If nothing
    changes but a tool call is required, returns a patch without edits.
    """
    session = _SESSION.search(str(body["messages"][-1]["content"]))
    if "Memory" not in tool_names(body) or session is None:
        return None
    stored = list(_stored(str(body["messages"][0]["content"])))
    latest = {
        one.key: one  # later statements win
        for message in noticed(lines_as_messages(session[2], ANY_DAY), "langmem", misses)
        for one in _facts(message.text)
    }
    made = [call for one in latest.values() for call in _calls(one, stored)]
    if not made and stored and body.get("tool_choice") == "required":
        made = [_patch(stored[0][0], [], "nothing new")]
    return calling(made, "Nothing new.")


def _calls(
    new: _Stated, stored: list[tuple[str, list[_Stated]]]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the calls for a fact; none if it is stored already."""
    old = [(name, one) for name, facts in stored for one in facts if one.key == new.key]
    if not old:
        yield "Memory", {"content": new.words}
    for name, one in old:
        if one.value != new.value:
            patch = {"op": "replace", "path": "/content", "value": new.words}
            yield _patch(name, [patch], _WHY)


def _patch(name: str, patches: list[dict[str, Any]], why: str) -> tuple[str, dict[str, Any]]:
    return "PatchDoc", {"json_doc_id": name, "planned_edits": why, "patches": patches}


def _stored(prompt: str) -> Iterator[tuple[str, list[_Stated]]]:
    """Yield the names of shown memories and their facts; memories are Python literals."""
    for match in _STORED.finditer(prompt):
        yield match[1], list(_facts(literal_eval(match[2])["content"]))


def _facts(text: str) -> Iterator[_Stated]:
    """Yield the facts in `text`; a visit's key includes its day, so only equal words are equal."""
    for language, fact in read(text, ANY_DAY):
        if not fact.relation.startswith(VISIT):
            yield _Stated((fact.subject, fact.relation), fact.value, language.restate(fact))
    for language in LANGUAGES.values():
        for match in re.finditer(language.visit.format(**language.patterns), text):
            key = match["s"], f"{VISIT}{match['v']} {match['d']}"
            yield _Stated(key, match["d"], language.frames[0].format(match[0]))


_INSERT: Final = "archival_memory_insert"


def letta(body: Mapping[str, Any], misses: float) -> dict[str, Any] | None:
    """Return the answer to a request of a Letta 0.16 agent that can insert into its archive, else
    None.

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
