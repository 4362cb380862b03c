"""Open a file of answers, whatever its format, gzipped or not."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from pathlib import Path

from eval.answers.answers import AnswerFile
from eval.answers.fields import read_rows
from eval.answers.layouts import AUTO, detect, read_items
from memsys.errors import InputError

_GZIP = b"\x1f\x8b"


def read_answers(path: Path, layout: str = AUTO) -> AnswerFile:
    """The answers in the file at `path`; `layout` is one of `FORMATS`.

    Raises InputError, naming the file and the place in it, where it cannot be read or is of
    another format.
    """
    try:
        data = path.read_bytes()
        plain = gzip.decompress(data) if data.startswith(_GZIP) else data
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{path}: gzip data that is damaged or cut off ({error})") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    try:
        text = plain.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 (byte {error.start}); save it as UTF-8") from error
    if layout == AUTO:
        layout = detect(text, path.name)
    rows, columns = read_rows(read_items(text, layout, path.name), path.name)
    digest = hashlib.sha256(data).hexdigest()
    return AnswerFile(path.name, len(data), digest, layout, columns, tuple(rows))
