"""One request and its answer, as shared by a client and its transport."""

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
    """A running call.

    The client sets `check`, which raises LLMError on an unusable answer, and `sample`. The
    transport sets the rest: `latency_ms`, live latency of the successful attempt; `waited_ms`, the
    time before that attempt (queue, rate limit, failed attempts and the pauses after them);
    `created`, when the answer was live (ISO, UTC); `stopped`, an error that must not be retried;
    `rejected`, the usage of a complete answer that failed the check, or of no tokens if a server
    was reached and no answer came. Either failure is recorded under `key`.
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
        """Mark the call as failed; the failure is recorded elsewhere (see rejected_key)."""
        self.key, self.rejected = rejected_key(self.key), usage

    def call(self, model: str, usage: Usage | None) -> Call:
        """Return the call for the meter; `usage` is None without a usable answer."""
        spent = self.spent_ms
        if usage is None:  # without an answer there is no latency
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
    canonical = json.dumps(
        [method, path, body, sample], sort_keys=True, ensure_ascii=False, separators=(",", ":")
    )
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def rejected_key(key: str) -> str:
    """Return the key under which the last failure of the request `key` is recorded.

    A failure is an answer that failed its check, or no answer after all retries. A replayed run
    fails in the same way; a live call never reads it.
    """
    return hashlib.sha256(f"{key} rejected".encode()).hexdigest()
