"""Ingest one conversation into a strategy, session by session, and measure each step."""

from collections.abc import Callable, Iterator
from functools import partial

from eval.records.files import Row
from eval.records.schema import IngestLine
from eval.run.failures import Failure, measured, usage_entry
from memsys.core.addresses import without_secrets
from memsys.core.types import Conversation, Query, Session
from memsys.llm.meter import Meter
from memsys.strategies.strategy import MemoryStrategy

_WARM_UP = "Where did we leave off?"  # any words do


def ingest(
    conversation: Conversation,
    strategy: MemoryStrategy,
    meter: Meter,
    note: Callable[[IngestLine, list[Row]], None],
    begin: Callable[[int], None],
) -> tuple[float, Failure | None]:
    """Ingest every session, then retrieve for one warm-up query, so that no question's latency
    includes building the indexes. Returns wall-clock milliseconds, and the failure that ended it:
    the memory is then incomplete, and its answers would be scored as the strategy's, so all
    questions of the conversation fail.

    `note` is called with one line for each session and one for the warm-up (phase `index`, with the
    size of the store), and with the recorded calls of that step; `begin` with the number of each
    step, from 1, before it. Raises the exceptions of END_THE_RUN.
    """
    wall_ms = 0.0
    for number, (phase, session, action) in enumerate(_steps(conversation, strategy), 1):
        begin(number)
        memories, failure, reading = measured(
            f"ingest {session}" if session else phase, meter, action
        )
        wall_ms += reading.wall_ms
        line: IngestLine = {
            "conversation": conversation.id,
            "phase": "ingest" if session else "index",
            "session": session,
            "status": "error" if failure else "ok",
            "error": failure.entry() if failure else None,
            "memories": memories or 0,
            "usage": None if strategy.written_elsewhere else usage_entry(reading),
            "latency_ms": round(reading.ms, 4),
            "latency_source": reading.source,
            "waited_ms": round(reading.waited_ms, 4),
        }
        if reading.shared_ms:
            line["shared_ms"] = round(reading.shared_ms, 4)
        events = _events(strategy)
        if phase == "index" and not failure and (size := strategy.size()):
            line["store"] = dict(size)
        if events:
            line["events"] = events
        origin = {"phase": phase, "question": None, "conversation": conversation.id}
        note(line, [{"key": key, **origin} for key in reading.keys])
        if failure:
            return wall_ms, failure
    return wall_ms, None


def _events(strategy: MemoryStrategy) -> list[Row]:
    """Return the events that the strategy has logged since the last line, and empty its log."""
    events = [
        {
            name: without_secrets(value) if isinstance(value, str) else value
            for name, value in event.items()
        }
        for event in strategy.events
    ]
    strategy.events.clear()
    return events


def _ingest(session: Session, strategy: MemoryStrategy) -> int:
    """Ingest `session`, delete the turns that it forgets, and log what the strategy did: the
    memories deleted or rewritten, or `unsupported`. Returns the memories added.
    """
    added = strategy.ingest(session)
    if session.forgets:
        done = strategy.forget(session.forgets)
        result = "unsupported" if done is None else done
        event = {"step": "forget", "turns": list(session.forgets), "result": result}
        strategy.events.append(event)
    return added


def _steps(
    conversation: Conversation, strategy: MemoryStrategy
) -> Iterator[tuple[str, str | None, Callable[[], int]]]:
    """Yield phase, session id and action of each step; an action returns the memories added."""
    for session in conversation.sessions:
        yield "ingest", session.id, partial(_ingest, session, strategy)

    def warm_up() -> int:
        last = conversation.sessions[-1]
        asks = last.owner or conversation.id
        strategy.retrieve(Query(f"{conversation.id}/warm-up", _WARM_UP, asks, last.time))
        return 0

    yield "index", None, warm_up
