"""Text of commands for the terminal, tables for it and as Markdown, and progress bars.

The width of a line is that of the variable COLUMNS, else of the terminal that stdout is. Where
stdout is a pipe or a file, and with --wide, it is unlimited: tables have one block, no line is
broken.
"""

import os
import re
import shlex
import shutil
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from textwrap import fill, wrap
from typing import TYPE_CHECKING, Any

from eval.rendering.numbers import ABSENT, UNJUDGED
from memsys.core.errors import as_started

if TYPE_CHECKING:
    from tqdm import tqdm

_OF_BARS = threading.RLock()
_GAPS = (2, 1)  # characters between columns, the better first
_LABEL = 20  # characters of a line of a column that names a row
_LINE, _NOTE = 13, 8  # characters of a line of a broken cell and of its note, if words allow that
_HEADING = 8  # characters of a line of a heading, if it has so many
_NAMES = {"type", "run", "reference"}  # leading columns that name a row, in every block
_INLINE = {"difference", "change"}  # columns that keep their interval beside the mean
_COUNT = "n, "  # starts the heading of a column that counts what the next one is of
_EMPTY = {"", ABSENT, UNJUDGED}
_INTERVAL = r"\[[-+\d.,%\s]+\]"

Rows = Sequence[Sequence[str]]
_Form = Callable[[str], list[str]]  # a cell as lines
_Column = tuple[list[str], list[list[str]]]  # lines of its heading and of each cell
_UNLIMITED = 100_000  # characters


def lined(heads: Rows, rows: Rows, gap: int = 2) -> str:
    """Return a table as text whose header has several lines: the first column left-aligned, the
    others right-aligned; `gap`: characters between columns.
    """
    widths = [max(map(len, column)) for column in zip(*heads, *rows, strict=True)]
    lines = [*heads, ["-" * width for width in widths], *rows]
    first, *others = widths
    padded = (
        [line[0].ljust(first), *(c.rjust(w) for c, w in zip(line[1:], others, strict=True))]
        for line in lines
    )
    return "\n".join((" " * gap).join(line).rstrip() for line in padded)


def markdown(header: Sequence[str], rows: Rows) -> str:
    """Return a table in markdown."""
    marks = ["---"] + ["---:"] * (len(header) - 1)
    return "\n".join("| " + " | ".join(row) + " |" for row in [header, marks, *rows])


def filled(header: Sequence[str], rows: Rows) -> tuple[list[str], list[list[str]]]:
    """Return a table without its empty columns, but with the first."""
    used = [i for i in range(len(header)) if i == 0 or not {row[i] for row in rows} <= _EMPTY]
    return [header[i] for i in used], [[row[i] for i in used] for row in rows]


def fitted(header: Sequence[str], rows: Rows) -> str:
    """Return a table without its empty columns, in the terminal's width.

    A table too wide has its headings and its notes in brackets broken, then its intervals moved
    below the means. If that is not enough, it becomes several blocks, one below the other, which
    all begin with the names of the rows: first the means, as many as fit, then their intervals, and
    then what is left. Only a block of a single column may be wider than the terminal.
    """
    header, rows = filled(header, rows)
    width = terminal_width()
    whole = lined([header], rows)
    if width is None or len(max(whole.splitlines(), key=len)) <= width:
        return whole
    return "\n\n".join(_blocks(header, rows, width))


def _blocks(header: Sequence[str], rows: Rows, width: int) -> Iterator[str]:
    """Yield the blocks of a table that is wider than `width` characters."""
    names = next((i for i, title in enumerate(header) if title not in _NAMES), len(header)) or 1
    while len(header) > names:
        for form in (_broken, _stacked):
            columns = [_column(header, rows, i, form, names) for i in range(len(header))]
            if _width(columns, _GAPS[0]) <= width:
                yield _rendered(columns, _GAPS[0])
                return
        forms = [_stacked if title in _INLINE else _bare for title in header]
        columns = [_column(header, rows, i, form, names) for i, form in enumerate(forms)]
        ends = [i for i in range(names + 1, len(header)) if not header[i - 1].startswith(_COUNT)]
        fitting = [
            (end, gap)
            for end in [*ends, len(header)]
            for gap in _GAPS
            if _width(columns[:end], gap) <= width
        ]
        end, gap = max(fitting, default=([*ends, len(header)][0], _GAPS[-1]))
        yield _rendered(columns[:end], gap)
        header, rows = _rest_table(header, rows, names, end)


def _rest_table(
    header: Sequence[str], rows: Rows, names: int, end: int
) -> tuple[list[str], list[list[str]]]:
    """Return the table of what a block of the columns before `end` lacks: their intervals, and the
    other columns.
    """
    bare = [
        i
        for i in range(names, end)
        if header[i] not in _INLINE and any(re.search(rf" {_INTERVAL}", row[i]) for row in rows)
    ]
    titles = [f"{header[i]} 95% interval" for i in bare]
    ends = [[re.search(_INTERVAL, row[i]) for i in bare] for row in rows]
    cells = [[match[0][1:-1] if match else ABSENT for match in row] for row in ends]
    return [*header[:names], *titles, *header[end:]], [
        [*row[:names], *intervals, *row[end:]] for row, intervals in zip(rows, cells, strict=True)
    ]


def _name(cell: str) -> list[str]:
    """Break the name of a row before notes in brackets, and into lines of _LABEL characters."""
    return [part for line in _broken(cell) for part in wrap(line, _LABEL)]


def _broken(cell: str) -> list[str]:
    """Break a cell before notes in brackets."""
    return re.split(r" (?=\()", cell)


def _stacked(cell: str) -> list[str]:
    """Break a cell before notes in brackets, and before and after an interval."""
    return re.split(rf" (?=\(|{_INTERVAL})|(?<=\d\]|%\]) ", cell)


def _bare(cell: str) -> list[str]:
    """Break a cell without its interval, and its notes in brackets, into short lines."""
    parts = _broken(re.sub(rf" {_INTERVAL}", "", cell))
    return [
        line
        for part in parts
        for line in _wrapped(part, _NOTE if part.startswith("(") else _LINE) or [""]
    ]


def _wrapped(text: str, width: int) -> list[str]:
    """Return lines of `width` characters, or of the longest word."""
    return wrap(text, max([width, *map(len, text.split())]), break_on_hyphens=False)


def _column(header: Sequence[str], rows: Rows, index: int, form: _Form, names: int) -> _Column:
    """Return the lines of a column's heading and of its cells, the heading no wider than the cells
    if its words allow that.
    """
    cells = [_name(row[index]) if index < names else form(row[index]) for row in rows]
    title = header[index]
    width = max([_HEADING, *(len(line) for lines in cells for line in lines)])
    return _wrapped(title, width) or [""], [lines or [""] for lines in cells]


def _width(columns: Sequence[_Column], gap: int) -> int:
    lines = [[*heading, *chain(*cells)] for heading, cells in columns]
    return sum(max(map(len, of_column)) + gap for of_column in lines) - gap


def _rendered(columns: Sequence[_Column], gap: int) -> str:
    heads = [heading for heading, _ in columns]
    height = max(map(len, heads))
    bottom = [[*[""] * (height - len(lines)), *lines] for lines in heads]
    lines: list[list[str]] = []
    for cells in zip(*(cells for _, cells in columns), strict=True):
        tall = max(map(len, cells))
        filled = ([*cell, *[""] * (tall - len(cell))] for cell in cells)
        lines += map(list, zip(*filled, strict=True))
    return lined([*map(list, zip(*bottom, strict=True))], lines, gap)


def terminal_width() -> int | None:
    """Return the characters of a line; None if there is no limit."""
    width = shutil.get_terminal_size((_UNLIMITED, 0)).columns
    return None if width >= _UNLIMITED else width


def widen() -> None:
    """Print without a limit from here on, in this process and in those that it starts."""
    os.environ["COLUMNS"] = str(_UNLIMITED)


def sentence(text: str, most: int | None = None) -> str:
    """Return `text` with lines of the terminal's width, and of at most `most` characters, and with
    commands as the user enters them.
    """
    text = as_started(text)
    limits = [limit for limit in (terminal_width(), most) if limit is not None]
    return (
        fill(text, min(limits), break_long_words=False, break_on_hyphens=False) if limits else text
    )


def command_lines(text: str) -> str:
    """Return a command as the user enters it, indented. One that is wider than the terminal goes on
    after a backslash, by which a shell joins lines; not on Windows, whose shells do not.
    """
    text, width = as_started(text), terminal_width()
    lines = [" "]
    for word in map(shlex.quote, shlex.split(text)):
        if len(lines[-1]) + len(word) + 3 > (width or _UNLIMITED) and lines != [" "]:
            lines[-1] += " \\"
            lines.append("   ")
        lines[-1] += f" {word}"
    return f"  {text}" if len(lines) == 1 or os.name == "nt" else "\n".join(lines)


def progress(total: int | None, unit: str, **options: Any) -> "tqdm[Any]":
    """Return a progress bar, which is silent unless on a terminal or in a notebook, and is erased
    at its end.

    `options`: further arguments of tqdm.
    """
    from tqdm import tqdm  # noqa: PLC0415 - most commands show no bar

    tqdm.set_lock(_OF_BARS)  # its own would be one among processes, which takes longer to import
    shown = sys.stderr.isatty() or "ipykernel" in sys.modules
    return tqdm(total=total, unit=unit, disable=not shown, leave=False, **options)
