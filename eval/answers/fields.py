"""The fields of a row: nested ones flattened, those of enclosing objects inherited."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

SMALL = 256  # numbers and texts of a nested list or object that stays in a row
_MOST = 1 << 18  # characters that are remembered from a large object
_NUMBER = 8


class Cut(str):
    """The beginning of a text that was too long to remember."""

    __slots__ = ()


class _Dropped:
    """In place of a nested list or object that is not small."""


DROPPED = _Dropped()


class Columns:
    """Names of the fields that are wanted; nested ones are flattened with dots."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = frozenset(names)
        dotted = ((name, dot) for name in names for dot, mark in enumerate(name) if mark == ".")
        self._heads = self._names.union(name[:dot] for name, dot in dotted)

    def may_contain(self, key: str) -> bool:
        """Return whether `key` or a field below it is wanted."""
        return key in self._heads

    def of(self, found: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields that are wanted."""
        return {name: value for name, value in found.items() if name in self._names}


def fields(row: Mapping[str, Any], columns: Columns | None = None) -> dict[str, Any]:
    """Return the fields of `row`, only the `columns` if given.

    A small nested object is there twice: whole under its key, and flattened with dots
    (`metrics.f1`). Small lists stay lists.
    """
    found: dict[str, Any] = {}
    for key, value in row.items():
        if columns is None or columns.may_contain(key):
            if isinstance(value, dict | list):
                _flatten(key, pruned(value), found)
            elif value is not DROPPED:
                found[key] = value
    return found if columns is None else columns.of(found)


def outer(value: Mapping[str, Any], without: Collection[str]) -> dict[str, Any]:
    """Return the numbers and texts of an enclosing object, but for the members `without`."""
    own = fields({key: one for key, one in value.items() if key not in without})
    return {key: one for key, one in own.items() if not isinstance(one, dict | list)}


class Remembered(dict[str, Any]):
    """The small members of an object too large for memory."""

    def __init__(self) -> None:
        super().__init__()
        self._left = _MOST

    def add(self, key: str, value: Any) -> None:
        """Remember the member as far as it is small; of a long text, only the beginning."""
        value = pruned(value)
        size = characters(value)
        if size <= self._left:
            self[key] = value
            self._left -= size
        else:
            self[key] = Cut(value[: self._left]) if isinstance(value, str) else DROPPED


def _flatten(name: str, value: Any, found: dict[str, Any]) -> None:
    if isinstance(value, dict):
        if is_whole(value):
            found.setdefault(name, value)
        for key, one in value.items():
            _flatten(f"{name}.{key}", one, found)
    elif value is not DROPPED:
        found.setdefault(name, value)


def pruned(value: Any) -> Any:
    """Return `value`, without nested lists and objects that are not small."""
    if isinstance(value, dict):
        value = {key: pruned(one) for key, one in value.items()}
        return value if leaves(value) <= SMALL else DROPPED
    if isinstance(value, list):
        return value if leaves(value) <= SMALL and is_whole(value) else DROPPED
    return value


def is_small(value: list[Any]) -> bool:
    """Return whether the list may be remembered: it is whole, and neither it nor its texts long."""
    return leaves(value) <= SMALL and is_whole(value) and characters(value) <= _MOST


def leaves(value: Any) -> int:
    """Return the number of texts and numbers in `value`."""
    return sum(1 for _ in _each(value))


def characters(value: Any) -> int:
    """Return the length of the texts in `value`, with a few characters for each number."""
    return sum(len(one) if isinstance(one, str) else _NUMBER for one in _each(value))


def _each(value: Any) -> Iterator[Any]:
    """Yield the texts and numbers in `value`."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
        elif one is not DROPPED:
            yield one


def is_whole(value: Any) -> bool:
    """Return whether nothing was left out of `value`."""
    if isinstance(value, dict | list):
        return all(is_whole(one) for one in (value.values() if isinstance(value, dict) else value))
    return value is not DROPPED
