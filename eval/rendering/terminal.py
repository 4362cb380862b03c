"""Tables for the terminal, in the width that there is: see eval.rendering.width."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from textwrap import wrap

from eval.rendering.numbers import ABSENT
from eval.rendering.tables import UNJUDGED, Rows, lined, plain
from eval.rendering.width import sentence, terminal_width

_GAP = 2  # characters between columns
_LABEL = 20  # characters of a line of the first column, unless a word is longer
# Columns that are shown before all others, with their intervals, and those left out before others.
_FIRST = {"run", "n", "F1", "judge", "evidence recall", "difference", "verdict"}
_LAST = {"BLEU-1", "total p95 ms", "d_z", "p (McNemar)"}
_HEADING = 8  # characters of a line of a heading, if it has so many
_EMPTY = {"", ABSENT, UNJUDGED}
_INTERVAL = r"\[[-+\d.,%\s]+\]"

_Form = Callable[[str], list[str]]  # a cell as lines
_Column = tuple[int, _Form]  # index, and the form of its cells


def fitted(header: Sequence[str], rows: Rows) -> str:
    """Return a table without its empty columns, in the terminal's width where that is possible.

    A table too wide has its headings and its notes in brackets broken. If that is not enough, it
    loses columns, which a line below it names: those of _LAST before others, and these from the
    right. If those of _FIRST alone are too wide, or in a table without them, the intervals are
    moved below the means, or left out.
    """
    used = [i for i in range(len(header)) if i == 0 or not {row[i] for row in rows} <= _EMPTY]
    header, rows = [header[i] for i in used], [[row[i] for i in used] for row in rows]
    width = terminal_width()
    whole = plain(header, rows)
    if width is None or len(max(whole.splitlines(), key=len)) <= width:
        return whole

    def fits(columns: Sequence[_Column]) -> bool:
        return sum(_width(header, rows, one) + _GAP for one in columns) - _GAP <= width

    columns = _columns(header, fits)
    shown = {i for i, _ in columns}
    text = _rendered(header, rows, columns)
    if left_out := [name for i, name in enumerate(header) if i not in shown]:
        text += "\n" + sentence(f"Not shown: {'; '.join(left_out)} (--wide shows all columns).")
    return text


def _columns(header: Sequence[str], fits: Callable[[Sequence[_Column]], bool]) -> list[_Column]:
    """Return the columns to show, each with the form of its cells."""
    indices = range(len(header))
    first = [i for i in indices if i == 0 or header[i] in _FIRST]
    for form in (_broken,) if len(first) > 1 else (_broken, _stacked):
        whole: list[_Column] = [(i, form) for i in indices]
        if fits(whole):
            return whole
    forms = (_broken, _stacked, _bare)
    form = next((one for one in forms if fits([(i, one) for i in first])), _bare)
    columns: list[_Column] = [(i, form) for i in first]
    for i in sorted({*indices} - {*first}, key=lambda i: (header[i] in _LAST, i)):
        for one in (form, _bare):
            if fits([*columns, (i, one)]):
                columns.append((i, one))
                break
    return sorted(columns, key=lambda column: column[0])


def _broken(cell: str) -> list[str]:
    """Break a cell before notes in brackets."""
    return re.split(r" (?=\()", cell)


def _stacked(cell: str) -> list[str]:
    """Break a cell before notes in brackets, and before and after an interval."""
    return re.split(rf" (?=\(|{_INTERVAL})|(?<=\d\]|%\]) ", cell)


def _bare(cell: str) -> list[str]:
    """Break a cell before notes in brackets, without its interval."""
    return _broken(re.sub(rf" {_INTERVAL}", "", cell))


def _cell(cell: str, column: _Column) -> list[str]:
    index, form = column
    lines = form(cell)
    if index > 0:
        return lines
    longest = max([_LABEL, *map(len, cell.split())])
    return [part for line in lines for part in wrap(line, longest)] or [""]


def _heading(header: Sequence[str], rows: Rows, column: _Column) -> list[str]:
    """Return a heading in lines no wider than the cells below it, if its words allow that."""
    title = header[column[0]]
    cells = [line for row in rows for line in _cell(row[column[0]], column)]
    width = max([_HEADING, *map(len, cells), *map(len, title.split())])
    return wrap(title, width, break_on_hyphens=False) or [""]


def _width(header: Sequence[str], rows: Rows, column: _Column) -> int:
    cells = [_cell(row[column[0]], column) for row in rows]
    return max(len(line) for lines in [_heading(header, rows, column), *cells] for line in lines)


def _rendered(header: Sequence[str], rows: Rows, columns: Sequence[_Column]) -> str:
    heads = [_heading(header, rows, one) for one in columns]
    height = max(map(len, heads))
    bottom = [[""] * (height - len(lines)) + lines for lines in heads]
    lines: list[list[str]] = []
    for row in rows:
        cells = [_cell(row[one[0]], one) for one in columns]
        tall = max(map(len, cells))
        filled = ([*one, *[""] * (tall - len(one))] for one in cells)
        lines += map(list, zip(*filled, strict=True))
    return lined([*map(list, zip(*bottom, strict=True))], lines)
