"""Running calls to models, and their time and tokens, separate from the clock of other code.

A replayed call takes microseconds; a user would have waited for the live one. The meter records
both times, so that a phase reports honest latency from a warm cache. Waiting for a free slot, for
the rate limit or for another attempt is caused by the harness and is reported separately.
"""

import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from memsys.core.types import Usage

SOURCES = ("live", "vectors", "shared", "recorded")  # of a latency: what replaces what


@dataclass(slots=True)
class Call:
    """One call to a model: milliseconds spent now, milliseconds when live, and its tokens.

    `spent_ms` is the whole time to subtract from the clock, `live_ms` that of the successful
    attempt. `waited_ms`: the part of `spent_ms` before that attempt. `attempts`: requests sent now,
    0 for a replayed call. `key`: key of the recorded answer; `recorded`: when it was live (ISO,
    UTC). `model`: the model whose prices apply. `cached`: vectors from a cache, not an answer, were
    replayed; `shared`: an index or a graph, which an earlier run of the process had made.
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
    cached: bool = False
    shared: bool = False


@dataclass(slots=True)
class Reading:
    """One measured phase. `ms` counts replayed calls at their live time; `wall_ms` is the clock.

    `waited_ms` and `attempts` are sums over the calls and not part of `ms`; `keys` are the keys of
    the answers used, in order; `recorded` is the oldest date of a replayed answer. `by_model`: the
    usage by name of the model. `cached`: whether vectors came from a cache. `shared_ms`: the part
    of `ms` that was measured in an earlier run, from which an index or a graph was taken over.
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
    cached: bool = False
    shared_ms: float = 0.0

    @property
    def source(self) -> str:
        """One of SOURCES: `recorded` if an answer was replayed at its recorded latency, `shared`
        if an index or a graph came from an earlier run, at the time that it took, `vectors` if only
        vectors came from a cache, at the time that they took, else `live`.
        """
        if self.replayed:
            return "recorded"
        return "shared" if self.shared_ms else "vectors" if self.cached else "live"

    def add(self, calls: Sequence[Call]) -> None:
        """Add the `calls` of the phase, whose `wall_ms` is known."""
        spent = sum(call.spent_ms for call in calls)
        # Two readings of a clock can disagree slightly; time is never negative.
        self.ms = max(self.wall_ms - spent, 0.0) + sum(call.live_ms for call in calls)
        self.replayed = any(call.replayed for call in calls)
        self.cached = any(call.cached for call in calls)
        self.shared_ms = sum(call.live_ms for call in calls if call.shared)
        self.usage = total_usage(call.usage for call in calls)
        self.waited_ms = sum(call.waited_ms for call in calls)
        self.attempts = sum(call.attempts for call in calls)
        self.keys = tuple(call.key for call in calls if call.key)
        for name in {call.model for call in calls if call.model}:
            self.by_model[name] = total_usage(c.usage for c in calls if c.model == name)
        self.recorded = min((c.recorded for c in calls if c.recorded), default=None)


class Meter:
    """Collects the calls of the current phase. A run has one meter; phases never nest. It is safe
    for several threads: a phase belongs to the thread that opened it, as do the calls noted there.
    """

    def __init__(self) -> None:
        self._local = threading.local()

    def note(self, call: Call) -> None:
        """Add a call to the current phase of this thread; ignored outside a phase."""
        calls: list[Call] | None = getattr(self._local, "calls", None)
        if calls is not None:
            calls.append(call)

    @contextmanager
    def phase(self) -> Iterator[Reading]:
        """Time a block by the monotonic clock; the reading is complete when the block ends."""
        calls: list[Call] = []
        self._local.calls = calls
        reading = Reading()
        started = time.perf_counter()
        try:
            yield reading
        finally:
            self._local.calls = None
            reading.ms = reading.wall_ms = (time.perf_counter() - started) * 1000
            if calls:
                reading.add(calls)


def total_usage(usages: Iterable[Usage]) -> Usage:
    """Return the sum of `usages`."""
    rows = [(usage.calls, usage.input_tokens, usage.output_tokens) for usage in usages]
    return Usage(*map(sum, zip(*rows, strict=True)))
