"""The memory operations: what was benchmarked, to be used."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self, get_args

from memsys.embed.cache import CachedEmbedder
from memsys.errors import InputError
from memsys.llm.meter import Meter
from memsys.service.facts import FactWriting
from memsys.service.follow import Follower
from memsys.service.ledger import Ledger
from memsys.service.messages import Heard, Messages, hear
from memsys.service.procedures import write_procedure
from memsys.service.ranking import Ranker
from memsys.service.records import (
    Added,
    Change,
    Found,
    MemoryKind,
    Owner,
    Record,
    check_text,
    naive,
)
from memsys.service.setup import Setup, load_setup
from memsys.service.tables import now
from memsys.service.writing import About, Writer, check_metadata
from memsys.text.turns import importance
from memsys.types import Memory as Unit

FOLDER = "memories"


class Memory:
    """A store of memories in a folder, for several threads and processes at once.

    Owners keep apart: an operation on user_id="ana" sees what belongs to ana, whatever its agent
    and run, and nothing else; each further id narrows it. Times without a zone are taken as they
    are, others brought to UTC. Not to be confused with memsys.types.Memory, the frozen record of
    one unit within a strategy; this one is `memsys.Memory`.
    """

    def __init__(self, folder: str | Path = FOLDER, setup: Setup | None = None) -> None:
        """`folder` is made if absent. Raises InputError where it, or the setup, cannot be used."""
        self._setup = setup if setup is not None else load_setup(None)
        path = Path(folder).expanduser()
        self._ledger = Ledger(path, self._setup.embedder.name)
        embedder = CachedEmbedder(self._setup.embedder, path / "cache", Meter())
        self._follower = Follower(self._ledger, self._setup.vectors)
        self._writer = Writer(self._ledger, self._follower, embedder)
        self._ranker = Ranker(
            self._ledger,
            self._follower,
            self._setup.index,
            self._setup.start,
            self._setup.weights,
        )

    @classmethod
    def from_config(cls, source: str | Path, folder: str | Path = FOLDER) -> Self:
        """The memory of a benchmarked run (its folder, or its id), or of a YAML file: the same
        embedder, index, memory, model, ranking and k. See load_setup for what is raised.
        """
        return cls(folder, load_setup(source))

    @property
    def can_infer(self) -> bool:
        """Whether there is a model that can write facts."""
        return self._setup.llm is not None

    def add(
        self,
        messages: Messages,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        infer: bool | None = None,
        kind: MemoryKind = "fact",
        time: datetime | None = None,
    ) -> Added:
        """Remember `messages`: a text, or a list of {role, content} with name and id if you like,
        said at `time` (None: now).

        `infer`: True lets a model write facts, or with kind="procedural" record an agent's run
        (whose messages may have tool_calls) as numbered steps; False keeps the messages as they
        are; None: as the run did. A text that is kept stays word for word; of messages, each names
        its speaker. Raises InputError; LLMError where the model answered for none of it.
        """
        owner = Owner(user_id, agent_id, run_id).check()
        if kind not in get_args(MemoryKind):
            raise InputError(f"kind: {kind!s:.40} is none of {', '.join(get_args(MemoryKind))}")
        given = check_metadata(metadata)
        said = naive(time) if time is not None else now()
        writes = self._setup.infer if infer is None else infer
        if writes and kind == "procedural":
            about = About(owner, given, kind, {})
            return write_procedure(self._setup, self._writer, messages, about, said)
        heard = hear(messages, said)
        about = About(owner, given, kind, heard.public)
        if writes:
            return FactWriting(self._setup, self._writer, self._ranker, about).write(heard)
        return Added(tuple(self._writer.add(self._units(messages, heard), about)))

    def search(
        self,
        query: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: Mapping[str, Any] | None = None,
        top_k: int | None = None,
        time: datetime | None = None,
    ) -> list[Found]:
        """The `top_k` (None: the run's k) best memories for `query`, best first. `filters`: values
        that the metadata must have. `time`: when it is asked, for recency (None: now). What is
        returned counts as accessed. Raises InputError.
        """
        owner = Owner(user_id, agent_id, run_id).check()
        wanted = _least("top_k", self._setup.k if top_k is None else top_k, 1)
        if not isinstance(query, str):
            raise InputError("query: use text")
        check_text(query, "query")
        given = check_metadata(filters, "filters")
        vector = self._writer.embed_query(query) if self._ranker.wants_vector else None
        asked = naive(time) if time is not None else now()
        with self._writer.lock:
            found = self._ranker.search(query, vector, owner, given, wanted, asked)
            if found:
                with self._ledger.writing():
                    self._ledger.touch([one.record.id for one in found], now())
        return found

    def get(self, memory_id: str) -> Record | None:
        """The memory of this id, None where there is none."""
        with self._writer.lock:
            return self._ledger.get(memory_id)

    def get_all(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: Mapping[str, Any] | None = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> list[Record]:
        """Memories of an owner, oldest first: `limit` of them (None: all) from `offset` on."""
        owner = Owner(user_id, agent_id, run_id).check()
        first = _least("offset", offset, 0)
        last = None if limit is None else first + _least("limit", limit, 0)
        with self._writer.lock:
            return self._ledger.owned(owner, check_metadata(filters, "filters"))[first:last]

    def update(
        self,
        memory_id: str,
        text: str | None = None,
        *,
        metadata: Mapping[str, Any] | None = None,
        time: datetime | None = None,
    ) -> Change | None:
        """Let a memory read `text`, with `metadata` in the place of the old (None: as before), at
        `time` (None: as before). None where there is no such memory. Raises InputError.
        """
        if text is None and metadata is None and time is None:
            raise InputError("update: give text, metadata or time")
        old = self.get(memory_id)
        if old is None:
            return None
        if text is not None:
            if not isinstance(text, str) or not text:
                raise InputError("text: use text that is not empty")
            check_text(text, "text")
        unit = Unit(
            id=memory_id,
            content=old.memory if text is None else text,
            index_text=old.index_text if text is None else text,
            time=old.time if time is None else naive(time),
            speaker=old.speaker,
            turns=old.turns,
            importance=old.importance if text is None else importance(text),
        )
        given = None if metadata is None else check_metadata(metadata)
        return self._writer.change(memory_id, unit, given)

    def delete(self, memory_id: str) -> Change | None:
        """Forget one memory; its history stays. None where there is none."""
        return next(iter(self._writer.delete([memory_id])), None)

    def delete_all(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> list[Change]:
        """Forget all memories of an owner, and the messages kept for it; their history stays."""
        owner = Owner(user_id, agent_id, run_id).check()
        with self._writer.lock:
            with self._ledger.writing():
                self._ledger.drop_dialogues(owner)
            return self._writer.delete([one.id for one in self._ledger.owned(owner)])

    def history(self, memory_id: str) -> list[Change]:
        """Every change of a memory, oldest first, that of its end too; empty for an unknown id."""
        with self._writer.lock:
            return self._ledger.history(memory_id)

    def reset(self) -> None:
        """Forget everything, every owner's, with the history. There is no way back."""
        with self._writer.lock:
            with self._ledger.writing():
                self._ledger.clear()
            self._follower.catch_up()

    def close(self) -> None:
        """Let go of files and connections."""
        with self._writer.lock:
            self._follower.close()
            self._ledger.close()

    def __enter__(self) -> Self:
        """Itself; closed at the end of the block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()

    def _units(self, messages: Messages, heard: Heard) -> list[Unit]:
        """A text stays as it is; messages become what the benchmark makes of a session's turns."""
        if not isinstance(messages, str):
            return self._setup.builder.build(heard.session)
        (turn,) = heard.session.turns
        return [
            Unit(
                id=turn.id,
                content=messages,
                index_text=messages,
                time=heard.session.time,
                speaker=turn.speaker,
                turns=(turn.id,),
                importance=importance(messages),
            )
        ]


def _least(name: str, value: object, least: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise InputError(f"{name}: {value!r}; use a whole number of {least} or more")
    return value
