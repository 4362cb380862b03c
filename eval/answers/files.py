"""Read a file of answers in any known format, gzipped or not."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from eval.answers.columns import AnswerRow, read_rows
from eval.answers.layouts import AUTO, Item, detect, read_items
from memsys.errors import InputError

_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class AnswerFile:
    """A file of answers: name, size in bytes, sha256 (both of the file on disk), format, rows.

    `items`: the raw rows, in the order of `rows`. `columns`: the file's column by our name of the
    field (`answer` -> `response`).
    """

    name: str
    bytes: int
    sha256: str
    format: str
    columns: Mapping[str, str]
    items: tuple[Item, ...]
    rows: tuple[AnswerRow, ...]


def read_answers(path: Path, layout: str = AUTO) -> AnswerFile:
    """Return the answers in the file at `path`; `layout` is one of `FORMATS`.

    Raises InputError naming the file and the place in it if it cannot be read or has another
    format.
    """
    try:
        data = path.read_bytes()
        plain = gzip.decompress(data) if data.startswith(_GZIP) else data
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{path}: gzip data is damaged or truncated ({error})") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    try:
        text = plain.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 (byte {error.start}); save it as UTF-8") from error
    if layout == AUTO:
        layout = detect(text, path.name)
    items = read_items(text, layout, path.name)
    rows, columns = read_rows(items, path.name)
    digest = hashlib.sha256(data).hexdigest()
    return AnswerFile(path.name, len(data), digest, layout, columns, tuple(items), tuple(rows))
