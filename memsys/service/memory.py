"""The memory operations on a persistent store, with the ranking of a benchmarked run."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Any, Self, Unpack

from memsys.core.errors import InputError
from memsys.service.adding import Adder
from memsys.service.arguments import (
    MemoryKind,
    MemoryType,
    NoModelError,
    Owner,
    Version,
    Whose,
    checked,
    either,
    narrowed,
    now,
    path_of,
)
from memsys.service.configuration_source import Source
from memsys.service.messages import Messages
from memsys.service.relations import RelationMemory
from memsys.service.results import (
    AddResult,
    MemoryChange,
    MemoryContext,
    MemoryRecord,
    Rows,
    SearchResult,
)
from memsys.service.searching import Request, Searcher
from memsys.service.setup import Setup, load_setup
from memsys.service.writing import About, Writer

FOLDER = "memories"


class Memory(AbstractContextManager["Memory"]):
    """A store of memories in a folder, usable by several threads and processes at once.

    Owners are separate: an operation on user_id="ana" sees the memories of ana, of any agent and
    run, and no others; each further id narrows it. Times with a zone are converted to UTC, others
    are used unchanged. This is `memsys.Memory`; memsys.core.types.Memory is the frozen record of
    one unit within a strategy.
    """

    def __init__(self, folder: str | Path = FOLDER, setup: Setup | None = None) -> None:
        """Create `folder` if absent. `setup`: None for what the environment's MEMSYS_CONFIG names,
        or the defaults, without a model. Raises InputError if folder or setup cannot be used.
        """
        self._setup = setup = setup or load_setup(None)
        self._writer = writer = Writer(path_of(folder, "folder"), setup)
        self._relations = relations = RelationMemory(setup, writer)
        self._searcher = Searcher(setup, writer, relations)
        self._adder = Adder(setup, writer, relations)

    @classmethod
    def from_config(cls, source: Source, folder: str | Path = FOLDER) -> Self:
        """Return a memory with the embedder, index, memory option, model, ranking and k of a run
        (its folder, or its id), a YAML file, or a mapping. Raises InputError like load_setup.
        """
        return cls(folder, load_setup(source))

    @property
    def enable_graph(self) -> bool:
        """Whether a model writes relations that are found beside the memories by default."""
        return self._relations.finds_beside

    @checked
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
        prompt: str | None = None,
        memory_type: MemoryType | None = None,
        version: Version | None = None,  # noqa: ARG002 - checked
    ) -> AddResult:
        """Store `messages`: a text, or one {role, content} or a list of them, with optional name
        and id, said at `time` (None: now). A model describes images in them.

        `infer`: True lets a model extract facts, or with kind="procedural" record an agent's run
        (whose messages may have tool_calls) as numbered steps; False stores the messages verbatim;
        None: as in the run. A text is stored word for word; messages are stored with the speaker's
        name. `prompt`: further instructions to the model; of a procedure, what replaces its
        template, so that the model's reply is stored as it is.
        `memory_type="procedural_memory"`: kind="procedural", which a model records unless
        infer=False. `version`: "v1.1".

        Raises InputError on an invalid argument (NoModelError without the model that is asked);
        LLMError if the model answered for none of the messages, or did not describe an image.
        """
        owner = Owner(user_id, agent_id, run_id).check()
        about = About(owner, metadata or {}, "procedural" if memory_type else kind, {})
        writes = (self._setup.infer or memory_type is not None) if infer is None else infer
        if prompt is not None and not writes:
            raise NoModelError("prompt: no model writes these messages; add with infer=True")
        return self._adder.add(messages, about, time or now(), writes, prompt, infer is not False)

    @checked
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
        threshold: float | None = None,
        limit: int | None = None,
        version: Version | None = None,  # noqa: ARG002 - checked
        enable_graph: bool | None = None,
    ) -> Rows[SearchResult]:
        """Return the `top_k`, or `limit` (None: the run's k), best memories for `query`, best
        first, of at least the score `threshold`. `filters`: values that the metadata must have, and
        perhaps the ids. `time`: of the query, for recency (None: now); each returned memory counts
        as accessed at that time. `enable_graph`: whether the relations of the owner are searched as
        well, of whatever metadata (None: if the run writes any). `version`: "v1.1". Raises
        InputError on an invalid argument, LLMError if the strategy asks a model and gets no usable
        reply.
        """
        most, owner = either("top_k", top_k, "limit", limit), Owner(user_id, agent_id, run_id)
        asked = Request(query, owner, filters, most, time or now(), enable_graph)
        return self._searcher.search(asked, threshold)

    @checked
    def context(
        self,
        query: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: Mapping[str, Any] | None = None,
        top_k: int | None = None,
        time: datetime | None = None,
        budget: int | None = None,
        enable_graph: bool | None = None,
    ) -> MemoryContext:
        """Return what `search` finds as text for a model, in the layout of the configuration's
        `context`, with relations: as much of it, best first, as fits `budget` o200k tokens (None:
        the configuration's). The memories in the text count as accessed. Raises like `search`, and
        LLMError if a long memory has to be summarised and is not.
        """
        owner = Owner(user_id, agent_id, run_id)
        asked = Request(query, owner, filters, top_k, time or now(), enable_graph)
        return self._searcher.context(asked, budget or self._setup.budget)

    @checked
    def get(self, memory_id: str) -> MemoryRecord | None:
        """Return the memory of this id, or None."""
        with self._writer.lock:
            return self._writer.database.get(memory_id)

    @checked
    def get_all(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: Mapping[str, Any] | None = None,
        limit: int | None = None,
        offset: int = 0,
        top_k: int | None = None,
        version: Version | None = None,  # noqa: ARG002 - checked
    ) -> Rows[MemoryRecord]:
        """Return memories of an owner, oldest first: `limit`, or `top_k` (None: all), from `offset`
        on. `filters`: as in `search`.
        """
        owner, wanted = narrowed(Owner(user_id, agent_id, run_id), filters)
        most = either("limit", limit, "top_k", top_k)
        last = None if most is None else offset + most
        with self._writer.lock:
            return Rows(self._writer.database.owned(owner, wanted)[offset:last])

    @checked
    def update(
        self,
        memory_id: str,
        text: str | None = None,
        *,
        metadata: Mapping[str, Any] | None = None,
        time: datetime | None = None,
        title: str | None = None,
        event_time: str | None = None,
        data: str | None = None,
    ) -> MemoryChange | None:
        """Replace text (or `data`), metadata, time, title or event time ("" for none) of a memory
        (None: unchanged). A new text without them has a title by rule and no event time. Return the
        change, None if there is no such memory. Raises InputError on an invalid argument.
        """
        text = either("text", text, "data", data)
        given = {"memory": text, "metadata": metadata, "time": time, "title": title}
        fields = {name: value for name, value in given.items() if value is not None}
        if event_time is not None:
            fields["event_time"] = event_time or None
        if not fields:
            raise InputError("update: give text, metadata, time, title or event_time")
        return self._writer.change(memory_id, fields)

    @checked
    def delete(self, memory_id: str, *, history: bool = True) -> MemoryChange | None:
        """Delete one memory; its history remains. `history=False` deletes that too, also of a
        memory that was deleted before, and what was derived from it: the owner's stored messages
        and summaries, and the relations of its messages. Return None if there is no such memory.
        """
        if history:
            return next(iter(self._writer.delete([memory_id])), None)
        return self._writer.erase(memory_id, self._relations.forget)

    @checked
    def delete_all(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        all: bool = False,  # noqa: A002 - the name in the interface
    ) -> list[MemoryChange]:
        """Delete all memories, relations and stored messages of an owner, or of every owner
        (`all`); the history remains. Raises InputError with neither, or with both.
        """
        owner = Owner(user_id, agent_id, run_id).check_bulk(all)
        with self._writer.lock:
            self._relations.delete(owner)
            with self._writer.database.writing():
                self._writer.dialogues.drop(owner)
            return self._writer.delete([row.id for row in self._writer.database.owned(owner)])

    @checked
    def history(self, memory_id: str) -> list[MemoryChange]:
        """Return every change of a memory, oldest first; also of a deleted one, [] if unknown."""
        with self._writer.lock:
            return self._writer.database.history(memory_id)

    @checked
    def reset(self, **whose: Unpack[Whose]) -> None:
        """Delete everything of an owner, or of every owner (`all`, or no argument at all),
        including the history. This cannot be undone. Raises InputError if the arguments name
        neither an owner nor all, such as a user_id of None, or both.
        """
        everyone = whose.pop("all", not whose)
        owner = Owner(**whose).check_bulk(everyone)  # type: ignore[misc]
        with self._writer.lock:
            self._relations.delete(owner)
            self._writer.reset(owner)

    def compact(self) -> Sequence[str]:
        """Write all files anew, so that none contains what was deleted, and empty the cache of
        vectors; return the stores that are on a server, which alone decides when it does so
        (`vector_store`, `relation_store`). Raises InputError if another process prevents it.
        """
        done = {"vector_store": self._writer.compact(), "relation_store": self._relations.compact()}
        return [name for name, is_done in done.items() if not is_done]

    def close(self) -> None:
        """Close files and connections, after the summaries that are refreshed in the background."""
        self._adder.close()
        with self._writer.lock:
            self._relations.close()
            self._writer.close()

    def __exit__(self, *error: object) -> None:
        """Close the memory at the end of a `with` block."""
        self.close()
