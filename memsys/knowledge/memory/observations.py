"""One memory per fact of the data set (LoCoMo's `observation` field)."""

from memsys.core.declared import Name
from memsys.core.errors import InputError
from memsys.core.titles import title_of
from memsys.core.turns import importance
from memsys.core.types import Conversation, Memory, Session
from memsys.knowledge.memory.base import MemoryBuilder


class Observations(MemoryBuilder):
    """Facts that the data set's authors extracted with a model: usable without an API key."""

    def __init__(self, name: Name) -> None:
        self.name = name

    def check(self, conversation: Conversation) -> None:
        """Raises InputError if no session of the conversation has observations."""
        if not any(session.observations for session in conversation.sessions):
            raise InputError(
                f"memory={self.name}: sample {conversation.id} has no observation field; "
                "use memory=turns or memory=windows"
            )

    def build(self, session: Session) -> list[Memory]:
        """Return one memory per observation, in the order of the file."""
        return [
            Memory(
                id=f"{session.id}/o{i}",
                content=f"{fact.speaker}: {fact.text}",
                index_text=f"{fact.speaker}: {fact.text}",
                time=session.time,
                speaker=fact.speaker,
                turns=fact.turns,
                importance=importance(fact.text),
                title=title_of(fact.text, frozenset({fact.speaker})),
            )
            for i, fact in enumerate(session.observations)
        ]
