"""JSON files of a run folder: lines that are appended and flushed, and files replaced whole."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from os import SEEK_END
from pathlib import Path
from typing import IO, Any

from pydantic import TypeAdapter, ValidationError

from memsys.errors import InputError, first_problem

Row = dict[str, Any]
RECORDS, INGEST, CALLS, CONTEXTS, SUMMARY, MANIFEST = (
    "records.jsonl",
    "ingest.jsonl",
    "calls.jsonl",
    "contexts.jsonl",
    "summary.json",
    "manifest.json",
)
_BLOCK = 2**16  # bytes


class LineWriter:
    """Appends JSON lines, each flushed to the system: a kill loses at most the unfinished line."""

    def __init__(self, path: Path) -> None:
        """Open `path` for appending; a line that a kill left unfinished is cut off first."""
        _drop_torn_line(path)
        self._file: IO[str] = path.open("a", encoding="utf-8")

    def write(self, row: Mapping[str, Any]) -> None:
        """Append `row`; raises ValueError on NaN or infinity, which JSON does not have."""
        self.write_line(json_line(row))

    def write_line(self, line: str) -> None:
        """Append `line`, a result of json_line."""
        self._file.write(line)
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Replace the file `path` by `rows`, one JSON line each, in one step."""
    part = path.with_name(path.name + ".part")
    with part.open("w", encoding="utf-8") as file:
        file.writelines(json_line(row) for row in rows)
    part.replace(path)


def read_lines(
    path: Path, *, torn: bool = False, schema: TypeAdapter[Any] | None = None
) -> Iterator[Row]:
    """Yield the rows of a JSON-lines file in order; none if the file is absent.

    `torn`: skip an incomplete last line, which a killed process may leave. `schema`: validate each
    line. Raises InputError naming the line, and the field that is invalid.
    """
    if not path.exists():
        return
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if torn and not line.endswith("\n"):
                return
            try:
                row = json.loads(line)
            except ValueError as error:
                raise InputError(
                    f"{path}: line {number} is not JSON ({error}); resume the run to mend its end"
                ) from error
            if schema is not None:
                validate(schema, line, f"{path}: line {number}")
            yield row


def validate(schema: TypeAdapter[Any], text: str, where: str) -> None:
    """Raise InputError naming the first invalid field of the JSON `text`, if there is one."""
    try:
        schema.validate_json(text, strict=True)
    except ValidationError as error:
        raise InputError(
            f"{where}: {first_problem(error)}; docs/records.md lists the fields"
        ) from error


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Replace the file `path` in one step: a reader sees the old file or the new one."""
    part = path.with_name(path.name + ".part")
    text = json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False)
    part.write_text(text + "\n", encoding="utf-8")
    part.replace(path)


def json_line(row: Mapping[str, Any]) -> str:
    """Return `row` as one line; raises ValueError on NaN or infinity, TypeError on other types."""
    return json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"


def _drop_torn_line(path: Path) -> None:
    """Remove an incomplete last line."""
    if not path.exists():
        return
    with path.open("rb+") as file:
        end = whole = file.seek(0, SEEK_END)
        while whole:  # read backwards in blocks
            start = max(whole - _BLOCK, 0)
            file.seek(start)
            newline = file.read(whole - start).rfind(b"\n")
            whole = start + newline + 1
            if newline >= 0:
                break
        if whole < end:
            file.truncate(whole)
