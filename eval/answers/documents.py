"""A file of answers as JSON, JSON lines or CSV: small ones whole, large ones in a stream."""

from __future__ import annotations

import codecs
import csv
import hashlib
import io
import json
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from eval.answers.json_values import as_json
from eval.answers.streaming import JSONStream, Limits
from eval.datasets.types import SourceFile
from memsys.core.errors import InputError
from memsys.core.files import ANSWERS, check_regular, decode, shown, unpacked_chunks
from memsys.core.json_text import parse_json

_DELIMITERS = ",;\t"
_FIELD_CHARACTERS = 1 << 27  # a context of a whole conversation is longer than csv's own limit
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_ROW = 1 << 20  # characters of a file that may be a single row
JSON, LINES, CSV = "json", "lines", "csv"


class Document:
    """A file of answers. `kind`: "json", "lines" or "csv".

    Raises InputError if it cannot be read or is none of these.
    """

    def __init__(self, path: Path, limits: Limits) -> None:
        self.path, self._limits = path, limits
        self.name = shown(path.name)
        self.source = _source(path)
        start, whole = self._start()
        self.size = len(start)
        self._text = start if whole else None
        self.kind = self._kind(start)
        self._values: list[tuple[str, Any]] | None = None

    def forget(self) -> None:
        """Read the file again each time, to save memory."""
        self._text = None

    def values(self, *, checked: bool = False) -> Iterator[tuple[str, Any]]:
        """Yield place and value of the JSON document, or of each line that is not blank.

        `checked`: all have been read before. Raises InputError naming the place of an error.
        """
        if self._values is None:
            values = self._read(checked)
            if self._text is None:
                return values
            self._values, self._text = list(values), None
        return iter(self._values)

    def _read(self, checked: bool) -> Iterator[tuple[str, Any]]:
        if self.kind == CSV:
            return self._table()
        if self.kind == LINES:
            return self._lines()
        if self._text is not None:
            return iter([("", as_json(self._text, self.name))])
        chunks = self._chunks(self._limits.chunk)
        stream = JSONStream(chunks, self.name, self._limits, checked=checked)
        return (("", value) for value in stream.document())

    def _table(self) -> Iterator[tuple[str, dict[str, str]]]:
        csv.field_size_limit(_FIELD_CHARACTERS)
        lines = self._text_lines("")
        skipped, first = next((n, line) for n, line in enumerate(lines) if line.strip())
        reader = csv.reader(chain([first], lines), delimiter=_delimiter(first), strict=True)
        try:
            header = [cell.strip() for cell in next(reader)]
            doubles = sorted({column for column in header if header.count(column) > 1})
            if doubles:
                raise InputError(
                    f"{self.name}: column {doubles[0]!r} occurs twice; rename or remove one"
                )
            for cells in reader:
                if not any(cell.strip() for cell in cells):
                    continue
                place = f"line {reader.line_num + skipped}"
                if len(cells) != len(header):
                    raise InputError(
                        f"{self.name}: {place}: {len(cells)} fields where the header has "
                        f"{len(header)}; put texts with commas or line breaks in double quotes"
                    )
                yield place, dict(zip(header, cells, strict=True))
        except csv.Error as error:
            place = f"line {reader.line_num + skipped}"
            raise InputError(f"{self.name}: {place}: not CSV ({error})") from error

    def _lines(self) -> Iterator[tuple[str, Any]]:
        for number, line in enumerate(self._text_lines("\n"), 1):
            if line.strip():
                place = f"line {number}"
                value = as_json(line.rstrip("\n"), f"{self.name}: {place}")
                if not isinstance(value, dict):
                    raise InputError(
                        f"{self.name}: {place}: must be an object {{...}} with question and answer"
                    )
                yield place, value

    def _text_lines(self, newline: str) -> Iterator[str]:
        if self._text is not None:
            return iter(io.StringIO(self._text, newline=newline))
        return self._split(newline)

    def _split(self, newline: str) -> Iterator[str]:
        """Yield the lines of the file, which are not too long."""
        rest, number, most = "", 1, self._limits.text
        for chunk in self._chunks(self._limits.chunk):
            *lines, rest = io.StringIO(rest + chunk, newline=newline).readlines() or [""]
            yield from lines
            number += len(lines)
            if len(rest) > most:
                raise InputError(
                    f"{self.name}: line {number} has more than {most:,} characters; shorten it"
                )
        if rest:
            yield rest

    def _chunks(self, size: int) -> Iterator[str]:
        """Yield the text of the file in chunks of at most `size` characters."""
        decoder, passed = codecs.getincrementaldecoder("utf-8-sig")(), 0
        for data in unpacked_chunks(self.path, ANSWERS, size):
            pending = len(decoder.getstate()[0])
            try:
                yield decoder.decode(data)
            except UnicodeDecodeError as error:
                at = passed - pending + error.start
                raise InputError(f"{self.name}: not UTF-8 (byte {at}); save it as UTF-8") from None
            passed += len(data)
        try:
            decoder.decode(b"", final=True)
        except UnicodeDecodeError as error:
            at = passed - len(error.object) + error.start
            raise InputError(f"{self.name}: not UTF-8 (byte {at}); save it as UTF-8") from None

    def _start(self) -> tuple[str, bool]:
        """Return the text if it is small, else its beginning, and whether it is small."""
        parts, size, most = [], 0, max(self._limits.small, self._limits.text)
        for data in unpacked_chunks(self.path, ANSWERS, self._limits.chunk):
            parts.append(data)
            size += len(data)
            if size > most:
                break
        start = b"".join(parts)
        if _is_binary(start):
            raise InputError(f"{self.name}: unknown format (binary); export it as JSON or CSV")
        if size <= self._limits.small:
            return decode(start, Path(self.path.name)), True
        return codecs.getincrementaldecoder("utf-8-sig")("replace").decode(start), False

    def _kind(self, start: str) -> str:
        begin = start.lstrip()
        if not begin:
            raise InputError(f"{self.name}: is empty")
        if begin[0] == "{" and _is_lines(begin):
            return LINES
        if begin[0] in "{[":
            return JSON
        line = re.split("[\r\n]", begin, maxsplit=1)[0]
        if _delimiter(line) in line and "\x00" not in line:
            return CSV
        raise InputError(
            f"{self.name}: unknown format; it must be JSON, JSON lines of one object a question, "
            "or CSV with a header (see docs/bring-your-own-answers.md)"
        )


def _is_binary(start: bytes) -> bool:
    """Return whether a file is no text, neither in UTF-8 nor in UTF-16."""
    if b"\x00" not in start or start.startswith(_UTF16):
        return False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        return True
    return False


def _is_lines(text: str) -> bool:
    """Return True if the first line is an object, and more follow or it is a row by itself."""
    line, _, rest = text.partition("\n")
    single = not rest.strip()
    if single and len(line) > _ROW:
        return False
    try:
        first = parse_json(line, nan=True)
    except json.JSONDecodeError:
        return False
    except ValueError:  # whole, but beyond a limit, which reading names
        return True
    return isinstance(first, dict) and not (single and (_has_rows(first) or not _has_text(first)))


def _has_rows(value: Any) -> bool:
    """Return True if there is a list of objects in `value`."""
    if isinstance(value, dict):
        return any(_has_rows(one) for one in value.values())
    if isinstance(value, list):
        return any(isinstance(one, dict) or _has_rows(one) for one in value)
    return False


def _has_text(value: dict[str, Any]) -> bool:
    return any(isinstance(one, str) for one in value.values())


def _source(path: Path) -> SourceFile:
    size = check_regular(path)
    try:
        with path.open("rb") as file:
            return SourceFile(path.name, size, hashlib.file_digest(file, "sha256").hexdigest())
    except OSError as error:
        raise InputError(f"{shown(path)}: cannot be read: {error.strerror}") from error


def _delimiter(line: str) -> str:
    """Return the header's separator; spreadsheets of many countries write semicolons."""
    return max(_DELIMITERS, key=line.count)
