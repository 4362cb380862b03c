"""What every memory option does."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from memsys.llm.base import LLM
from memsys.types import Conversation, Memory, Session


class MemoryBuilder(Protocol):
    """Cuts a session into memories; sees one session at a time, so never a later one.

    It may also have `events` and `prompts`, which a strategy over it then has as its own (see
    MemoryStrategy).
    """

    name: str

    def check(self, conversation: Conversation) -> None:
        """Raises InputError if `conversation` lacks what this option remembers."""
        ...

    def build(self, session: Session) -> list[Memory]:
        """The memories of `session` in order; may be empty. Ids are unique in a conversation."""
        ...


@runtime_checkable
class WrittenByModel(Protocol):
    """An option whose memories a model writes, from all that a conversation has said so far: its
    builder has a state, so that each conversation needs its own.
    """

    def open(self, llm: LLM | None) -> MemoryBuilder:
        """A builder for one conversation. Raises InputError where it cannot do without a model."""
        ...


def builder_for(memory: MemoryBuilder | WrittenByModel, llm: LLM | None) -> MemoryBuilder:
    """The builder of one conversation: `memory` itself where it has no state.

    Raises InputError as WrittenByModel.open.
    """
    return memory.open(llm) if isinstance(memory, WrittenByModel) else memory
