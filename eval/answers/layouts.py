"""File layouts of answers (Mem0's, JSON lines, CSV), each parsed into a list of items."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from eval.answers.containers import Item
from eval.answers.json_values import as_json, json_lines
from memsys.errors import InputError
from memsys.text.json_text import parse_json

_DELIMITERS = ",;\t"
_FIELD_CHARACTERS = 1 << 27  # a context of a whole conversation is longer than csv's own limit
_KNOWN = {"question", "sample_id", "qa_index", "answer", "prediction", "response"}
LAYOUTS = {  # with their names in messages
    "mem0": "Mem0's layout ({conversation index: [{question, response, ...}]})",
    "jsonl": "JSON lines",
    "csv": "CSV",
}
AUTO = "auto"
FORMATS = (AUTO, *LAYOUTS)


def detect(text: str, name: str) -> str:
    """Return `mem0`, `jsonl` or `csv`, judged by `text`; raise InputError if it is none."""
    start = text.lstrip()[:1]
    if not start:
        raise InputError(f"{name}: is empty")
    if start == "{":
        return "jsonl" if _is_lines(text) else "mem0"
    header = _header(text)
    if start != "[" and len(_KNOWN.intersection(header)) >= 2:
        return "csv"
    raise InputError(
        f"{name}: unknown format; it must be {LAYOUTS['mem0']}, JSON lines of one object a "
        "question, or CSV with a header (see docs/bring-your-own-answers.md)"
    )


def read_items(text: str, layout: str, name: str) -> list[Item]:
    """Return the rows of `text` in file order; raise InputError naming the invalid place."""
    readers = {"mem0": _mem0, "jsonl": _json_lines, "csv": _csv}
    items = readers[layout](text, name)
    if not items:
        raise InputError(f"{name}: contains no answers")
    return items


def _mem0(text: str, name: str) -> list[Item]:
    value = as_json(text, name)
    if not _is_mem0(value):
        raise InputError(
            f"{name}: not Mem0's layout, which is one object of lists: "
            '{"0": [{"question": ..., "response": ...}, ...], "1": ...}'
        )
    items = []
    for key, rows in value.items():
        for number, row in enumerate(rows):
            place = f"conversation {key!r}, item {number}"
            items.append(Item(place, _object(row, f"{name}: {place}"), group=key))
    return items


def _json_lines(text: str, name: str) -> list[Item]:
    return [
        Item(place, _object(value, f"{name}: {place}")) for place, value in json_lines(text, name)
    ]


def _csv(text: str, name: str) -> list[Item]:
    csv.field_size_limit(_FIELD_CHARACTERS)
    header = _header(text)
    doubles = sorted({column for column in header if header.count(column) > 1})
    if doubles:
        raise InputError(f"{name}: column {doubles[0]!r} occurs twice; rename or remove one")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    items = []
    try:
        next(reader, None)
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            place = f"line {reader.line_num}"
            if len(cells) != len(header):
                raise InputError(
                    f"{name}: {place}: {len(cells)} fields where the header has {len(header)}; "
                    "put texts with commas or line breaks in double quotes"
                )
            items.append(Item(place, dict(zip(header, cells, strict=True))))
    except csv.Error as error:
        raise InputError(f"{name}: line {reader.line_num}: not CSV ({error})") from error
    return items


def _is_lines(text: str) -> bool:
    """Return True if the first line is a JSON object and not a whole Mem0 file."""
    try:
        first = parse_json(text.lstrip().split("\n", 1)[0], nan=True)
    except json.JSONDecodeError:
        return False
    except ValueError:  # whole, but beyond a limit, which reading names
        return True
    return isinstance(first, dict) and not _is_mem0(first)


def _is_mem0(value: Any) -> bool:
    if not isinstance(value, dict) or not value:
        return False
    return all(isinstance(rows, list) for rows in value.values())


def _object(value: Any, place: str) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    raise InputError(f"{place}: must be an object {{...}} with question and answer")


def _header(text: str) -> list[str]:
    try:
        row = next(csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text)), [])
    except csv.Error:
        return []
    return [cell.strip() for cell in row]


def _delimiter(text: str) -> str:
    """Return the header's separator; spreadsheets of many countries write semicolons."""
    line = text.lstrip().split("\n", 1)[0]
    return max(_DELIMITERS, key=line.count)
