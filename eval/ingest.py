"""Feed a conversation to a strategy, one session after another, and say what each cost."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial

from eval.records import Record
from memsys.errors import InputError
from memsys.meter import Meter, Reading
from memsys.strategy import MemoryStrategy
from memsys.types import Conversation, Query

_WARM_UP = "Where did we leave off?"  # any words do
_SECRET = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")  # ends of the names of such variables
_SECRET_LENGTH = 8  # shorter values are words, as in API_KEY=none


@dataclass(frozen=True, slots=True)
class Failure:
    """Where something failed, and how; `kind` is the class of the exception."""

    phase: str
    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class Ingested:
    """How many memories a conversation made, and what failed if anything did.

    A session that fails leaves a memory with a hole: what is answered from it would be scored as
    the strategy's own, so the questions of that conversation have to fail as well.
    """

    memories: int
    failure: Failure | None
    wall_ms: float


def ingest(
    conversation: Conversation,
    strategy: MemoryStrategy,
    meter: Meter,
    note: Callable[[Record], None],
) -> Ingested:
    """Feed every session, then ask one warm-up query, so that no question pays for building the
    indexes. `note` is given one line a session and one for the warm-up (phase `index`).

    Raises InputError through: a wrong configuration fails the run, not its questions.
    """
    memories, wall_ms = 0, 0.0
    for phase, session, step in _steps(conversation, strategy):
        failure, made = None, 0
        with meter.phase() as reading:
            try:
                made = step()
            except InputError:
                raise
            except Exception as error:
                failure = describe(f"ingest {session}" if session else phase, error)
        memories += made
        wall_ms += reading.wall_ms
        note(_line(conversation.id, phase, session, made, failure, reading))
        if failure:
            return Ingested(memories, failure, wall_ms)
    return Ingested(memories, None, wall_ms)


def describe(phase: str, error: Exception) -> Failure:
    """`error`, as it is recorded: a server may repeat the key in its message, a record must not."""
    message = str(error)
    for name, value in os.environ.items():
        if name.endswith(_SECRET) and len(value) >= _SECRET_LENGTH:
            message = message.replace(value, f"${name}")
    return Failure(phase, type(error).__name__, message)


def _steps(
    conversation: Conversation, strategy: MemoryStrategy
) -> Iterator[tuple[str, str | None, Callable[[], int]]]:
    for session in conversation.sessions:
        yield "ingest", session.id, partial(strategy.ingest, session)

    def warm_up() -> int:
        last = conversation.sessions[-1].time
        strategy.retrieve(Query(f"{conversation.id}/warm-up", _WARM_UP, conversation.id, last))
        return 0

    yield "index", None, warm_up


def _line(
    conversation: str,
    phase: str,
    session: str | None,
    memories: int,
    failure: Failure | None,
    reading: Reading,
) -> Record:
    return {
        "conversation": conversation,
        "phase": phase,
        "session": session,
        "status": "error" if failure else "ok",
        "error": asdict(failure) if failure else None,
        "memories": memories,
        "usage": asdict(reading.usage),
        "latency_ms": round(reading.ms, 4),
        "latency_source": reading.source,
    }
