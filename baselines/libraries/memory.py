"""A strategy over a memory library: the library ingests and searches, the run does the rest."""

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

from baselines.libraries.pipe import MODEL, Gateway, Pipe
from memsys.core.declared import Count, Name, Seconds, check_values
from memsys.core.errors import InputError, check_choice
from memsys.core.titles import title_of
from memsys.core.turns import line
from memsys.core.types import Candidate, Memory, Query, Retrieval, Session
from memsys.llm.base import needed_model
from memsys.strategies.store import Parts
from memsys.strategies.strategy import Strategy

HERE = Path(__file__).parent
_REMEDY = "add llm=openai (all but graphiti and hipporag also run with strategy.infer=false)"


class LibraryMemory(Strategy):
    """The k memories that the library returns for the query, by its score. Further results
    (relations of a graph) are added to the k, within the budget.
    """

    def __init__(
        self,
        parts: Parts,
        k: Count,
        budget: Count | None,
        name: Name,
        infer: bool = True,
        exchange: Count = 2,
        timeout_s: Seconds = 300,
        settings: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        """`name`: see `names`. `infer`: the library lets the run's model choose what to store, for
        `exchange` messages at a time; else it stores the memories that `parts.memory` builds.
        `timeout_s`: longest time without a reply, not counting calls to models. `settings`: further
        settings of the library. Nothing is started before the first session.

        Raises InputError if the library is not installed, or there is no model to infer with.
        """
        check_values(LibraryMemory, locals(), "strategy")
        super().__init__(parts, k, budget)
        if infer:
            needed_model(parts.llm, f"strategy={name}", "write the memory", _REMEDY)
        self._command = [python_of(name), HERE / "adapters" / "serve.py", adapter_of(name)]
        self._name, self._infer, self._exchange = name, infer, exchange
        self._timeout_s, self._settings = timeout_s, dict(settings)
        self._open: tuple[Pipe, Gateway, TemporaryDirectory[str]] | None = None
        self.details: dict[str, Any] = {}

    def ingest(self, session: Session) -> int:
        """Return how many memories the library reports as new or changed. Raises LibraryError if it
        fails; InputError and BudgetReached if a call does.
        """
        if self._open is None:
            self._start(session)
        return int(self._ask({"op": "add", "items": list(self._items(session))})["made"])

    def retrieve(self, query: Query) -> Retrieval:
        """See MemoryStrategy. Raises the same errors as `ingest`."""
        return self.retrieval(*self.rank(query))

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Rank by the library's score."""
        if self._open is None:
            return (), {}
        reply = self._ask({"op": "search", "query": query.text, "k": self.k}, query=True)
        candidates = [_candidate(row) for row in reply["found"]]
        return sorted(candidates, key=lambda candidate: -candidate.score), {}

    def forget(self, turns: Sequence[str]) -> int | None:
        """Return how many memories the library deletes, by its own means; None if its adapter has
        no such operation. Raises the same errors as `ingest`.
        """
        if self._open is None:
            return 0
        deleted = self._ask({"op": "forget", "turns": list(turns)})["deleted"]
        return None if deleted is None else int(deleted)

    def size(self) -> Mapping[str, int]:
        """Return the size that the library reports, in its units."""
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
        options = {
            "infer": self._infer,
            "base_url": gateway.base_url,
            "key": gateway.key,
            "model": self.parts.llm.name if self.parts.llm else "none",
            "embedder": MODEL,
            "dimensions": len(self.parts.embedder.documents([first])[0]),
            "settings": self._settings,
        }
        try:
            reply = self._ask({"op": "start", **options})
        except BaseException:
            self.close()  # the library is not usable
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

    def _items(self, session: Session) -> Iterator[dict[str, Any]]:
        """Yield an item for each exchange, or for each memory that the memory option builds."""
        if not self._infer:
            for memory in self.parts.memory.build(session):
                message = {"speaker": memory.speaker, "text": memory.content}
                yield _item([message], memory.time, memory.turns)
            return
        for start in range(0, len(session.turns), self._exchange):
            turns = session.turns[start : start + self._exchange]
            messages = [{"speaker": turn.speaker, "text": line(turn)} for turn in turns]
            yield _item(messages, session.time, tuple(turn.id for turn in turns))


def names() -> list[str]:
    """Return the names of the libraries with an adapter, sorted."""
    return sorted(path.stem for path in HERE.glob("*.txt"))


def venv(name: str) -> Path:
    """Return the folder of the library's venv, whether it exists or not."""
    folder = os.environ.get("MEMSYS_BASELINES") or HERE.parents[1] / ".venv-baselines"
    return Path(folder) / name


def is_installed(name: str) -> bool:
    """Return whether `make baseline`, which writes the file `installed`, succeeded for `name`."""
    return (venv(name) / "installed").is_file()


def python_of(name: str) -> Path:
    """Return the interpreter of the library's venv. Raises InputError with the command that
    installs it, or with the known names.
    """
    check_choice("strategy.name", name, names())
    if not is_installed(name):
        raise InputError(f"strategy={name}: not installed; make baseline NAME={name}")
    return venv(name) / "bin" / "python"


def adapter_of(name: str) -> Path:
    """Return the script that wraps the library; it runs in the library's venv."""
    return HERE / "adapters" / f"{name}.py"


def _item(messages: list[dict[str, str]], time: datetime, turns: tuple[str, ...]) -> dict[str, Any]:
    """Return messages with the metadata `about`, which the library stores with its memories of
    them.
    """
    speakers = {message["speaker"] for message in messages}
    speaker = speakers.pop() if len(speakers) == 1 else ""
    about = {"turns": list(turns), "time": time.isoformat(), "speaker": speaker}
    return {"messages": messages, "about": about}


def _candidate(row: Mapping[str, Any]) -> Candidate:
    """Return a candidate for a result of an adapter (id, text, score, time, turns; optional
    speaker, origin).
    """
    text = str(row["text"])
    memory = Memory(
        id=str(row["id"]),
        content=text,
        index_text=text,
        time=datetime.fromisoformat(row["time"]).replace(tzinfo=None),
        speaker=str(row.get("speaker", "")),
        turns=tuple(row["turns"]),
        title=title_of(text),
    )
    return Candidate(memory, float(row["score"]), row.get("origin", "direct"))
