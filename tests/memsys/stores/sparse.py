"""What is left of a text or a vector in files that are mostly holes, as those of Qdrant Edge."""

from __future__ import annotations

import os
from pathlib import Path

from memsys.core.types import Vectors
from tests.memsys.left import forms

_GAP = bytes(4096)  # in place of a hole: what is searched for may end in zeros


def files_with(folder: Path, *needles: str | Vectors) -> list[str]:
    """As tests.memsys.left.files_with, but without a search through holes: 140 MB in a shard."""
    wanted = [form for needle in needles for form in forms(needle)]
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = _data_of(path)
            if any(form in data for form in wanted):
                found.append(str(path.relative_to(folder)))
    return found


def _data_of(path: Path) -> bytes:
    """The content of a file, with a gap in place of each hole."""
    parts, end = [b""], 0
    with path.open("rb") as file:
        number = file.fileno()
        while end < os.fstat(number).st_size:
            try:
                start = os.lseek(number, end, os.SEEK_DATA)
            except OSError:  # a hole up to the end
                break
            end = os.lseek(number, start, os.SEEK_HOLE)
            parts.append(os.pread(number, end - start, start))
    return _GAP.join([*parts, b""])
