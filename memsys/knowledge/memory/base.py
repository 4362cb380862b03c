"""The interface of the `memory` options: how a session becomes memories."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, Protocol, runtime_checkable

from memsys.core.titles import title_of
from memsys.core.turns import importance
from memsys.core.types import Conversation, Memory, Session
from memsys.knowledge.relations.written_graph import WrittenGraph
from memsys.llm.base import LLM
from memsys.llm.prompt import Prompt


class MemoryBuilder(ABC):
    """Splits a session into memories; sees one session at a time, so never a later one."""

    name: str
    # Prompts by role with which the builder asks a model; the strategy's prompts include them.
    prompts: Mapping[str, Prompt] = MappingProxyType({})
    # Whether a memory may go on in the next session: `build` then returns it anew, as the first
    # one, under its id.
    goes_on: ClassVar[bool] = False

    @cached_property
    def events(self) -> list[dict[str, Any]]:
        """Log of JSON objects, shared with the strategy over this builder."""
        return []

    def opened(self) -> MemoryBuilder:
        """Return the builder of one store: itself, unless it has a state."""
        return self

    def check(self, conversation: Conversation) -> None:  # noqa: B027 - most need nothing
        """Raises InputError if `conversation` lacks the data that this option needs."""

    @abstractmethod
    def build(self, session: Session) -> list[Memory]:
        """Return the memories of `session` in order; ids are unique per conversation."""

    def remaining(
        self, session: Session, memories: Sequence[Memory], turns: Collection[str]
    ) -> Sequence[Memory]:
        """Return the memories of `session` once `turns` are deleted: `memories`, which were built
        from it, themselves if they contain none of them. The text of a turn may be part of the
        memories of its neighbours, so they are all built anew.
        """
        left = session.without(turns)
        return memories if left is session else self.build(left)


@runtime_checkable
class MemoriesByModel(Protocol):
    """An option whose memories a model writes, given the conversation so far: its builder has a
    state, so each conversation needs a new one.
    """

    name: str

    def open(self, llm: LLM | None, graph: WrittenGraph | None = None) -> MemoryBuilder:
        """Return a builder for one conversation; `graph`: the graph that a model writes of it, if
        any. Raises InputError if it needs a model.
        """


def verbatim(id_: str, text: str, time: datetime, speaker: str, turns: tuple[str, ...]) -> Memory:
    """Return a memory of `text` that is retrieved by that text and nothing else."""
    title = title_of(text, frozenset({speaker}))
    return Memory(id_, text, text, time, speaker, turns, importance(text), title)


def builder_for(
    memory: MemoryBuilder | MemoriesByModel, llm: LLM | None, graph: WrittenGraph | None = None
) -> MemoryBuilder:
    """Return the builder of one conversation: `memory` itself if it has no state. `graph` and
    errors: see MemoriesByModel.open.
    """
    return memory.open(llm, graph) if isinstance(memory, MemoriesByModel) else memory.opened()


def all_of(memory: MemoryBuilder, sessions: Iterable[Session]) -> list[Memory]:
    """Return all memories of the `sessions` of one store, in order."""
    builder = memory.opened()
    return list({unit.id: unit for session in sessions for unit in builder.build(session)}.values())
