"""Feed a conversation to a strategy, one session after another, and say what each cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, cast

from eval.records.jsonl import Row
from eval.records.schema import IngestLine
from memsys.errors import InputError
from memsys.llm.budget import BudgetReached
from memsys.llm.meter import Meter, Reading
from memsys.strategy import MemoryStrategy
from memsys.text.addresses import without_secrets
from memsys.types import Conversation, Query

THROUGH = (InputError, BudgetReached)  # what fails or ends a run, not its questions
_WARM_UP = "Where did we leave off?"  # any words do


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
    note: Callable[[IngestLine, list[Row]], None],
) -> Ingested:
    """Feed every session, then ask one warm-up query, so that no question pays for building the
    indexes. `note` is given one line a session and one for the warm-up (phase `index`), which also
    says what is stored now; each with the recorded calls that it used, and with the `events` that
    the strategy logged.

    Raises InputError and BudgetReached through: they end the run, not a question.
    """
    memories, wall_ms = 0, 0.0
    for phase, session, step in _steps(conversation, strategy):
        failure, made = None, 0
        with meter.phase() as reading:
            try:
                made = step()
            except THROUGH:
                raise
            except Exception as error:
                failure = describe(f"ingest {session}" if session else phase, error)
        memories += made
        wall_ms += reading.wall_ms
        calls = [{"key": key, "phase": phase, "question": None} for key in reading.keys]
        line = _line(conversation.id, phase, session, made, failure, reading)
        events = _events(strategy)
        if phase == "index" and not failure and (size := strategy.size()):
            line["store"] = dict(size)
        if events:
            line["events"] = events
        note(line, calls)
        if failure:
            return Ingested(memories, failure, wall_ms)
    return Ingested(memories, None, wall_ms)


def describe(phase: str, error: Exception) -> Failure:
    """`error`, as it is recorded: a server may repeat the key in its message, a record must not."""
    return Failure(phase, type(error).__name__, without_secrets(str(error)))


def used(reading: Reading) -> Row:
    """The usage of a phase as it is recorded: the sum, and by model where models have names."""
    by_model = {name: asdict(usage) for name, usage in reading.by_model.items()}
    return asdict(reading.usage) | ({"by_model": by_model} if by_model else {})


def _events(strategy: MemoryStrategy) -> list[Row]:
    """Return the events that the strategy has logged since the last line, and empty its log."""
    events = [{name: _clean(value) for name, value in event.items()} for event in strategy.events]
    strategy.events.clear()
    return events


def _clean(value: Any) -> Any:
    return without_secrets(value) if isinstance(value, str) else value


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
) -> IngestLine:
    line = {
        "conversation": conversation,
        "phase": phase,
        "session": session,
        "status": "error" if failure else "ok",
        "error": asdict(failure) if failure else None,
        "memories": memories,
        "usage": used(reading),
        "latency_ms": round(reading.ms, 4),
        "latency_source": reading.source,
        "waited_ms": round(reading.waited_ms, 4),
    }
    return cast(IngestLine, line)
