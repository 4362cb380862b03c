"""The checks of shape that every reader of conversation files needs.

Each failed check is one InputError that names file, sample and field, so that a file made by hand
can be put right without reading this code.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memsys.errors import InputError


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the input something stands: the file's name and the sample."""

    file: str
    sample: str

    def at(self, field: str) -> str:
        """`file: sample X: field`, as errors and repairs begin."""
        return f"{self.file}: sample {self.sample}: {field}"

    def error(self, field: str, problem: str) -> InputError:
        """The InputError to raise for `field`; `problem` says what is wrong and what to do."""
        return InputError(f"{self.at(field)}: {problem}")


def as_object(value: Any, place: Place, field: str) -> dict[str, Any]:
    """`value` if it is a JSON object, else InputError."""
    if isinstance(value, dict):
        return value
    raise place.error(field, f"{_state(value)}; must be an object {{...}}")


def as_list(value: Any, place: Place, field: str) -> list[Any]:
    """`value` if it is a JSON list, else InputError."""
    if isinstance(value, list):
        return value
    raise place.error(field, f"{_state(value)}; must be a list [...]")


def text(record: dict[str, Any], key: str, place: Place, field: str) -> str:
    """`record[key]`, unchanged, if it is a text with at least one visible character."""
    value = record.get(key)
    if isinstance(value, str) and value.strip():
        return value
    raise place.error(field, f"{_state(value)}; must be a text")


def _state(value: Any) -> str:
    """What is wrong with a value, in words."""
    if value is None:
        return "missing"
    if isinstance(value, str):
        return "is a text" if value.strip() else "empty"
    names = {dict: "an object", list: "a list", bool: "true or false"}
    return f"is {names.get(type(value), 'a number')}"
