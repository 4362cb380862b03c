"""Write a bundle of recorded answers; eval.records.bundle describes the format and reads it."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from eval.records.bundle import FORMAT, VERSION
from memsys.errors import InputError
from memsys.llm.recording import RecordedAnswer


def write_bundle(path: Path, answers: Sequence[RecordedAnswer]) -> None:
    """Write `answers` to `path`, whole or not at all; equal answers give equal bytes.

    Raises InputError if the file cannot be written.
    """
    lines = "".join(
        json.dumps(answer._asdict(), ensure_ascii=True, sort_keys=True) + "\n" for answer in answers
    ).encode()
    header = {
        "format": FORMAT,
        "version": VERSION,
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
