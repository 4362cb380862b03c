from __future__ import annotations

from typing import Any

import pytest

from memsys.llm.schema import violation

_ROW = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        ({"n": 1}, _ROW),
        ({"n": 1, "more": 2}, _ROW),
        ({"n": 1.0}, _ROW),  # JSON Schema: a number without a fraction is an integer
        ([{"n": 1}, {"n": 2}], {"type": "array", "items": _ROW}),
        (None, {"type": ["string", "null"]}),
        (1.5, {"type": "number"}),
        ("a", {"enum": ["a", "b"]}),
        (3, {"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        (3, {"minimum": 5}),  # not checked, and said so
    ],
)
def test_fits(value: Any, schema: dict[str, Any]) -> None:
    assert violation(value, schema) is None


@pytest.mark.parametrize(
    ("value", "schema", "words"),
    [
        ([], _ROW, "reply is no object"),
        ({}, _ROW, "reply lacks n"),
        ({"n": "1"}, _ROW, "reply.n is no integer"),
        ({"n": True}, _ROW, "reply.n is no integer"),
        ({"n": 1.5}, _ROW, "reply.n is no integer"),
        ({"n": 1, "m": 2}, {**_ROW, "additionalProperties": False}, "the field m"),
        ([{"n": 1}, {}], {"type": "array", "items": _ROW}, r"reply[1] lacks n"),
        ("c", {"enum": ["a", "b"]}, "none of"),
        (True, {"enum": [1]}, "none of"),
        (2, {"const": 1}, "is not 1"),
        (None, {"anyOf": [{"type": "string"}, {"type": "integer"}]}, "fits no alternative"),
        (1, {"type": "boolean"}, "no boolean"),
    ],
)
def test_what_is_wrong_is_named(value: Any, schema: dict[str, Any], words: str) -> None:
    message = violation(value, schema)
    assert message is not None
    assert words in message
