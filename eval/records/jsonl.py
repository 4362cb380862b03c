"""Records on disk: one JSON line a question, written as it is answered. They are the truth."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from memsys.errors import InputError

Record = dict[str, Any]
RECORDS, INGEST, CALLS, SUMMARY, MANIFEST = (
    "records.jsonl",
    "ingest.jsonl",
    "calls.jsonl",
    "summary.json",
    "manifest.json",
)


class LineWriter:
    """Appends JSON lines, each flushed to the system: a kill loses at most the line under way."""

    def __init__(self, path: Path) -> None:
        """Opens `path` for appending, first cutting off a line that a kill left unfinished."""
        _drop_torn_line(path)
        self._file: IO[str] = path.open("a", encoding="utf-8")

    def write(self, row: Mapping[str, Any]) -> None:
        """Append `row`; raises ValueError on NaN or infinity, which JSON does not have."""
        self.write_line(json_line(row))

    def write_line(self, line: str) -> None:
        """Append `line`, one made by json_line."""
        self._file.write(line)
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Replace `path` whole by `rows`, one JSON line each."""
    part = path.with_name(path.name + ".part")
    with part.open("w", encoding="utf-8") as file:
        file.writelines(json_line(row) for row in rows)
    part.replace(path)


def read_lines(path: Path, *, torn: bool = False) -> Iterator[Record]:
    """The rows of a JSON-lines file, in order; none if it is absent. `torn`: a last line without
    its end, as a kill leaves it, is passed over.

    Raises InputError naming the line that is not JSON.
    """
    if not path.exists():
        return
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if torn and not line.endswith("\n"):
                return
            try:
                yield json.loads(line)
            except ValueError as error:
                raise InputError(
                    f"{path}: line {number} is not JSON ({error}); resume the run to mend its end"
                ) from error


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Replace `path` whole: a reader sees the old file or the new one, never half of one."""
    part = path.with_name(path.name + ".part")
    text = json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False)
    part.write_text(text + "\n", encoding="utf-8")
    part.replace(path)


def json_line(row: Mapping[str, Any]) -> str:
    """`row` as one line; raises ValueError on NaN or infinity, TypeError on what is no JSON."""
    return json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"


def _drop_torn_line(path: Path) -> None:
    if not path.exists():
        return
    with path.open("rb+") as file:
        data = file.read()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            file.truncate(whole)
