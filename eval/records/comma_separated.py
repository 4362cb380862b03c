"""CSV that spreadsheets show as it is: no text becomes a formula."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from typing import IO

_FORMULA = re.compile(r"'*[=+\-@\t\r]")  # how a formula begins, behind any marks of a text
_TEXT = "'"  # the mark of a text in spreadsheets


def write_rows(file: IO[str], rows: Iterable[Iterable[object]], end: str = "\n") -> None:
    """Write `rows` as CSV lines that end with `end`; None is an empty cell.

    A text that would be a formula gets a leading ', which read_cell removes; numbers do not.
    """
    csv.writer(file, lineterminator=end).writerows(map(_cell, row) for row in rows)


def read_cell(cell: str) -> str:
    """Return the text that write_rows wrote as `cell`."""
    return cell[1:] if cell.startswith(_TEXT) and _FORMULA.match(cell) else cell


def _cell(value: object) -> object:
    if isinstance(value, str) and _FORMULA.match(value) and not _is_number(value):
        return _TEXT + value
    return value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
