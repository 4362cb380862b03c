"""A strategy whose memory is a library's own: it ingests and finds, the rest is the run's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

from baselines.libraries.gateway import MODEL, Gateway
from baselines.libraries.installed import HERE, adapter_of, python_of
from baselines.libraries.pipe import Pipe
from memsys.errors import InputError
from memsys.store import Parts
from memsys.strategy import Strategy
from memsys.text.turns import line
from memsys.types import Candidate, Memory, Query, Retrieval, Session

_NOTHING = Retrieval((), "", 0)


class LibraryMemory(Strategy):
    """The k memories that the library gives for the query's words, by its own score.

    What it gives beside them (relations of a graph) comes on top of k, within the budget.
    """

    def __init__(
        self,
        parts: Parts,
        k: int,
        budget: int | None,
        name: str,
        infer: bool = True,
        exchange: int = 2,
        timeout_s: float = 300,
        settings: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        """`name`: see installed.names. `infer`: the library asks the run's model what to remember,
        of `exchange` messages at a time; else it stores what `parts.memory` makes of a session.
        `timeout_s`: how long the library may be silent, calls to models apart.
        `settings`: more of the library's own. Nothing is started before the first session.

        Raises InputError where the library is not installed, there is no model to infer with, or a
        number is wrong.
        """
        super().__init__(parts, k, budget)
        if k is None:
            raise InputError(f"strategy={name}: k is null; a library wants a number")
        if exchange < 1 or timeout_s <= 0:
            raise InputError(
                f"strategy={name}: exchange={exchange}, timeout_s={timeout_s}; give more than 0"
            )
        if infer and parts.llm is None:
            raise InputError(
                f"strategy={name}: no model to write the memory; add llm=openai "
                "(mem0ai, mem0ai_graph and langmem also run with strategy.infer=false)"
            )
        self._command = [python_of(name), HERE / "adapters" / "serve.py", adapter_of(name)]
        self._name, self._infer, self._exchange = name, infer, exchange
        self._timeout_s, self._settings = timeout_s, dict(settings)
        self._open: tuple[Pipe, Gateway, TemporaryDirectory[str]] | None = None
        self.details: dict[str, Any] = {}
        self.events: list[dict[str, Any]] = []

    def ingest(self, session: Session) -> int:
        """Returns how many memories the library made or changed, as it tells.

        Raises LibraryError where it failed; InputError and BudgetReached where a call did.
        """
        if self._open is None:
            self._start(session)
        items = list(self._exchanges(session) if self._infer else self._memories(session))
        return int(self._ask({"op": "add", "items": items})["made"])

    def retrieve(self, query: Query) -> Retrieval:
        """See MemoryStrategy. Raises as `ingest` does."""
        if self._open is None:
            return _NOTHING
        ranked, trace = self.rank(query)
        return self.retrieval(ranked, trace)

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Score: the library's own."""
        reply = self._ask({"op": "search", "query": query.text, "k": self.k}, query=True)
        found = [_candidate(one) for one in reply["found"]]
        return sorted(found, key=lambda one: -one.score), {}

    def size(self) -> Mapping[str, int]:
        """What the library holds, in its own units."""
        return dict(self._ask({"op": "size"})["size"]) if self._open else {}

    def close(self) -> None:
        """End the library's process and remove its files."""
        if self._open is not None:
            pipe, gateway, folder = self._open
            self._open = None
            gateway.close()
            pipe.close()
            folder.cleanup()

    def _start(self, session: Session) -> None:
        folder = TemporaryDirectory(prefix="memsys-", ignore_cleanup_errors=True)
        pipe = Pipe(self._name, self._command, Path(folder.name), self._timeout_s)
        gateway = Gateway(self.parts.embedder, self.parts.llm, pipe.inbox.put)
        self._open = pipe, gateway, folder
        first = line(session.turns[0]) if session.turns else self._name
        told = {
            "infer": self._infer,
            "base_url": gateway.base_url,
            "key": gateway.key,
            "model": self.parts.llm.name if self.parts.llm else "none",
            "embedder": MODEL,
            "dimensions": len(self.parts.embedder.documents([first])[0]),
            "settings": self._settings,
        }
        try:
            reply = self._ask({"op": "start", **told})
        except BaseException:
            self.close()  # half a start is none
            raise
        self.details |= {name: reply[name] for name in ("library", "version", "degraded")}

    def _ask(self, message: Mapping[str, Any], query: bool = False) -> Mapping[str, Any]:
        assert self._open is not None  # noqa: S101 - for the type checker
        pipe, gateway, _ = self._open
        gateway.kind = "query" if query else "document"
        try:
            reply = pipe.request(message, gateway.answer)
        finally:
            refused = [{"step": "call", "fault": "no_answer", "detail": w} for w in gateway.refused]
            gateway.refused.clear()
            self.events += refused
        for words in reply.get("warnings", ()):
            self.events.append({"step": "library", "warning": words})
        if blocked := reply.get("blocked"):
            self.details["blocked"] = sorted({*self.details.get("blocked", ()), *blocked})
        return reply

    def _memories(self, session: Session) -> Iterator[dict[str, Any]]:
        """What the run's own memory makes of a session, one a memory of the library."""
        for made in self.parts.memory.build(session):
            message = {"speaker": made.speaker, "text": made.content}
            yield _item([message], made.time, made.turns)

    def _exchanges(self, session: Session) -> Iterator[dict[str, Any]]:
        for start in range(0, len(session.turns), self._exchange):
            turns = session.turns[start : start + self._exchange]
            messages = [{"speaker": turn.speaker, "text": line(turn)} for turn in turns]
            yield _item(messages, session.time, tuple(turn.id for turn in turns))


def _item(messages: list[dict[str, str]], time: datetime, turns: tuple[str, ...]) -> dict[str, Any]:
    """`about` is for the library to keep with what it makes of the messages."""
    speakers = {message["speaker"] for message in messages}
    speaker = speakers.pop() if len(speakers) == 1 else ""
    about = {"turns": list(turns), "time": time.isoformat(), "speaker": speaker}
    return {"messages": messages, "about": about}


def _candidate(found: Mapping[str, Any]) -> Candidate:
    """What an adapter tells: id, text, score, time, turns; speaker and origin if known."""
    text = str(found["text"])
    memory = Memory(
        id=str(found["id"]),
        content=text,
        index_text=text,
        time=datetime.fromisoformat(found["time"]).replace(tzinfo=None),
        speaker=str(found.get("speaker", "")),
        turns=tuple(found["turns"]),
    )
    return Candidate(memory, float(found["score"]), found.get("origin", "direct"))
