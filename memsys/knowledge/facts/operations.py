"""The operations ADD, UPDATE, DELETE and NOOP of Mem0 (Chhikara et al., 2025, arXiv 2504.19413,
section 2.1): how a model is offered them, and how its reply is parsed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from memsys.core.yaml_text import load_table
from memsys.knowledge.facts.fact import Event, fault
from memsys.llm.base import Completion, Tool
from memsys.llm.reply import object_schema, violation

Kind = Literal["ADD", "UPDATE", "DELETE", "NOOP"]
Calls = Literal["tools", "schema"]

_TABLE: Final = load_table(Path(__file__).with_name("operations.yaml"))


def _parameters(names: Sequence[str], **more: Any) -> dict[str, Any]:
    return object_schema({**more, **{name: _TABLE["fields"][name] for name in names}})


TOOLS: Final = tuple(
    Tool(kind, one["description"], _parameters(one["fields"]))
    for kind, one in _TABLE["kinds"].items()
)
_PARAMETERS: Final = {tool.name: tool.parameters for tool in TOOLS}


def schema(stored: int) -> dict[str, Any]:
    """Return the JSON schema of a decision where `stored` facts are shown. Its bounds are for
    servers that decode by it: a small model neither ends a list nor uses only the numbers shown.
    """
    row = _parameters(
        ("id", "content", "why"), operation={"type": "string", "enum": list(_PARAMETERS)}
    )
    row["properties"]["id"] = {"type": "integer", "minimum": 0, "maximum": stored}
    for name, longest in _TABLE["longest"].items():
        row["properties"][name] = {"type": "string", "pattern": rf'^[^"\\\n]{{0,{longest}}}$'}
    rows = {"type": "array", "items": row, "maxItems": 3}
    return {"title": "operations", **object_schema({"operations": rows})}


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation that a model chose. `number`: of the fact in the list shown, 0 for none."""

    kind: Kind
    number: int
    content: str
    why: str


def read_operations(reply: Completion) -> Iterator[Operation | Event]:
    """Yield the operations of a reply in order, or for an invalid one the event of its fault. Tool
    calls take precedence over text; a text has to be JSON of `schema`.
    """
    for call in reply.tool_calls:
        try:
            yield _operation(call.name, json.loads(call.arguments))
        except ValueError:
            yield fault("decide", "broken_json", f"{call.name}: {call.arguments}")
    if reply.tool_calls:
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
