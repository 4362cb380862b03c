"""Files of a run folder: JSON lines that are appended one by one, and files that are replaced whole
and never written through a link.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Annotated, Any, BinaryIO, NotRequired

from pydantic import Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from memsys.core.errors import InputError, complain, first_problem, problems
from memsys.core.files import check_entry, open_entry
from memsys.core.json_text import check_json, parse_json
from memsys.core.places import MANIFEST, RECORDS

Row = dict[str, Any]
Place = tuple[int, int]  # of a line in its file: first byte and length
# The files of a run folder besides RECORDS and MANIFEST.
RANKINGS, MEMORIES, INGEST, CALLS, CONTEXTS, SUMMARY = (
    "rankings.jsonl",
    "memories.jsonl",
    "ingest.jsonl",
    "calls.jsonl",
    "contexts.jsonl",
    "summary.json",
)
SUMMARY_CSV, REPORT_MD = "summary.csv", "report.md"
FILES = (RECORDS, RANKINGS, MEMORIES, INGEST, CONTEXTS, SUMMARY, MANIFEST, SUMMARY_CSV, REPORT_MD)


class _UsedCall(TypedDict):
    """A line of CALLS: the key of a recorded answer that a question or an ingestion used."""

    key: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    phase: str
    question: NotRequired[str | None]


USED_CALL = TypeAdapter(_UsedCall)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an error of the system while `path` is written into an InputError."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{path}: cannot be written ({error.strerror or error}); make space, or name a folder "
            "that this program may write"
        ) from error


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Yield a new file to write, which then replaces `path` in one step, also after a power cut.

    Raises InputError if it cannot be written, and removes it: it occupies a full disk. Also if
    `path` is a link or anything but a regular file.
    """
    part = path.parent / f"{path.name}.part"
    try:
        with writing(path):
            check_entry(path)
            part.unlink(missing_ok=True)  # of a killed process, or somebody's link
            with part.open("xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
    except InputError:
        with suppress(OSError):
            part.unlink()
        raise


def write_text(path: Path, text: str) -> None:
    """Replace the file `path` by `text` as UTF-8; raises InputError as replacing does."""
    with replacing(path) as file:
        file.write(text.encode())


class LineWriter:
    """Appends JSON lines, each handed to the system in one call: a kill loses at most the
    unfinished line.
    """

    def __init__(self, path: Path) -> None:
        """Open `path` for appending; a line that a kill left unfinished is cut off first,
        with a warning on stderr.

        Raises InputError if the file cannot be written.
        """
        self._path = path
        with writing(path):
            whole = torn_at(path)
            self._file = open_entry(path, "ab", buffering=0)
            if whole is not None:
                self._file.seek(whole)
                self._file.truncate()
                complain(f"{path}: the last line was incomplete and is removed", "warning")

    def write(self, row: Mapping[str, Any]) -> Place:
        """Append `row`; raises ValueError on NaN or infinity, which JSON does not have."""
        return self.write_line(json_line(row))

    def write_line(self, line: str) -> Place:
        """Append `line`, a result of json_line, whole or not at all, and return its place;
        InputError on a full disk.
        """
        data, taken = line.encode(), 0
        with writing(self._path):
            try:
                while taken < len(data):
                    taken += self._file.write(data[taken:])
            except OSError:  # other questions under way may write after it
                self._file.truncate(self._file.tell() - taken)
                raise
            return self._file.tell() - taken, taken

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Replace the file `path` by `rows`, one JSON line each, in one step."""
    with replacing(path) as file:
        file.writelines(json_line(row).encode() for row in rows)


def read_lines(
    path: Path,
    *,
    torn: bool = False,
    schema: TypeAdapter[Any] | None = None,
    typed: bool = False,
) -> Iterator[Row]:
    """Yield the rows of a JSON-lines file in order; none if the file is absent.

    `torn`: skip an incomplete last line, which a killed process may leave. `schema`: validate each
    line. `typed`: the rows may have the order of fields and the tuples of `schema`, which is
    faster. Raises InputError naming the line, and the field that is invalid.
    """
    try:
        file: BinaryIO = open_entry(path)
    except FileNotFoundError:
        return
    with file:
        for number, line in enumerate(file, 1):
            if torn and not line.endswith(b"\n"):
                return
            try:
                row = _typed(line, schema) if typed and schema else _parsed(line, schema)
            except ValueError as error:
                remedy = "restore the file from a copy, or run it again from the start"
                if path.name == RECORDS:
                    remedy = "delete the line and resume the run, which asks its question again"
                raise InputError(f"{path}: line {number}{error}; {remedy}") from error
            yield row


def _typed(line: bytes, schema: TypeAdapter[Any]) -> Row:
    """Return the row in `line` as pydantic reads it; raises ValueError as _parsed does."""
    try:
        row: Row = schema.validate_json(line, strict=True)
        check_json(row, strings=False)  # pydantic refuses unpaired surrogates
    except ValueError:
        return _parsed(line, schema)
    return row


def _parsed(line: bytes, schema: TypeAdapter[Any] | None) -> Row:
    """Return the row in `line`; raises ValueError with the rest of a sentence on the line."""
    try:
        row = parse_json(line)
    except ValueError as error:
        raise ValueError(f" is not JSON ({error})") from error
    try:
        if schema is not None:
            schema.validate_json(line, strict=True)
    except ValidationError as error:
        raise ValueError(f": {first_problem(error)} (docs/records.md lists the fields)") from error
    if not isinstance(row, dict):
        raise ValueError(" is not a JSON object")
    return row


def validate(schema: TypeAdapter[Any], text: str, where: str) -> None:
    """Raise InputError naming the first invalid field of the JSON `text`, if there is one."""
    with problems(where, "; docs/records.md lists the fields"):
        schema.validate_json(text, strict=True)


def write_json(path: Path, value: Mapping[str, Any], *, spare: int = 0) -> None:
    """Replace the file `path` in one step: a reader sees the old file or the new one.

    `spare`: blanks at the end, which reserve space. Where there is no space for a second file, the
    old one is overwritten if it is as long. Raises InputError if the file cannot be written.
    """
    text = json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False)
    data = (text + " " * spare + "\n").encode()
    try:
        with replacing(path) as file:
            file.write(data)
    except InputError:
        if not _overwritten(path, data):
            raise


def _overwritten(path: Path, data: bytes) -> bool:
    """Write `data` over a file of at least its length; return whether that was possible."""
    try:
        with open_entry(path, "rb+", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            padded = data[:-1].ljust(size - 1) + b"\n"
            return len(padded) == size and file.write(padded) == size
    except OSError:
        return False


# dumps makes one each time. To look for what contains itself takes a third of the time.
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False)
_CAREFUL = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def json_line(row: Mapping[str, Any]) -> str:
    """Return `row` as one line; raises ValueError on NaN, infinity and what contains itself,
    TypeError on other types.
    """
    try:
        return _ENCODER.encode(row) + "\n"
    except RecursionError:
        return _CAREFUL.encode(row) + "\n"


def torn_at(path: Path) -> int | None:
    """Return the offset in bytes of an incomplete last line; None without it or without a file."""
    try:
        file = open_entry(path)
    except FileNotFoundError:
        return None
    with file:
        size = file.seek(0, os.SEEK_END)
        if not size:
            return None
        with mmap(file.fileno(), 0, access=ACCESS_READ) as data:
            whole = data.rfind(b"\n") + 1
    return whole if whole < size else None
