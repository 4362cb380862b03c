"""What a model is asked for, by a tool call or by a schema, and how its reply is read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from memsys.facts.base import Event, fault, tokens
from memsys.facts.operations import Calls
from memsys.llm.base import LLM, Completion, Tool
from memsys.llm.schema import violation

KINDS: Final = tuple("person place organisation thing activity event time other".split())
_MOST_A_MESSAGE = 8  # entities, and relations
LONGEST: Final = 60  # characters of a name, or of a reason: a small model never ends a text either
_TEXT = {"type": "string"}
_SHORT = {**_TEXT, "pattern": rf'^[^"\\\n]{{1,{LONGEST}}}$'}
_FREE: Final[
    Mapping[str, Mapping[str, Any]]
] = {  # a row as it is read: bounds and lists of words are for those who write by them
    "entities": {"name": _TEXT, "type": _TEXT},
    "relations": {
        "source": _TEXT,
        "relation": _TEXT,
        "destination": _TEXT,
        "turns": {"type": "array", "items": {"type": "integer"}},
    },
    "conflicts": {"relation": {"type": "integer"}, "why": _TEXT},
}


@dataclass(frozen=True, slots=True)
class Form:
    """A list of rows that a model fills in. `step`: what the list and the form's events are called;
    `row`: the properties of a row, by name; `most`: rows that are read.
    """

    step: str
    tool: str
    told: str
    row: Mapping[str, Any]
    most: int

    @property
    def parameters(self) -> dict[str, Any]:
        """The JSON schema of a whole reply.

        Bounds are for servers that write by the schema: small models never end a list by
        themselves. Elsewhere reading sees to it.
        """
        rows = {"type": "array", "items": _object(self.row), "maxItems": self.most}
        return _object({self.step: rows})


def entities_form(messages: int) -> Form:
    """Entities of so many messages, each with its kind."""
    row = {"name": _SHORT, "type": {"type": "string", "enum": list(KINDS)}}
    told = "Note the entities that the messages speak of."
    return Form("entities", "note_entities", told, row, _MOST_A_MESSAGE * messages)


def relations_form(messages: int, names: Sequence[str] | None) -> Form:
    """Relations that so many messages tell of. `names`: the only ones for their ends, if any."""
    end = _SHORT if names is None else {"type": "string", "enum": list(names)}
    number = {"type": "integer", "minimum": 1, "maximum": messages}
    row = {
        "source": end,
        "relation": _SHORT,
        "destination": end,
        "turns": {"type": "array", "items": number, "maxItems": 4},
    }
    told = "Note the relations between entities that the messages tell of."
    return Form("relations", "note_relations", told, row, _MOST_A_MESSAGE * messages)


def conflicts_form(stored: int) -> Form:
    """Which of so many numbered relations do not hold any more."""
    row = {"relation": {"type": "integer", "minimum": 1, "maximum": stored}, "why": _SHORT}
    told = "Name the stored relations that do not hold any more; an empty list if all do."
    return Form("conflicts", "end_relations", told, row, stored)


def ask(
    llm: LLM, form: Form, text: str, calls: Calls, log: list[Event], **told: Any
) -> list[dict[str, Any]] | None:
    """The rows of `form` that a model fills in when asked by `text`; None where nothing of its
    reply can be used. What it gets wrong, and the call with what is `told` of it, goes into `log`.

    Raises LLMError without a reply.
    """
    messages = [{"role": "user", "content": text}]
    if calls == "tools":
        tool = Tool(form.tool, form.told, form.parameters)
        reply = llm.complete(messages, tools=[tool])
    else:
        reply = llm.complete(messages, schema={"title": form.step, **form.parameters})
    found: list[dict[str, Any]] | None = None
    for read in _lists(reply, form):
        if isinstance(read, list):
            found = [*(found or []), *read]
        else:
            log.append(read)
    if found is None and not reply.tool_calls and form.step == "conflicts":
        found = []  # to call nothing is to name nothing
    elif found is None and not reply.tool_calls:
        log.append(fault(form.step, "no_call", reply.text))
    if found and len(found) > form.most:
        log.append(fault(form.step, "too_many", f"{len(found)}; the first {form.most} are read"))
    rows = None if found is None else list(_sound(found[: form.most], form, log))
    counted = {} if rows is None else {form.step: len(rows)}
    log.append({"step": form.step, **told, **counted, "tokens": tokens(reply.usage)})
    return rows


def _lists(reply: Completion, form: Form) -> Iterator[list[Any] | Event]:
    """The list of every call; a text counts where nothing is called, if it is such a list."""
    if not reply.tool_calls:
        try:
            rows = json.loads(reply.text)[form.step]
        except (ValueError, TypeError, KeyError):
            return
        if isinstance(rows, list):
            yield rows
        return
    for call in reply.tool_calls:
        if call.name != form.tool:
            yield fault(form.step, "unknown_tool", f"{call.name}: {call.arguments}")
            continue
        try:
            arguments = json.loads(call.arguments)
        except ValueError:
            yield fault(form.step, "broken_json", call.arguments)
            continue
        whole = _object({form.step: {"type": "array"}})
        wrong = violation(arguments, whole, form.tool)
        yield fault(form.step, "bad_argument", wrong) if wrong else arguments[form.step]


def _sound(rows: Sequence[Any], form: Form, log: list[Event]) -> Iterator[dict[str, Any]]:
    for row in rows:
        wrong = violation(row, _object(_FREE[form.step]), form.step)
        if wrong is None:
            yield row
        else:
            log.append(fault(form.step, "bad_argument", wrong))


def _object(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(fields),
        "required": list(fields),
        "additionalProperties": False,
    }
