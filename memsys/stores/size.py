"""What is held, in bytes: one definition for every strategy.

Bytes are those of the plain files that would hold it: memories, nodes, edges and a history as JSON
lines in UTF-8, vectors in single precision. docs/models.md says what is counted of which strategy.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any

from memsys.types import Vectors


def lines(rows: Iterable[Any]) -> int:
    """Bytes of `rows`, JSON values or records of such fields, each a line of a file."""
    return sum(_bytes(line(row)) for row in rows)


def line(row: Any) -> str:
    """`row` as it stands in such a file; times in ISO 8601."""
    return _ENCODER.encode(row) + "\n"


def singles(vectors: Iterable[Vectors]) -> int:
    """Bytes of `vectors`, whatever their shapes, in single precision."""
    return sum(4 * vector.size for vector in vectors)


def together(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    """Sums by unit; a unit that only one of them has is as it tells."""
    return {unit: one.get(unit, 0) + other.get(unit, 0) for unit in {**one, **other}}


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return {field.name: getattr(value, field.name) for field in fields(value)}


_ENCODER = json.JSONEncoder(ensure_ascii=False, default=_plain)  # one for all: rows are many
