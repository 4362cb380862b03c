"""The error for bad input, as opposed to a fault of the program, and checks that raise it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError


class InputError(Exception):
    """Bad input or configuration. The message names file, place and remedy; the exit code is 2."""


def first_problem(error: ValidationError) -> str:
    """Return field and message of the first problem that pydantic found: `rows[3].name: ...`."""
    first = error.errors(include_url=False)[0]
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"])
    return f"{place.lstrip('.') or 'the whole'}: {first['msg'].removeprefix('Value error, ')}"


def check_whole(name: str, value: object, least: int = 1) -> int:
    """Return `value`. Raises InputError with `name` unless it is an integer of `least` or more."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise InputError(f"{name}: {value!r}; use a whole number of {least} or more")
    return value


def check_number(name: str, value: object, least: float, most: float, unit: str = "") -> None:
    """Raise InputError with `name` unless `value` is a number of `least` to `most`."""
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not least <= value <= most  # NaN is not
    ):
        words = f"use a number of {least:g} to {most:g}{f' {unit}' if unit else ''}"
        raise InputError(f"{name}: {value!r:.60}; {words}")


def check_choice(name: str, value: object, options: Sequence[str]) -> None:
    """Raise InputError naming `name` unless `value` is one of `options`."""
    if value not in options:
        raise InputError(f"{name}: {value!r:.60} is none of {', '.join(options)}")


def check_cosine(name: str, value: object) -> None:
    """Raise InputError naming `name` unless `value` is a cosine, -1 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not -1 <= value <= 1:
        raise InputError(f"{name}: {value!r}; use a cosine, -1 to 1")
