"""A bundle: the recorded answers of a run in one file with a checksum.

The file consists of gzipped JSON lines. The first has `format`, `version`, `count` and `sha256` (of
the lines after it, in UTF-8); each other line is one answer, or one failure, with the fields of
memsys.llm.recording.RecordedAnswer.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memsys.errors import InputError
from memsys.llm.recording import RecordedAnswer

_FORMAT, _VERSION = "memsys-calls", 1
_KINDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("key", "path", "model", "body", "created"), (str,)),
    "status": (int,),
    "latency_ms": (int, float),
    **dict.fromkeys(("input_tokens", "output_tokens"), (int, type(None))),
}


def write_bundle(path: Path, answers: Sequence[RecordedAnswer]) -> None:
    """Write `answers` to `path`, whole or not at all; equal answers give equal bytes.

    Raises InputError if the file cannot be written.
    """
    lines = "".join(
        json.dumps(answer._asdict(), ensure_ascii=True, sort_keys=True) + "\n" for answer in answers
    ).encode()
    header = {
        "format": _FORMAT,
        "version": _VERSION,
        "count": len(answers),
        "sha256": hashlib.sha256(lines).hexdigest(),
    }
    data = gzip.compress((json.dumps(header) + "\n").encode() + lines, mtime=0)
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(data)
        part.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error}); name another file") from error


def read_bundle(path: Path) -> list[RecordedAnswer]:
    """Read the answers in the bundle at `path`; raises InputError if it is no bundle or damaged."""
    try:
        data = gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path}: no readable bundle ({error}); fetch it again") from error
    first, _, rest = data.partition(b"\n")
    try:
        header = json.loads(first)
    except ValueError:
        header = None
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise InputError(f"{path}: not a bundle of recorded calls (python -m eval.cache export)")
    if header.get("version") != _VERSION:
        raise InputError(
            f"{path}: a bundle of version {header.get('version')}, and this memsys reads "
            f"{_VERSION}; use the memsys that wrote it"
        )
    if hashlib.sha256(rest).hexdigest() != header.get("sha256"):
        raise InputError(
            f"{path}: damaged (its sha256 is not the one in its first line); fetch it again"
        )
    lines = rest.splitlines()
    if len(lines) != header.get("count"):
        raise InputError(
            f"{path}: {len(lines)} answers, but its first line says {header.get('count')}"
        )
    return [_answer(path, number, line) for number, line in enumerate(lines, 2)]


def _answer(path: Path, number: int, line: bytes) -> RecordedAnswer:
    """Parse one line: another program may have written a bundle with a valid checksum."""
    try:
        row: Any = json.loads(line)
        body = json.loads(row["body"])
    except (ValueError, KeyError, TypeError):
        row, body = None, None
    if not isinstance(row, dict) or not isinstance(body, dict) or set(row) != set(_KINDS):
        raise InputError(f"{path}: line {number} is not a recorded answer")
    for name, kinds in _KINDS.items():
        if not isinstance(row[name], kinds):
            raise InputError(f"{path}: line {number}: {name} is {row[name]!r}")
    return RecordedAnswer(**row)
