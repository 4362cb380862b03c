"""Size of a memory in bytes, by one definition for every strategy.

The size is that of plain files with the content: memories, nodes, edges and a history as JSON lines
in UTF-8, vectors in single precision. docs/models.md lists the counted items per strategy.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields
from datetime import datetime
from functools import cache
from itertools import islice
from typing import Any

from memsys.core.types import Vectors

_IF_KNOWN = frozenset({"event"})  # fields that a line lacks while they are None
_AT_ONCE = 100  # rows that are written at once: the text of a thousand takes megabytes


def lines(rows: Iterable[Any]) -> int:
    """Return the bytes of `rows`, JSON values or records of such fields, one per line."""
    size, left = 0, iter(rows)
    while some := list(islice(left, _AT_ONCE)):
        text = _ENCODER.encode(some)
        # "[row, row]" has two characters for each row beside it, a line has one.
        size += len(text.encode("utf-8", "surrogatepass")) - len(some)
    return size


def line(row: Any) -> str:
    """Return `row` as one JSON line in UTF-8; times are in ISO 8601."""
    return _ENCODER.encode(row) + "\n"


def singles(vectors: Iterable[Vectors]) -> int:
    """Return the bytes of `vectors`, of any shape, in single precision."""
    return sum(4 * vector.size for vector in vectors)


def together(sizes: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    """Return the sums of several sizes by unit; a missing unit counts as 0."""
    return {unit: sizes.get(unit, 0) + other.get(unit, 0) for unit in {**sizes, **other}}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    kind: type = type(value)
    row = {name: getattr(value, name) for name in _names(kind)}
    return {name: cell for name, cell in row.items() if cell is not None or name not in _IF_KNOWN}


@cache
def _names(kind: type) -> list[str]:
    """Return the names of the fields of a kind of record."""
    return [field.name for field in fields(kind)]


_ENCODER = json.JSONEncoder(ensure_ascii=False, default=_plain)  # one for all: rows are many
