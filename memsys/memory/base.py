"""What every memory option does."""

from __future__ import annotations

from typing import Protocol

from memsys.types import Conversation, Memory, Session


class MemoryBuilder(Protocol):
    """Cuts a session into memories; sees one session at a time, so never a later one."""

    name: str

    def check(self, conversation: Conversation) -> None:
        """Raises InputError if `conversation` lacks what this option remembers."""
        ...

    def build(self, session: Session) -> list[Memory]:
        """The memories of `session` in order; may be empty. Ids are unique in a conversation."""
        ...
