"""Progress of a run: a bar on a terminal and in notebooks, plain lines on stderr elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from tqdm import tqdm

from eval.records.prices import PaidCalls
from eval.rendering.terminal import progress
from memsys.llm.pricing import Pricing

FIRST_S = 30.0  # of lines: the first
_EVERY_S, _APART_S = 30.0, 1.0  # the slowest, the fastest
_REDRAWN_S = 0.1  # the bar, at most
_ALIVE_S = 1.0  # the bar, at least


@dataclass(slots=True)
class RunProgress:
    """Shows how far a run is; safe for several threads. Use as a context by `shown`.

    Where stderr is no terminal: a line for each conversation and at least every 30 s, none in the
    first 30 s.
    """

    total: int
    done: int
    paid: PaidCalls | None
    pricing: Pricing
    errors: int = 0
    _place: str = ""
    _began: float = field(default_factory=time.monotonic)
    _last: float = 0.0  # time of the last line or redrawing
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _bar: tqdm[Any] = field(init=False)

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Show the progress during the block."""
        over = threading.Event()
        with progress(self.total, "question", initial=self.done) as self._bar:
            thread = threading.Thread(target=self._watch, args=(over,), daemon=True)
            thread.start()
            try:
                yield
            finally:
                over.set()
                thread.join()
                self._bar.refresh()

    @property
    def is_over(self) -> bool:
        """Whether no question is left."""
        return self.done >= self.total

    def at(self, place: str) -> None:
        """Show the conversation, or the session that is being ingested."""
        with self._lock:
            is_new = self._place.partition(":")[0] != place.partition(":")[0]
            self._place = place
            now = time.monotonic()
            if not self._bar.disable:
                self._bar.set_description(place, refresh=now - self._last > _REDRAWN_S)
                self._last = now if now - self._last > _REDRAWN_S else self._last
            elif is_new and now - self._began > FIRST_S and now - self._last > _APART_S:
                self._line(now)

    def step(self, *, failed: bool) -> None:
        """Count a question."""
        with self._lock:
            self.done += 1
            self.errors += failed
            if not self._bar.disable:
                self._bar.set_postfix_str(self._counts(), refresh=False)
                self._bar.update()

    def _counts(self) -> str:
        spent = self.paid.spent(self.pricing) if self.paid else ""
        errors = f"{self.errors} error{'' if self.errors == 1 else 's'}"
        return f"{errors}, {spent}" if spent else errors

    def _line(self, now: float) -> None:
        elapsed = timedelta(seconds=int(now - self._began))
        sys.stderr.write(
            f"{self._place}, {self.done} of {self.total} questions, {self._counts()}, {elapsed}\n"
        )
        sys.stderr.flush()
        self._last = now

    def _watch(self, over: threading.Event) -> None:
        """Redraw the bar every second, whose time goes on while a session is embedded, or write a
        line whenever the last one is too old, so that a hanging call is seen.
        """
        hidden = self._bar.disable
        while not over.wait(FIRST_S if hidden else _ALIVE_S):
            with self._lock:
                now = time.monotonic()
                if not hidden:
                    self._bar.refresh()
                elif now - max(self._last, self._began + FIRST_S - _EVERY_S) >= _EVERY_S:
                    self._line(now)
