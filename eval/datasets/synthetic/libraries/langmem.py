"""The prompt of langmem 0.0.30's memory manager: messages, stored memories near to them, and tools
that make a memory (Memory) or patch one (PatchDoc).

It is told no time. So a day stays in the words that it was told in.
"""

from __future__ import annotations

import json
import re
from ast import literal_eval
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any, Final, NamedTuple

from eval.datasets.synthetic.language import VISIT
from eval.datasets.synthetic.languages import LANGUAGES
from eval.datasets.synthetic.reading import heard, read, said_in

_ANY_DAY: Final = date(2000, 1, 1)  # none is told
_SESSION: Final = re.compile(r"<(session_[\w-]+)>\n(.*)\n</\1>", re.DOTALL)
_STORED: Final = re.compile(r"<instance id=(\S+) schema_type=\"Memory\">\n(.*?)\n</instance>")
_WHY: Final = "another value holds now"


class _Told(NamedTuple):
    """A fact: what it is about, its value, and itself in words."""

    key: tuple[str, str]
    value: str
    words: str


def message_of(body: Mapping[str, Any], misses: float) -> dict[str, Any] | None:
    """See libraries/known.py. A stored memory of the same is patched, in one call each; what no
    stored memory tells is a new one. Where there is nothing to do and a tool has to be called, a
    patch without edits is.
    """
    tools = {tool["function"]["name"] for tool in body.get("tools", ())}
    session = _SESSION.search(str(body["messages"][-1]["content"]))
    if "Memory" not in tools or session is None:
        return None
    stored = list(_stored(str(body["messages"][0]["content"])))
    told = {
        one.key: one  # what is told later holds
        for message in heard(said_in(session[2], _ANY_DAY), "langmem", misses)
        for one in _facts(message.text)
    }
    made = [call for one in told.values() for call in _calls(one, stored)]
    if not made and stored and body.get("tool_choice") == "required":
        made = [_patch(stored[0][0], [], "nothing new")]
    if not made:
        return {"role": "assistant", "content": "Nothing new."}
    rows = [_called(number, *one) for number, one in enumerate(made)]
    return {"role": "assistant", "content": None, "tool_calls": rows}


def _calls(
    new: _Told, stored: list[tuple[str, list[_Told]]]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """What becomes of a fact: nothing where it is known."""
    old = [(name, one) for name, facts in stored for one in facts if one.key == new.key]
    if not old:
        yield "Memory", {"content": new.words}
    for name, one in old:
        if one.value != new.value:
            patch = {"op": "replace", "path": "/content", "value": new.words}
            yield _patch(name, [patch], _WHY)


def _patch(name: str, patches: list[dict[str, Any]], why: str) -> tuple[str, dict[str, Any]]:
    return "PatchDoc", {"json_doc_id": name, "planned_edits": why, "patches": patches}


def _called(number: int, name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    arguments = json.dumps(given, ensure_ascii=False)
    function = {"name": name, "arguments": arguments}
    return {"id": f"call_{number}", "type": "function", "function": function}


def _stored(prompt: str) -> Iterator[tuple[str, list[_Told]]]:
    """Names of the memories that are shown, and their facts; they are written as Python has it."""
    for match in _STORED.finditer(prompt):
        yield match[1], list(_facts(literal_eval(match[2])["content"]))


def _facts(text: str) -> Iterator[_Told]:
    """A visit is about its day too: nothing but the same words tells the same."""
    for language, fact in read(text, _ANY_DAY):
        if not fact.relation.startswith(VISIT):
            yield _Told((fact.subject, fact.relation), fact.value, language.stated(fact))
    for language in LANGUAGES.values():
        for match in re.finditer(language.visit.format(**language.patterns), text):
            key = match["s"], f"{VISIT}{match['v']} {match['d']}"
            yield _Told(key, match["d"], language.frames[0].format(match[0]))
