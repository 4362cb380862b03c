"""What every memory option does."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

from memsys.llm.base import LLM
from memsys.llm.prompt import Prompt
from memsys.types import Conversation, Memory, Session


class MemoryBuilder(ABC):
    """Cuts a session into memories; sees one session at a time, so never a later one."""

    name: str
    # Prompts by role with which the builder asks a model; the strategy's prompts include them.
    prompts: Mapping[str, Prompt] = MappingProxyType({})

    @cached_property
    def events(self) -> list[dict[str, Any]]:
        """Log of JSON objects, shared with the strategy over this builder."""
        return []

    @abstractmethod
    def check(self, conversation: Conversation) -> None:
        """Raises InputError if `conversation` lacks what this option remembers."""

    @abstractmethod
    def build(self, session: Session) -> list[Memory]:
        """The memories of `session` in order; may be empty. Ids are unique in a conversation."""


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
