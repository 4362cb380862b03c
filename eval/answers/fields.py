"""The fields of a row: nested ones flattened, those of enclosing objects inherited."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

_SMALL = 256  # numbers and texts of a nested list or object that stays in a row
_DROPPED = object()  # in place of a nested list or object that is not small


def fields(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of `row`.

    A small nested object is there twice: whole under its key, and flattened with dots
    (`metrics.f1`). Small lists stay lists.
    """
    found: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, dict | list):
            _flatten(key, _pruned(value), found)
        else:
            found[key] = value
    return found


def outer(value: Mapping[str, Any], without: Collection[str]) -> dict[str, Any]:
    """Return the numbers and texts of an enclosing object, but for the members `without`."""
    own = fields({key: one for key, one in value.items() if key not in without})
    return {key: one for key, one in own.items() if not isinstance(one, dict | list)}


def _flatten(name: str, value: Any, found: dict[str, Any]) -> None:
    if isinstance(value, dict):
        if _is_whole(value):
            found.setdefault(name, value)
        for key, one in value.items():
            _flatten(f"{name}.{key}", one, found)
    elif value is not _DROPPED:
        found.setdefault(name, value)


def _pruned(value: Any) -> Any:
    """Return `value` without nested lists and objects that are not small."""
    if isinstance(value, dict):
        value = {key: _pruned(one) for key, one in value.items()}
    return _DROPPED if sum(1 for _ in _leaves(value)) > _SMALL else value


def _leaves(value: Any) -> Iterator[Any]:
    """Yield the texts and numbers in `value`."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
        elif one is not _DROPPED:
            yield one


def _is_whole(value: Mapping[str, Any]) -> bool:
    """Return whether nothing was left out of the object, whose lists are whole."""
    return all(
        _is_whole(one) if isinstance(one, dict) else one is not _DROPPED for one in value.values()
    )
