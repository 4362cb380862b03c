"""The results of a search as items, and what an addition returned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from baselines.libraries.pipe import LibraryError
from baselines.mcp.arguments import snake
from baselines.mcp.rules import LISTS, SCORES, TEXTS
from memsys.core.json_text import parse_json

_SHOWN = 300  # characters of a server's message in an error
_EMPTY: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Item:
    """One result: its text, and the server's fields by name in snake case. `plain`: the text of a
    server that returns no JSON.
    """

    text: str
    fields: Mapping[str, Any] = field(default_factory=lambda: _EMPTY)
    plain: bool = False

    @property
    def score(self) -> float | None:
        """The score that the server gave."""
        values = (self.fields.get(name) for name in SCORES)
        numbers = (v for v in values if isinstance(v, int | float) and not isinstance(v, bool))
        return next(map(float, numbers), None)

    @property
    def turns(self) -> tuple[str, ...]:
        """The ids of turns that the item names, itself or in its metadata."""
        named = self.fields.get("turns")
        if isinstance(named, str):
            return (named,)
        return tuple(map(str, named)) if isinstance(named, list) else ()


def items_of(result: Mapping[str, Any]) -> list[Item]:
    """Return the items of a search in the server's order. Raises LibraryError if the result is an
    error that is not marked as one.
    """
    if result["structured"] is not None:
        return list(_items(result["structured"]))
    return [one for text in result["texts"] for one in _items(_parsed(text))]


def _parsed(text: str) -> Any:
    try:
        return parse_json(text)
    except ValueError:
        return text


def _items(value: Any) -> Iterator[Item]:
    if isinstance(value, str):
        found = _parsed(value)
        if isinstance(found, list | dict):
            yield from _items(found)
        elif value.strip():
            _check(value)
            yield Item(value, plain=True)
    elif isinstance(value, list):
        for one in value:
            yield from _items_of_row(one)
    elif isinstance(value, dict):
        yield from _items_of_object(value)


def _items_of_object(value: Mapping[str, Any]) -> Iterator[Item]:
    if (error := value.get("error")) or value.get("success") is False:
        _fail(error or value.get("message") or value)
    if set(value) == {"result"}:  # how servers wrap a list or a text
        yield from _items(value["result"])
        return
    rows = [value[name] for name in LISTS if isinstance(value.get(name), list)]
    if rows and not _is_row(value):
        yield from _items(rows[0])
        return
    inner = next(
        (value[name] for name in ("data", "result") if isinstance(value.get(name), dict)), None
    )
    if inner is not None and not rows:
        yield from _items(inner)
        return
    yield from _items_of_row(value)


def _items_of_row(row: Any) -> Iterator[Item]:
    if isinstance(row, str):
        if row.strip():
            yield Item(row)
        return
    if not isinstance(row, dict):
        return
    flat = flat_fields(row)
    for name in TEXTS:
        value = flat.get(name)
        if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
            value = "\n".join(value)
        if isinstance(value, str) and value.strip():
            yield Item(value, flat)
            return


def flat_fields(row: Any) -> dict[str, Any]:
    """Return the fields of a row and of the objects in it (memory, metadata), by name in snake
    case; outer ones win.
    """
    flat: dict[str, Any] = {}
    if isinstance(row, dict):
        for name, value in row.items():
            if not isinstance(value, dict):
                flat[snake(name)] = value
        for value in row.values():
            if isinstance(value, dict):
                flat = {**flat_fields(value), **flat}
    return flat


def _is_row(value: Mapping[str, Any]) -> bool:
    """Return whether an object with a list is itself a result: an entity with observations."""
    return any(isinstance(value.get(name), str) for name in ("name", "text", "content", "memory"))


def _check(text: str) -> None:
    if text.lstrip().lower().startswith("error"):
        _fail(text)


def _fail(message: object) -> None:
    raise LibraryError(f"the server reports: {' '.join(str(message).split())[:_SHOWN]}")
