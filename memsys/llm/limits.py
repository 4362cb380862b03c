"""How many live calls may be under way, and how fast they may follow one another."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from memsys.errors import InputError


class Limits:
    """At most `concurrency` calls at once, started at least 60 / `requests_per_minute` seconds
    apart. Of one client in one process: several processes have to share a server's limit out.
    """

    def __init__(self, concurrency: int, requests_per_minute: float | None) -> None:
        """`requests_per_minute` None: no limit. Raises InputError on a number below its least."""
        if concurrency < 1:
            raise InputError(f"llm.concurrency: {concurrency}; give 1 or more")
        if requests_per_minute is not None and requests_per_minute <= 0:
            raise InputError(
                f"llm.requests_per_minute: {requests_per_minute}; give more than 0, or null"
            )
        self._free = threading.BoundedSemaphore(concurrency)
        self._apart_s = 60 / requests_per_minute if requests_per_minute else 0.0
        self._lock = threading.Lock()
        self._next = 0.0

    @contextmanager
    def place(self) -> Iterator[None]:
        """Wait for a place and for one's turn, and hold the place for the block."""
        with self._free:
            time.sleep(self._turn())
            yield

    def _turn(self) -> float:
        """Seconds until this call may start; the turn after it is taken."""
        if not self._apart_s:
            return 0.0
        with self._lock:
            now = time.monotonic()
            starts = max(now, self._next)
            self._next = starts + self._apart_s
            return starts - now
