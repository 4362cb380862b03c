"""Files that a user names: read whole and within limits, or refused in one line."""

import gzip
import io
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, cast

from memsys.core.errors import InputError

MOST = 4 << 30  # bytes of a file, unpacked: the largest public data set has 2.7 GB
ANSWERS = 1 << 30  # bytes of a file of answers or of recorded calls, unpacked
GZIP = b"\x1f\x8b"
_SMALL = 64 << 20  # unpacked bytes up to which any ratio is accepted
_RATIO = 100  # unpacked bytes per packed byte: texts have 2 to 30, a gzip bomb 1,000
_CHUNK = 1 << 20
_SHOWN = 300  # characters of a path in a message
_AT_ONCE = getattr(os, "O_NONBLOCK", 0)  # opening a pipe would wait for its other end
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_KINDS = {
    stat.S_IFLNK: "a link",
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


@contextmanager
def _refusals(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:  # ValueError: a NUL character
        reason = "its name is not UTF-8; rename it"
        if not isinstance(error, UnicodeEncodeError):
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise InputError(f"{shown(path)}: cannot be read: {reason}") from error


def is_there(path: Path) -> bool:
    """Return whether a file or folder exists at `path`; InputError if it cannot be a path."""
    with _refusals(path), suppress(FileNotFoundError, NotADirectoryError):
        path.stat()
        return True
    return False


def check_regular(path: Path) -> int:
    """Return the size of the regular file at `path`, in bytes.

    Raises InputError for anything else: a pipe or a device might never end. Also if the path is no
    text in UTF-8, as manifests could not name the file.
    """
    with _refusals(path):
        str(path).encode()
        state = path.stat()
    _refuse_others(path, state)
    return state.st_size


def check_entry(path: Path) -> None:
    """Raise InputError unless `path` is a regular file and no link, or nothing: what is written
    through a link in a folder that somebody else made changes another file.
    """
    with suppress(FileNotFoundError, NotADirectoryError):
        _refuse_others(path, path.lstat())


def open_entry(
    path: Path, mode: str = "rb", *, most: int = MOST, buffering: int = -1, linked: bool = False
) -> BinaryIO:
    """Open a file of a folder that somebody else may have made, in a binary `mode` of `open`.

    Raises InputError at once, without reading, if it is a link (unless `linked`), a pipe, a device
    or anything but a regular file, or has more than `most` bytes; OSError as `open` does.
    """

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags | _AT_ONCE | (0 if linked else _NO_LINK), 0o666)

    try:
        file = open(path, mode, buffering, opener=opener)  # noqa: SIM115 - pathlib has no opener
    except OSError:
        if not linked:
            check_entry(path)
        raise
    state = os.fstat(file.fileno())
    try:
        _refuse_others(path, state)
        if state.st_size > most:
            raise InputError(
                f"{shown(path)}: has {state.st_size:,} bytes; at most {most:,} are read"
            )
    except InputError:
        file.close()
        raise
    return cast(BinaryIO, file)


def _refuse_others(path: Path, state: os.stat_result) -> None:
    if not stat.S_ISREG(state.st_mode):
        kind = _KINDS.get(stat.S_IFMT(state.st_mode), "no file")
        raise InputError(f"{shown(path)}: is {kind}; name a regular file")


def read_bytes(path: Path, most: int = MOST, *, linked: bool = True) -> bytes:
    """Return the content of the regular file at `path`, which has at most `most` bytes.

    `linked`: as in open_entry. Raises InputError otherwise.
    """
    if linked:
        check_regular(path)  # names a folder or a pipe that cannot be opened
    with _refusals(path), open_entry(path, most=most, linked=linked) as file:
        return file.read()


def read_text(path: Path, most: int = MOST) -> str:
    """Return the text of a UTF-8 file, gzipped or not; InputError as read_bytes and unpack."""
    return decode(unpack(read_bytes(path, most), path, most), path)


def unpack(data: bytes, path: Path, most: int = MOST) -> bytes:
    """Return `data`, the content of the file at `path`, unpacked if it is gzipped.

    Raises InputError if it is damaged, or unpacks to more than `most` bytes or to far more than a
    text would; memory use is limited, too.
    """
    if not data.startswith(GZIP):
        return data
    packed, plain = io.BytesIO(data), io.BytesIO()
    try:
        with gzip.GzipFile(fileobj=packed) as file:
            while chunk := file.read(_CHUNK):
                limit = min(most, max(_SMALL, _RATIO * packed.tell()))
                if plain.tell() + len(chunk) > limit:
                    raise InputError(
                        f"{shown(path)}: {len(data):,} bytes of gzip unpack to more than "
                        f"{limit:,}; unpack it and name the plain file"
                    )
                plain.write(chunk)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{shown(path)}: gzip data is damaged or truncated ({error})") from error
    return plain.getvalue()


def decode(data: bytes, path: Path) -> str:
    """Return the UTF-8 text `data`, without a byte order mark; InputError naming the wrong byte."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{shown(path)}: not UTF-8 (byte {error.start}); save it as UTF-8"
        ) from error


def shown(name: str | Path, most: int = _SHOWN) -> str:
    """Return a name for a message: at most `most` characters, all of which can be printed."""
    text = str(name)
    text = text if text.isprintable() else repr(text)[1:-1]
    return text if len(text) <= most else f"{text[:most]}..."
