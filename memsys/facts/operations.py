"""ADD, UPDATE, DELETE, NOOP: how a model is offered them, and how its choice is read.

The four operations are those of Mem0 (Chhikara et al., 2025, arXiv 2504.19413, section 2.1).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from memsys.facts.base import Event, fault
from memsys.llm.base import Completion, Tool
from memsys.llm.schema import violation

Kind = Literal["ADD", "UPDATE", "DELETE", "NOOP"]
Calls = Literal["tools", "schema"]

_FIELDS: Final = {
    "id": {"type": "integer", "description": "number of the stored fact"},
    "content": {"type": "string", "description": "the stored fact's new sentence"},
    "why": {"type": "string", "description": "the reason, in a few words"},
}
_LONGEST: Final = {"content": 240, "why": 60}  # characters, for servers that write by the schema
_KINDS: Final[Mapping[Kind, tuple[str, tuple[str, ...]]]] = {
    "ADD": ("Store the new fact.", ("why",)),
    "UPDATE": ("Put a new sentence in the place of a stored fact.", ("id", "content", "why")),
    "DELETE": ("Drop a stored fact that is not true any more.", ("id", "why")),
    "NOOP": ("Change nothing: the memory tells this already.", ("why",)),
}


def _object(names: tuple[str, ...], **more: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {**more, **{name: _FIELDS[name] for name in names}},
        "required": [*more, *names],
        "additionalProperties": False,
    }


TOOLS: Final = tuple(Tool(kind, told, _object(names)) for kind, (told, names) in _KINDS.items())
_PARAMETERS: Final = {tool.name: tool.parameters for tool in TOOLS}


def schema(stored: int) -> dict[str, Any]:
    """The form of a choice where `stored` facts are shown.

    Bounds are for servers that write by the schema: a small model never ends a list by itself, nor
    keeps to the numbers it was shown. Elsewhere `read_operations` and the book see to it.
    """
    row = _object(("id", "content", "why"), operation={"type": "string", "enum": list(_KINDS)})
    row["properties"]["id"] = {"type": "integer", "minimum": 0, "maximum": stored}
    for name, longest in _LONGEST.items():
        row["properties"][name] = {"type": "string", "pattern": rf'^[^"\\\n]{{0,{longest}}}$'}
    return {
        "title": "operations",
        "type": "object",
        "properties": {"operations": {"type": "array", "items": row, "maxItems": 3}},
        "required": ["operations"],
        "additionalProperties": False,
    }


@dataclass(frozen=True, slots=True)
class Operation:
    """What a model wants done. `number` is that of a stored fact as it was shown, 0 for none."""

    kind: Kind
    number: int
    content: str
    why: str


def read_operations(reply: Completion) -> Iterator[Operation | Event]:
    """The operations of a reply in order, each read by itself: one that cannot be used is an event
    with its fault, and the others still hold.

    A tool call counts before text; a text has to be JSON of `schema`.
    """
    if reply.tool_calls:
        for call in reply.tool_calls:
            try:
                arguments = json.loads(call.arguments)
            except ValueError:
                yield fault("decide", "broken_json", f"{call.name}: {call.arguments}")
                continue
            yield _operation(call.name, arguments)
        return
    try:
        rows = json.loads(reply.text)["operations"]
    except (ValueError, TypeError, KeyError):
        yield fault("decide", "no_operation", reply.text)
        return
    for row in rows if isinstance(rows, list) else [rows]:
        fields = dict(row) if isinstance(row, dict) else {}
        name = str(fields.pop("operation", ""))
        wanted = _PARAMETERS.get(name, {}).get("properties", fields)
        yield _operation(name, {key: fields[key] for key in fields if key in wanted})


def _operation(name: str, arguments: Any) -> Operation | Event:
    if name not in _PARAMETERS:
        return fault("decide", "unknown_operation", f"{name}: {arguments}")
    wrong = violation(arguments, _PARAMETERS[name], name)
    if wrong is None and name == "UPDATE" and not arguments["content"].strip():
        wrong = "UPDATE.content is empty"
    if wrong is not None:
        return fault("decide", "bad_argument", wrong)
    kind: Kind = name  # type: ignore[assignment]
    number = int(arguments.get("id", 0))
    content = " ".join(str(arguments.get("content", "")).split())
    return Operation(kind, number, content, arguments["why"])
