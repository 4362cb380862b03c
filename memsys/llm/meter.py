"""Running calls to models, and their time and tokens, separate from the clock of other code.

A replayed call takes microseconds; a user would have waited for the live one. The meter records
both times, so that a phase reports honest latency from a warm cache. Waiting for a free slot, for
the rate limit or for another attempt is caused by the harness and is reported separately.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from memsys.core.types import Usage

_CANONICAL = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"))
SOURCES = ("live", "vectors", "shared", "recorded")  # of a latency: what replaces what
Check = Callable[[Mapping[str, Any]], object]


@dataclass(frozen=True, slots=True)
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
class Exchange:
    """A running call. The client sets `check`, which returns what the answer says or raises
    LLMError if it is unusable, and `sample`. The transport sets the rest: `value`, what `check`
    returned; `latency_ms`, live latency of the successful attempt;
    `waited_ms`, the time before that attempt (queue, rate limit, failed attempts and the pauses
    after them); `created`, when the answer was live (ISO, UTC); `stopped`, an error that must not
    be retried; `rejected`, the usage of a complete answer that failed the check, or of no tokens if
    a server was reached and no answer came. Either failure is recorded under `key`. `probing`:
    another form of the request follows if the server declines this one; `declined`: it did, and no
    failure is recorded.
    """

    check: Check
    sample: int = 0
    value: Any = None
    key: str = ""
    replayed: bool = False
    attempts: int = 0
    latency_ms: float = 0.0
    waited_ms: float = 0.0
    created: str | None = None
    stopped: Exception | None = None
    rejected: Usage | None = None
    probing: bool = False
    declined: bool = False
    started: float = field(default_factory=time.perf_counter)

    @property
    def spent_ms(self) -> float:
        """Milliseconds since the call began."""
        return (time.perf_counter() - self.started) * 1000

    def fail(self, usage: Usage) -> None:
        """Mark the call as failed; the failure is recorded elsewhere (see rejected_key)."""
        self.key, self.rejected = rejected_key(self.key), usage

    @property
    def answered(self) -> bool:
        """Whether the server has answered this live call, usably or not."""
        return self.created is not None and not self.replayed

    def restart(self, key: str) -> None:
        """Forget a replayed answer that was not usable; the request is sent next."""
        self.key, self.replayed, self.rejected = key, False, None
        self.latency_ms, self.created = 0.0, None

    def call(self, model: str, usage: Usage | None) -> Call:
        """Return the call for the meter; `usage` is None without a usable answer."""
        spent, is_answered = self.spent_ms, usage is not None
        return Call(
            spent_ms=spent,
            live_ms=self.latency_ms if is_answered else 0.0,
            replayed=self.replayed,
            usage=usage or self.rejected or Usage(),
            waited_ms=self.waited_ms if is_answered else spent,
            attempts=self.attempts,
            key=self.key if is_answered or self.rejected else None,
            recorded=self.created if is_answered and self.replayed else None,
            model=model,
        )

    def replay(self, latency_ms: float, created: str) -> None:
        """Mark the answer as recorded, with its latency and date."""
        self.replayed, self.latency_ms, self.created = True, latency_ms, created


# The OpenAI client between a call and the transport passes no further arguments through.
EXCHANGE: ContextVar[Exchange] = ContextVar("EXCHANGE")


def key_of(method: str, path: str, body: Mapping[str, Any], sample: int) -> str:
    """Return the sha256, in hex, of method, path, canonical JSON of the body, and sample number.

    The server's address is not part of it, so that a recording replays anywhere; nor are headers,
    so that it contains no secret. Two servers that give one name to two models therefore
    need different names or different cache folders.
    """
    canonical = _CANONICAL.encode([method, path, body, sample])
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def rejected_key(key: str) -> str:
    """Return the key under which the last failure of the request `key` is recorded. A failure is an
    answer that failed its check, or no answer after all retries. A replayed run fails in the same
    way; a live call never reads it.
    """
    return hashlib.sha256(f"{key} rejected".encode()).hexdigest()


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
            reading.wall_ms = (time.perf_counter() - started) * 1000
            spent = sum(call.spent_ms for call in calls)
            # Two readings of a clock can disagree slightly; time is never negative.
            reading.ms = max(reading.wall_ms - spent, 0.0) + sum(call.live_ms for call in calls)
            reading.replayed = any(call.replayed for call in calls)
            reading.cached = any(call.cached for call in calls)
            reading.shared_ms = sum(call.live_ms for call in calls if call.shared)
            reading.usage = total_usage(call.usage for call in calls)
            reading.waited_ms = sum(call.waited_ms for call in calls)
            reading.attempts = sum(call.attempts for call in calls)
            reading.keys = tuple(call.key for call in calls if call.key)
            for name in {call.model for call in calls if call.model}:
                reading.by_model[name] = total_usage(c.usage for c in calls if c.model == name)
            reading.recorded = min((c.recorded for c in calls if c.recorded), default=None)


def total_usage(usages: Iterable[Usage]) -> Usage:
    """Return the sum of `usages`."""
    rows = [(usage.calls, usage.input_tokens, usage.output_tokens) for usage in usages]
    return Usage(*map(sum, zip(*rows, strict=True)))
