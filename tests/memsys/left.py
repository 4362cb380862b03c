"""What is left of a text or a vector in files, for tests of deletion."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from memsys.core.types import Vectors


def forms(needle: str | Vectors) -> list[bytes]:
    """The bytes by which a file may contain `needle`: UTF-8, UTF-16 or JSON; single precision of
    either byte order, or the hexadecimal digits of it.
    """
    if isinstance(needle, str):
        escaped = needle.encode("unicode_escape")
        return [needle.encode(), escaped, *(needle.encode(f"utf-16-{end}") for end in ("le", "be"))]
    rows = [np.asarray(needle, dtype=f"{end}f4").tobytes() for end in ("<", ">")]
    return [*rows, *(row.hex().encode() for row in rows)]


def files_with(folder: Path, *needles: str | Vectors) -> list[str]:
    """The files below `folder` that contain one of `needles`, by their relative paths."""
    wanted = [form for needle in needles for form in forms(needle)]
    return [
        str(path.relative_to(folder))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and _has(path.read_bytes(), wanted)
    ]


def _has(data: bytes, wanted: Iterable[bytes]) -> bool:
    return any(form in data for form in wanted)
