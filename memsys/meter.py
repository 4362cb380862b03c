"""What calls to models cost, kept apart from the clock of the code around them.

A replayed call is over in microseconds; what a user would have waited is the time it took when it
was live. The meter keeps both, so that a phase can report honest latency from a warm cache.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from memsys.types import Usage


@dataclass(frozen=True, slots=True)
class Call:
    """One call to a model: milliseconds spent now, milliseconds when live, and its tokens."""

    spent_ms: float
    live_ms: float
    replayed: bool
    usage: Usage = field(default_factory=Usage)


@dataclass(slots=True)
class Reading:
    """One measured phase. `ms` counts replayed calls at their live time; `wall_ms` is the clock."""

    ms: float = 0.0
    wall_ms: float = 0.0
    replayed: bool = False
    usage: Usage = field(default_factory=Usage)

    @property
    def source(self) -> str:
        """`recorded` if a call was replayed at its recorded latency, else `live`."""
        return "recorded" if self.replayed else "live"


class Meter:
    """Collects the calls of the phase under way. One per run; phases never nest."""

    def __init__(self) -> None:
        self._calls: list[Call] = []

    def note(self, call: Call) -> None:
        """Add a call to the phase under way."""
        self._calls.append(call)

    @contextmanager
    def phase(self) -> Iterator[Reading]:
        """Time a block by the monotonic clock; the reading is complete when the block ends."""
        self._calls.clear()
        reading = Reading()
        started = time.perf_counter()
        try:
            yield reading
        finally:
            reading.wall_ms = (time.perf_counter() - started) * 1000
            spent = sum(call.spent_ms for call in self._calls)
            live = sum(call.live_ms for call in self._calls)
            # Two clocks that read apart can disagree by a hair; time is never negative.
            reading.ms = max(reading.wall_ms - spent, 0.0) + live
            reading.replayed = any(call.replayed for call in self._calls)
            reading.usage = total_usage(call.usage for call in self._calls)
            self._calls.clear()


def total_usage(usages: Iterator[Usage]) -> Usage:
    """The sum of several usages."""
    calls = input_tokens = output_tokens = 0
    for usage in usages:
        calls += usage.calls
        input_tokens += usage.input_tokens
        output_tokens += usage.output_tokens
    return Usage(calls, input_tokens, output_tokens)
