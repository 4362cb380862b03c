"""Files of answers and rankings as JSON, JSON lines or CSV."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.datasets.files import json_lines, json_value
from eval.datasets.types import SourceFile
from memsys.core.errors import InputError
from memsys.core.files import ANSWERS, decode, read_bytes, shown, unpack
from memsys.core.json_text import parse_json

JSON, LINES, CSV = "json", "lines", "csv"
_DELIMITERS = ",;\t"  # spreadsheets of many countries write semicolons
_FIELD_CHARACTERS = 1 << 27  # a context of a whole conversation is longer than csv's own limit
_TABLE_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


@dataclass(frozen=True, slots=True)
class Document:
    """The content of a file of answers. `kind`: "json", "lines" or "csv".

    `source`: name, size and sha256 of the file on disk. `values`: place and value of the JSON
    document, or of each line that is not blank.
    """

    source: SourceFile
    kind: str
    values: list[tuple[str, Any]]


def read_document(path: Path) -> Document:
    """Return the content of the file at `path`, gzipped or not.

    Raises InputError naming the file and the place of an error if it cannot be read or is in no
    known format.
    """
    name = shown(path.name)
    raw = read_bytes(path, ANSWERS)
    source = SourceFile(path.name, len(raw), hashlib.sha256(raw).hexdigest())
    data = unpack(raw, Path(path.name), ANSWERS)
    try:
        text = decode(data, Path(path.name))
    except InputError:
        if b"\x00" not in data:
            raise
        raise InputError(f"{name}: unknown format (binary); export it as JSON or CSV") from None
    del raw, data  # else three copies are in memory while the text is parsed
    begin = text.lstrip()
    if not begin:
        raise InputError(f"{name}: is empty")
    if begin[0] == "{" and _is_lines(begin):
        lines = list(json_lines(text, name, nan=True))
        for where, value in lines:
            if not isinstance(value, dict):
                raise where.error("", "must be an object {...} with question and answer")
        return Document(source, LINES, [(f"line {where.sample}", value) for where, value in lines])
    if begin[0] in "{[":
        return Document(source, JSON, [("", json_value(text, name, nan=True))])
    first = re.split("[\r\n]", begin, maxsplit=1)[0]
    delimiter = max(_DELIMITERS, key=first.count)
    if delimiter not in first or "\x00" in first:
        raise InputError(
            f"{name}: unknown format; it must be JSON, JSON lines of one object a question, "
            "or CSV with a header (see docs/importing.md)"
        )
    return Document(source, CSV, list(_table(text, delimiter, name)))


def first_object(text: str) -> dict[str, Any] | None:
    """Return the object that the first line of `text` contains; None if that is no whole object,
    and an empty one if it is beyond a limit, which reading names.
    """
    try:
        value = parse_json(text.partition("\n")[0], nan=True)
    except json.JSONDecodeError:
        return None
    except ValueError:
        return {}
    return value if isinstance(value, dict) else None


def _table(text: str, delimiter: str, name: str) -> Iterator[tuple[str, dict[str, str]]]:
    csv.field_size_limit(_FIELD_CHARACTERS)
    begin = text.lstrip()
    skipped = len(_TABLE_LINE.findall(text[: len(text) - len(begin)]))
    lines = (line[0] for line in _TABLE_LINE.finditer(begin))
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        header = [cell.strip() for cell in next(reader)]
        doubles = sorted({column for column in header if header.count(column) > 1})
        if doubles:
            raise InputError(f"{name}: column {doubles[0]!r} occurs twice; rename or remove one")
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            place = f"line {reader.line_num + skipped}"
            if len(cells) != len(header):
                raise InputError(
                    f"{name}: {place}: {len(cells)} fields where the header has "
                    f"{len(header)}; put texts with commas or line breaks in double quotes"
                )
            yield place, dict(zip(header, cells, strict=True))
    except csv.Error as error:
        place = f"line {reader.line_num + skipped}"
        raise InputError(f"{name}: {place}: not CSV ({error})") from error


def _is_lines(text: str) -> bool:
    """Return whether the first line is an object, and more follow or it is a row by itself."""
    first = first_object(text)
    if first is None or text.partition("\n")[2].strip():
        return first is not None
    return not _has_rows(first) and any(isinstance(one, str) for one in first.values())


def _has_rows(value: Any) -> bool:
    """Return whether there is a list of objects in `value`."""
    if isinstance(value, dict):
        return any(_has_rows(one) for one in value.values())
    if isinstance(value, list):
        return any(isinstance(one, dict) or _has_rows(one) for one in value)
    return False
