"""What calls to models cost, kept apart from the clock of the code around them.

A replayed call is over in microseconds; what a user would have waited is the time it took when it
was live. The meter keeps both, so that a phase can report honest latency from a warm cache. Waiting
for a free place, for the rate limit or for another attempt is the harness's own doing: it is
reported apart.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from memsys.types import Usage


@dataclass(frozen=True, slots=True)
class Call:
    """One call to a model: milliseconds spent now, milliseconds when live, and its tokens.

    `spent_ms` is all that is to be taken off the clock, `live_ms` the successful attempt alone.
    `waited_ms`: the part of `spent_ms` before that attempt. `attempts`: requests sent now, 0 for a
    replayed call. `key` names the recorded answer, `recorded` when that was live (ISO, UTC).
    `model` is whose price the usage has.
    """

    spent_ms: float
    live_ms: float
    replayed: bool
    usage: Usage = field(default_factory=Usage)
    waited_ms: float = 0.0
    attempts: int = 0
    key: str | None = None
    recorded: str | None = None
    model: str | None = None


@dataclass(slots=True)
class Reading:
    """One measured phase. `ms` counts replayed calls at their live time; `wall_ms` is the clock.

    `waited_ms` and `attempts` are sums over the calls and no part of `ms`; `keys` are those of the
    answers used, in order; `recorded` is the oldest date of a replayed answer. `by_model`: the
    usage of each model that has a name.
    """

    ms: float = 0.0
    wall_ms: float = 0.0
    replayed: bool = False
    usage: Usage = field(default_factory=Usage)
    waited_ms: float = 0.0
    attempts: int = 0
    keys: tuple[str, ...] = ()
    recorded: str | None = None
    by_model: dict[str, Usage] = field(default_factory=dict)

    @property
    def source(self) -> str:
        """`recorded` if a call was replayed at its recorded latency, else `live`."""
        return "recorded" if self.replayed else "live"


class Meter:
    """Collects the calls of the phase under way. One per run; phases never nest.

    Safe for several threads: a phase belongs to the thread that opened it, and so do the calls
    noted there.
    """

    def __init__(self) -> None:
        self._own = threading.local()

    def note(self, call: Call) -> None:
        """Add a call to the phase under way in this thread; outside of any it is forgotten."""
        calls: list[Call] | None = getattr(self._own, "calls", None)
        if calls is not None:
            calls.append(call)

    @contextmanager
    def phase(self) -> Iterator[Reading]:
        """Time a block by the monotonic clock; the reading is complete when the block ends."""
        calls: list[Call] = []
        self._own.calls = calls
        reading = Reading()
        started = time.perf_counter()
        try:
            yield reading
        finally:
            self._own.calls = None
            reading.wall_ms = (time.perf_counter() - started) * 1000
            spent = sum(call.spent_ms for call in calls)
            live = sum(call.live_ms for call in calls)
            # Two clocks that read apart can disagree by a hair; time is never negative.
            reading.ms = max(reading.wall_ms - spent, 0.0) + live
            reading.replayed = any(call.replayed for call in calls)
            reading.usage = total_usage(call.usage for call in calls)
            reading.waited_ms = sum(call.waited_ms for call in calls)
            reading.attempts = sum(call.attempts for call in calls)
            reading.keys = tuple(call.key for call in calls if call.key)
            for name in {call.model for call in calls if call.model}:
                own = (call.usage for call in calls if call.model == name)
                reading.by_model[name] = total_usage(own)
            reading.recorded = min((c.recorded for c in calls if c.recorded), default=None)


def total_usage(usages: Iterator[Usage]) -> Usage:
    """The sum of several usages."""
    calls = input_tokens = output_tokens = 0
    for usage in usages:
        calls += usage.calls
        input_tokens += usage.input_tokens
        output_tokens += usage.output_tokens
    return Usage(calls, input_tokens, output_tokens)
