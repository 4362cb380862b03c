"""Validation of JSON values by the part of JSON Schema that structured outputs use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


def violation(value: object, schema: Mapping[str, Any], place: str = "reply") -> str | None:
    """Return the faults of `value` and their places, or None; of a list, those of its first faulty
    item. The keywords type, enum, const,
    anyOf, properties, required, additionalProperties and items are checked (JSON Schema 2020-12),
    others are ignored.
    """
    if "anyOf" in schema and all(violation(value, one, place) for one in schema["anyOf"]):
        return f"{place} fits no alternative"
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is(value, kind) for kind in kinds):
        return f"{place} is no {' or '.join(kinds)}"
    if "enum" in schema and not any(_same(value, one) for one in schema["enum"]):
        return f"{place} is none of {schema['enum']}"
    if "const" in schema and not _same(value, schema["const"]):
        return f"{place} is not {schema['const']!r}"
    if isinstance(value, dict):
        return _object(value, schema, place)
    if isinstance(value, list) and "items" in schema:
        wrong = (violation(v, schema["items"], f"{place}[{i}]") for i, v in enumerate(value))
        return next(filter(None, wrong), None)
    return None


def _object(value: dict[str, Any], schema: Mapping[str, Any], place: str) -> str | None:
    properties = schema.get("properties", {})
    faults: list[str | None] = []
    if missing := [name for name in schema.get("required", []) if name not in value]:
        faults.append(f"{place} lacks {', '.join(missing)}")
    more = sorted(set(value) - set(properties))
    if more and schema.get("additionalProperties") is False:
        unknown = ", ".join(more)
        faults.append(f"{place} has {unknown}, which the schema does not have")
    faults += (
        violation(value[name], inner, f"{place}.{name}")
        for name, inner in properties.items()
        if name in value
    )
    return "; ".join(filter(None, faults)) or None


def _is(value: object, kind: str) -> bool:
    if isinstance(value, bool):  # an int in Python
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES.get(kind, ()))


def _same(value: object, other: object) -> bool:
    """Return whether two values are equal as JSON, where true is not 1."""
    return value == other and isinstance(value, bool) == isinstance(other, bool)


def object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an object that has exactly these `properties`, all required."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }
