"""What a judging model has to reply, and how its verdict is read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

# Without a bound a small model talks on until its tokens are used up, and gives no verdict.
_SHORT = '^[^"\\\\\n]{1,160}$'

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "reason": {"type": "string", "pattern": _SHORT},
        "verdict": {"type": "string", "enum": ["CORRECT", "WRONG"]},
    },
    "required": ["reason", "verdict"],  # the reason first: a verdict after it can follow from it
    "additionalProperties": False,
}
_VERDICTS = {"CORRECT": True, "WRONG": False}
_DECODER = json.JSONDecoder()


def verdict(reply: str) -> bool | None:
    """True for CORRECT, False for WRONG, None if `reply` gives neither, or both.

    Read is the `verdict` of each JSON object in the reply, which may stand among other text: not
    every endpoint keeps to a schema. A word outside of JSON is never taken for a verdict.
    """
    given = {_VERDICTS.get(str(found.get("verdict")).strip().upper()) for found in _objects(reply)}
    given.discard(None)
    return given.pop() if len(given) == 1 else None


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The outermost JSON objects in `text`, in order."""
    at = text.find("{")
    while at >= 0:
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            if isinstance(value, dict):
                yield value
        at = text.find("{", end)
