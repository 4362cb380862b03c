"""JSON and JSON lines in files of answers and rankings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from memsys.core.errors import InputError
from memsys.core.json_text import parse_json


def as_json(text: str, place: str) -> Any:
    """Return the JSON value of `text`, in which NaN is an empty cell; InputError naming `place`."""
    try:
        return parse_json(text, unique=True, nan=True)  # pandas writes NaN for an empty cell
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, " if "\n" in text else ""
        raise InputError(
            f"{place}: not JSON ({where}column {error.colno}: {error.msg}); correct it"
        ) from error
    except ValueError as error:
        raise InputError(f"{place}: {error}; correct it") from None


def json_lines(text: str, name: str) -> Iterator[tuple[str, Any]]:
    """Yield place and JSON value of each line that is not blank; InputError naming the line."""
    for number, line in enumerate(text.split("\n"), 1):  # splitlines would split inside texts
        if line.strip():
            yield f"line {number}", as_json(line, f"{name}: line {number}")
