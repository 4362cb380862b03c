"""Checks of the values in conversation files and of the settings that filter a data set.

Each failed check is one InputError that names file, sample and field (or the setting), so that a
hand-made file can be corrected without reading this code.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from memsys.errors import InputError


@dataclass(frozen=True, slots=True)
class Location:
    """A sample of an input file, for messages, and a line per repair made in it.

    `lenient`: evidence that names no turn is dropped and reported instead of refused: for a
    published file, whose faults are known and whose readers cannot change it.
    """

    file: str
    sample: str
    lenient: bool = False
    repairs: list[str] = field(default_factory=list)

    def at(self, field: str) -> str:
        """Return `file: sample X: field`, the prefix of errors and repairs."""
        return f"{self.file}: sample {self.sample}: {field}"

    def repaired(self, field: str, repair: str) -> None:
        """Add a repair of `field`."""
        self.repairs.append(f"{self.at(field)}: {repair}")

    def error(self, field: str, problem: str) -> InputError:
        """Return the InputError for `field`; `problem` states the fault and the remedy."""
        return InputError(f"{self.at(field)}: {problem}")


def as_object(value: Any, where: Location, field: str) -> dict[str, Any]:
    """Return `value` if it is a JSON object; raise InputError otherwise."""
    if isinstance(value, dict):
        return value
    raise where.error(field, f"{_state(value)}; must be an object {{...}}")


def as_list(value: Any, where: Location, field: str) -> list[Any]:
    """Return `value` if it is a JSON list; raise InputError otherwise."""
    if isinstance(value, list):
        return value
    raise where.error(field, f"{_state(value)}; must be a list [...]")


def text(record: dict[str, Any], key: str, where: Location, field: str) -> str:
    """Return `record[key]` unchanged if it is a text with a visible character; else InputError."""
    value = record.get(key)
    if isinstance(value, str) and value.strip():
        return value
    raise where.error(field, f"{_state(value)}; must be a text")


def _state(value: Any) -> str:
    """Describe what is wrong with `value`."""
    if value is None:
        return "missing"
    if isinstance(value, str):
        return "is a text" if value.strip() else "empty"
    names = {dict: "an object", list: "a list", bool: "true or false"}
    return f"is {names.get(type(value), 'a number')}"


def check_limit(limit: Any) -> None:
    """Raise InputError unless `dataset.limit` is a number of questions, or None for all."""
    if limit is None:
        return
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        raise InputError(f"dataset.limit={limit}: must be 1 or more, or null for all")


def check_names(option: str, given: Any, valid: Iterable[str]) -> None:
    """Raise InputError unless `dataset.<option>` is None or a list of `valid` names."""
    names = list(valid)
    if given is None:
        return
    if isinstance(given, str) or not isinstance(given, Sequence):  # a str is a sequence of letters
        raise InputError(f"dataset.{option}={given}: must be a list, as in [{names[0]}]")
    unknown = [name for name in given if name not in names]
    if unknown:
        shown = ", ".join(names[:10]) + (" ..." if len(names) > 10 else "")
        raise InputError(f"dataset.{option}: {unknown[0]!r} is not one of {shown}")
