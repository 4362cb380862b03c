"""One request and its answer: what is asked of the transport, and what it tells of it."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from memsys.llm.meter import Call
from memsys.types import Usage

Check = Callable[[Mapping[str, Any]], None]


@dataclass(slots=True)
class Exchange:
    """A call under way.

    `check` and `sample` are given: `check` raises LLMError on an answer that must not be kept. The
    rest is told: `latency_ms` is that of the successful attempt alone, when it was live;
    `waited_ms` is everything before that attempt (queue, rate limit, failed attempts and the pauses
    after them); `created` is when the answer was live (ISO, UTC). `stopped` is an error that must
    not be retried. `rejected`: the usage of an answer that came whole and failed the check; of no
    tokens where none came in the end, though a server was there. Either is recorded under `key`.
    """

    check: Check
    sample: int = 0
    key: str = ""
    replayed: bool = False
    attempts: int = 0
    latency_ms: float = 0.0
    waited_ms: float = 0.0
    created: str | None = None
    stopped: Exception | None = None
    rejected: Usage | None = None
    started: float = field(default_factory=time.perf_counter)

    @property
    def spent_ms(self) -> float:
        """Milliseconds since the call began."""
        return (time.perf_counter() - self.started) * 1000

    def fail(self, usage: Usage) -> None:
        """No usable answer came: what did is recorded elsewhere (see rejected_key)."""
        self.key, self.rejected = rejected_key(self.key), usage

    def call(self, model: str, usage: Usage | None) -> Call:
        """For the meter. `usage` of a usable answer, None where there is none."""
        spent = self.spent_ms
        if usage is None:  # all of it in vain: no latency of an answer
            return Call(
                spent_ms=spent,
                live_ms=0.0,
                replayed=self.replayed,
                usage=self.rejected or Usage(),
                waited_ms=spent,
                attempts=self.attempts,
                key=self.key if self.rejected is not None else None,
                model=model,
            )
        return Call(
            spent_ms=spent,
            live_ms=self.latency_ms,
            replayed=self.replayed,
            usage=usage,
            waited_ms=self.waited_ms,
            attempts=self.attempts,
            key=self.key,
            recorded=self.created if self.replayed else None,
            model=model,
        )

    def replay(self, latency_ms: float, created: str) -> None:
        """The answer was recorded: at that latency, then."""
        self.replayed, self.latency_ms, self.created = True, latency_ms, created


# The protocol's own client stands between a call and the transport and passes nothing through.
EXCHANGE: ContextVar[Exchange] = ContextVar("EXCHANGE")


def key_of(method: str, path: str, body: Mapping[str, Any], sample: int) -> str:
    """Sha256, in hex, of a request: method, path, canonical JSON of the body, sample number.

    The server's address is no part of it, so that a recording replays anywhere; neither are
    headers, so that it holds no secret. Two servers that give one name to two models therefore
    need different names or different cache folders.
    """
    canonical = json.dumps(
        [method, path, body, sample], sort_keys=True, ensure_ascii=False, separators=(",", ":")
    )
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def rejected_key(key: str) -> str:
    """Where it is kept how the request `key` failed last: the answer that failed its check, or a
    failure after all retries. A run whose question failed by it replays to the same failure, and a
    live call never finds it.
    """
    return hashlib.sha256(f"{key} rejected".encode()).hexdigest()
