"""Files of run folders are replaced whole, and never written through a link."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from memsys.core.errors import InputError
from memsys.core.files import check_entry


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
