"""Which recorded answers and failures a run met: `calls.jsonl`, one line a call."""

from __future__ import annotations

import re
from pathlib import Path

from eval.records.jsonl import read_lines
from memsys.errors import InputError
from memsys.llm.recording import RecordedAnswer, Recording

CALLS = "calls.jsonl"  # {"key": ..., "phase": ..., "question": id or null}
_KEY = re.compile(r"[0-9a-f]{64}")


def keys_of(folder: Path) -> list[str]:
    """The keys of all calls of the run in `folder`, each once, in order of first use.

    Raises InputError if it is no folder of a run with calls, or a line names no key.
    """
    path = folder / CALLS
    if not path.is_file():
        raise InputError(
            f"{path}: not there; name the folder of a run that called a model (llm=..., or an "
            "embedder behind an endpoint)"
        )
    keys: dict[str, None] = {}
    for number, line in enumerate(read_lines(path), 1):
        key = line.get("key") if isinstance(line, dict) else None
        if not isinstance(key, str) or not _KEY.fullmatch(key):
            raise InputError(f"{path}: line {number}: no key of a call")
        keys[key] = None
    return list(keys)


def answers_of(folder: Path, recording: Recording) -> list[RecordedAnswer]:
    """Every answer that the run in `folder` used, and every failure, in order of key.

    Raises InputError if the recording lacks one: such a bundle would not replay the run.
    """
    keys = keys_of(folder)
    found = recording.find_all(keys)
    if len(found) < len(keys):
        raise InputError(
            f"{recording.path}: holds {len(found):,} of the {len(keys):,} answers that {folder} "
            "used; name the cache folder that the run was made with (--cache)"
        )
    return found
