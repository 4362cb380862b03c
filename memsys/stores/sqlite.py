"""SQLite files that several processes may write, and locks among these processes."""

import os
import sqlite3
import struct
import threading
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from memsys.core.errors import InputError

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None  # type: ignore[assignment]

_OF_THE_DISK = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)
_PATIENCE_S = 60  # how long to wait while another process locks the file


def open_shared(path: Path, *schemas: str, owner: object = None) -> sqlite3.Connection:
    """Return a connection to the file at `path`, created with its folder if absent, with a
    write-ahead log and the tables of `schemas` (SQL). Several threads may use it, one at a time. It
    closes when `owner` (None: nobody) is no longer referenced; by itself, a connection refers to
    itself and would keep its file and its pages open until a garbage collection. Raises OSError or
    sqlite3.DatabaseError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    db = sqlite3.connect(path, timeout=_PATIENCE_S, check_same_thread=False)
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        # If several processes open a new file at once, SQLite refuses this to all but one,
        # whatever their time-out.
        try:
            db.execute("PRAGMA journal_mode=WAL")
            break
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.05)
    db.execute("PRAGMA synchronous=NORMAL")
    for schema in schemas:
        db.execute(schema)
    if owner is not None:
        weakref.finalize(owner, db.close)
    return db


def rewrite(db: sqlite3.Connection) -> None:
    """Write the file of `db` anew without what was deleted: SQLite only marks its pages as free,
    and earlier pages remain in the write-ahead log. No transaction may be open. Raises InputError
    if another process is using the file all the time.
    """
    path = db.execute("PRAGMA database_list").fetchone()[2]
    try:
        db.execute("VACUUM")
        is_busy = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    except sqlite3.OperationalError as error:
        raise InputError(f"{path}: not compacted ({error}); repeat it") from error
    if is_busy:
        raise InputError(f"{path}: not compacted, as another process is reading it; repeat it")


@contextmanager
def cache_errors(path: Path, content: str) -> Iterator[None]:
    """Turn an error of the cache file at `path` into an InputError that names it and `content`."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"cache={path.parent}: not a usable folder ({error}); make space, or name another"
        ) from error
    except sqlite3.DatabaseError as error:
        remedy = "delete it, or"
        if (
            getattr(error, "sqlite_errorcode", 0) & 0xFF in _OF_THE_DISK
        ):  # the file is sound, and may be paid for
            remedy = "make space and repeat the command, or"
        raise InputError(
            f"{path}: not usable as {content} ({error}); {remedy} set cache= to another folder"
        ) from error


def open_store(
    path: str | None, tables: Sequence[str], store: str, owner: object
) -> sqlite3.Connection:
    """Return a connection to a store's file, created with its folder and `tables` (SQL) if absent;
    None: to tables in memory. Each write is on disk when it returns. `owner`: see open_shared.
    Raises InputError, naming the setting `store`, if the file cannot be opened.
    """
    file = Path(":memory:" if path is None else path).expanduser()
    try:
        db = open_shared(file, *tables, owner=owner)
        # A commit waits for the disk: data survive a power cut, not only a kill.
        db.execute("PRAGMA synchronous=FULL")
    except (OSError, sqlite3.Error) as error:
        raise InputError(
            f"{store}.path={path}: {error}; name a file that this program may write"
        ) from error
    return db


class ByteLocks:
    """Locks among processes, one for each slot, a hexadecimal number: bytes of one file, locked per
    open file, not per process (Linux only).
    """

    def __init__(self, folder: Path) -> None:
        """`folder` is created if absent. Raises OSError."""
        folder.mkdir(exist_ok=True)
        self._path = folder / "slots"
        self._guard = threading.Lock()
        self._open()

    def take(self, slot: str) -> bool:
        """Return whether `slot` was free; it now belongs to the caller. Raises OSError."""
        with self._guard:
            if self._process != os.getpid():
                self._open()  # a forked process would share the locks of the open file
            if slot in self._taken:
                return False
            try:
                self._set(slot, fcntl.F_WRLCK)
            except BlockingIOError:
                return False
            self._taken.add(slot)
            return True

    def release(self, slot: str) -> None:
        """Free `slot`."""
        with self._guard:
            # Else it belongs to the process that forked this one.
            if self._process == os.getpid() and slot in self._taken:
                self._taken.remove(slot)
                self._set(slot, fcntl.F_UNLCK)

    def _open(self) -> None:
        self._file = self._path.open("ab", buffering=0)
        self._process = os.getpid()
        self._taken: set[str] = set()  # here, which the system would grant again
        weakref.finalize(self, self._file.close)

    def _set(self, slot: str, kind: int) -> None:
        flock = struct.pack("hhqqi", kind, 0, int(slot, 16), 1, 0)  # 1 byte from the start
        fcntl.fcntl(self._file, fcntl.F_OFD_SETLK, flock)


class FileLocks:
    """As ByteLocks, on every system, with a file for each slot, which takes longer."""

    def __init__(self, folder: Path) -> None:
        """`folder` is created if absent. Raises OSError."""
        folder.mkdir(exist_ok=True)
        self._folder = folder
        self._taken: dict[str, FileLock] = {}

    def take(self, slot: str) -> bool:
        """Return whether `slot` was free; it now belongs to the caller. Raises OSError."""
        lock = FileLock(self._folder / slot)
        try:
            lock.acquire(blocking=False)
        except Timeout:
            return False
        self._taken[slot] = lock
        return True

    def release(self, slot: str) -> None:
        """Free `slot`."""
        self._taken.pop(slot).release()


SlotLocks = ByteLocks if hasattr(fcntl, "F_OFD_SETLK") else FileLocks
