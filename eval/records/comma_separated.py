"""CSV that spreadsheets show as it is: no text becomes a formula."""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import IO

from eval.metrics.stats.interval import Interval

_FORMULA = re.compile(r"'*[=+\-@\t\r]")  # how a formula begins, behind any marks of a text
_TEXT = "'"  # the mark of a text in spreadsheets


def write_rows(file: IO[str], rows: Iterable[Iterable[object]], end: str = "\n") -> None:
    """Write `rows` as CSV lines that end with `end`; None is an empty cell.

    A text that would be a formula gets a leading ', which read_cell removes; numbers do not.
    """
    csv.writer(file, lineterminator=end).writerows(map(_cell, row) for row in rows)


def text_of(
    columns: Sequence[str],
    lines: Iterable[Mapping[str, object]],
    *,
    header: bool = True,
    end: str = "\n",
) -> str:
    """Return `lines`, values by column, as CSV with all numbers at full precision; an absent value
    is an empty cell, and an interval is in three columns: see spread.
    """
    file = io.StringIO()
    rows = ([line.get(column) for column in columns] for line in map(spread, lines))
    write_rows(file, [*([columns] if header else []), *rows], end)
    return file.getvalue()


def spread(line: Mapping[str, object]) -> dict[str, object]:
    """Return `line` with each interval in three columns: `f1`, `f1_low` and `f1_high`."""
    columns: dict[str, object] = {}
    for name, value in line.items():
        if isinstance(value, Interval):
            columns |= {name: value.value, f"{name}_low": value.low, f"{name}_high": value.high}
        else:
            columns[name] = value
    return columns


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
