"""One memory a fact that came with the data set (LoCoMo's `observation` field)."""

from __future__ import annotations

from memsys.errors import InputError
from memsys.memory.base import MemoryBuilder
from memsys.text.turns import importance
from memsys.types import Conversation, Memory, Session


class Observations(MemoryBuilder):
    """Facts written by a model for the data set's authors: an LLM's write path without a key."""

    def __init__(self, name: str) -> None:
        self.name = name

    def check(self, conversation: Conversation) -> None:
        """Raises InputError if no session of the conversation came with observations."""
        if not any(session.observations for session in conversation.sessions):
            raise InputError(
                f"memory={self.name}: sample {conversation.id} has no observation field; "
                "use memory=turns or memory=windows"
            )

    def build(self, session: Session) -> list[Memory]:
        """One memory an observation, in the file's order."""
        return [
            Memory(
                id=f"{session.id}/o{i}",
                content=f"{fact.speaker}: {fact.text}",
                index_text=f"{fact.speaker}: {fact.text}",
                time=session.time,
                speaker=fact.speaker,
                turns=fact.turns,
                importance=importance(fact.text),
            )
            for i, fact in enumerate(session.observations)
        ]
