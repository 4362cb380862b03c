"""What is left of a text or a vector in files or in objects, for tests of deletion."""

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from memsys.core.types import Vectors

_GAP = bytes(4096)  # in place of a hole: what is searched for may end in zeros


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
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = _data_of(path)
            if any(form in data for form in wanted):
                found.append(str(path.relative_to(folder)))
    return found


def _data_of(path: Path) -> bytes:
    """The content of a file, with a gap in place of each hole: a shard of Qdrant has 140 MB."""
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


def texts_in(root: object, *beside: object) -> Iterator[str]:
    """Yield every text that `root` refers to, directly or by others, but for what only `beside`
    refers to (a cache that all share).
    """
    seen = {id(one) for one in beside}
    left: list[Any] = [root]
    while left:
        one = left.pop()
        if id(one) in seen or isinstance(one, type | ModuleType | FunctionType):
            continue
        seen.add(id(one))
        if isinstance(one, str):
            yield one
        elif isinstance(one, bytes):
            yield one.decode(errors="replace")
        else:
            left += gc.get_referents(one)


def mentions(root: object, word: str, *beside: object) -> list[str]:
    """The texts with `word` among those of `texts_in`."""
    return [text for text in texts_in(root, *beside) if word in text.casefold()]
