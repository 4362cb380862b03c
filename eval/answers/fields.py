"""The fields of a row: nested ones flattened, those of enclosing objects inherited."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

SMALL = 256  # numbers and texts of a nested list or object that stays in a row
_LONGEST = 1 << 20  # characters of a text that is remembered from a large object
_MOST = 10_000  # fields that are remembered from a large object


class Cut(str):
    """The beginning of a text that was too long to remember."""

    __slots__ = ()


class _Dropped:
    """In place of a nested list or object that is not small."""


_DROPPED = _Dropped()


def fields(row: Mapping[str, Any], columns: Collection[str] | None = None) -> dict[str, Any]:
    """Return the fields of `row`, only the `columns` if given.

    A small nested object is there twice: whole under its key, and flattened with dots
    (`metrics.f1`). Small lists stay lists.
    """
    found: dict[str, Any] = {}
    heads = None if columns is None else {*columns, *(_prefixes(columns))}
    for key, value in row.items():
        if heads is None or key in heads:
            if isinstance(value, dict | list):
                _flatten(key, _pruned(value), found)
            elif not isinstance(value, _Dropped):
                found[key] = value
    if columns is None:
        return found
    return {key: value for key, value in found.items() if key in columns}


def outer(value: Mapping[str, Any], without: Collection[str]) -> dict[str, Any]:
    """Return the numbers and texts of an enclosing object, but for the members `without`."""
    own = fields({key: one for key, one in value.items() if key not in without})
    return {key: one for key, one in own.items() if not isinstance(one, dict | list)}


class Remembered(dict[str, Any]):
    """The small members of an object too large for memory."""

    def __init__(self) -> None:
        super().__init__()
        self._count = 0

    def add(self, key: str, value: Any) -> None:
        """Remember the member if it is small and the limits allow."""
        if isinstance(value, dict | list) and not isinstance(value, Remembered):
            value = _pruned(value)
        if isinstance(value, _Dropped) or self._count >= _MOST:
            return
        self._count += _leaves(value)
        self[key] = _cut(value)


def _flatten(name: str, value: Any, found: dict[str, Any]) -> None:
    if isinstance(value, _Dropped):
        return
    if isinstance(value, dict):
        if _is_whole(value):
            found.setdefault(name, value)
        for key, one in value.items():
            _flatten(f"{name}.{key}", one, found)
    else:
        found.setdefault(name, value)


def _pruned(value: Any) -> Any:
    """Return `value` without nested lists and objects that are not small."""
    if isinstance(value, list):
        return value if _leaves(value) <= SMALL else _DROPPED
    if isinstance(value, dict):
        value = {key: _pruned(one) for key, one in value.items()}
        return value if _leaves(value) <= SMALL else _DROPPED
    return value


def _leaves(value: Any) -> int:
    """Return the number of texts and numbers in `value`."""
    count, waiting = 0, [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
        else:
            count += not isinstance(one, _Dropped)
    return count


def _is_whole(value: Any) -> bool:
    if isinstance(value, dict):
        return all(_is_whole(one) for one in value.values())
    return not isinstance(value, _Dropped)


def _cut(value: Any) -> Any:
    if isinstance(value, str) and len(value) > _LONGEST:
        return Cut(value[:1000])
    if isinstance(value, dict):
        return {key: _cut(one) for key, one in value.items()}
    return value


def _prefixes(columns: Collection[str]) -> set[str]:
    """Return the keys under which a column of dotted name may be found."""
    return {column[:dot] for column in columns for dot, mark in enumerate(column) if mark == "."}
