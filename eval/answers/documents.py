"""Files of answers and rankings as JSON, JSON lines or CSV."""

from __future__ import annotations

import codecs
import csv
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.datasets.types import SourceFile
from memsys.core.errors import InputError
from memsys.core.files import ANSWERS, decode, read_bytes, shown, unpack
from memsys.core.json_text import parse_json

JSON, LINES, CSV = "json", "lines", "csv"
_DELIMITERS = ",;\t"  # spreadsheets of many countries write semicolons
_FIELD_CHARACTERS = 1 << 27  # a context of a whole conversation is longer than csv's own limit
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_LINE = re.compile(r"[^\n]*(?:\n|\Z)")
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
    if _is_binary(data):
        raise InputError(f"{name}: unknown format (binary); export it as JSON or CSV")
    text = decode(data, Path(path.name))
    del raw, data  # else three copies are in memory while the text is parsed
    kind = _kind(text, name)
    if kind == JSON:
        return Document(source, kind, [("", as_json(text, name))])
    return Document(source, kind, list(_lines(text, name) if kind == LINES else _table(text, name)))


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
    for number, match in enumerate(_LINE.finditer(text), 1):  # splitlines would split inside texts
        line = match[0].removesuffix("\n")
        if line.strip():
            yield f"line {number}", as_json(line, f"{name}: line {number}")


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


def _lines(text: str, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for place, value in json_lines(text, name):
        if not isinstance(value, dict):
            raise InputError(f"{name}: {place}: must be an object {{...}} with question and answer")
        yield place, value


def _table(text: str, name: str) -> Iterator[tuple[str, dict[str, str]]]:
    csv.field_size_limit(_FIELD_CHARACTERS)
    begin = text.lstrip()
    skipped = len(_TABLE_LINE.findall(text[: len(text) - len(begin)]))
    first = _first_line(begin)
    lines = (line[0] for line in _TABLE_LINE.finditer(begin))
    reader = csv.reader(lines, delimiter=_delimiter(first), strict=True)
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


def _kind(text: str, name: str) -> str:
    begin = text.lstrip()
    if not begin:
        raise InputError(f"{name}: is empty")
    if begin[0] == "{" and _is_lines(begin):
        return LINES
    if begin[0] in "{[":
        return JSON
    line = _first_line(begin)
    if _delimiter(line) in line and "\x00" not in line:
        return CSV
    raise InputError(
        f"{name}: unknown format; it must be JSON, JSON lines of one object a question, "
        "or CSV with a header (see docs/importing.md)"
    )


def _is_binary(data: bytes) -> bool:
    """Return whether a file is no text, neither in UTF-8 nor in UTF-16."""
    if b"\x00" not in data or data.startswith(_UTF16):
        return False
    try:
        data.decode()
    except UnicodeDecodeError:
        return True
    return False


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


def _first_line(text: str) -> str:
    return re.split("[\r\n]", text, maxsplit=1)[0]


def _delimiter(line: str) -> str:
    return max(_DELIMITERS, key=line.count)
