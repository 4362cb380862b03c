"""One memory a fact that a model writes, as it is said: nothing is changed or dropped later."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from memsys.errors import InputError
from memsys.facts.base import Event, Fact, as_memory, plain
from memsys.facts.book import Change, applied
from memsys.facts.extract import Extractor, ExtractSettings
from memsys.facts.images import Images
from memsys.facts.listen import Listener, Taken
from memsys.llm.base import LLM
from memsys.memory.base import MemoryBuilder
from memsys.types import Conversation, Memory, Session


class Facts:
    """What the configuration says of such memories; `open` makes the builder of a conversation."""

    def __init__(
        self,
        name: str,
        prompt: str,
        summary_prompt: str | None,
        exchange: int,
        recent: int,
        images: Images,
        retries: int,
    ) -> None:
        """See ExtractSettings; checked by `open`, as Hydra would bury the message of an error."""
        self.name = name
        self._settings = partial(
            ExtractSettings,
            prompt=prompt,
            summary_prompt=summary_prompt,
            exchange=exchange,
            recent=recent,
            images=images,
            retries=retries,
            place="memory",
        )

    def check(self, conversation: Conversation) -> None:
        """Every conversation has messages."""

    def open(self, llm: LLM | None) -> FactWriter:
        """A builder for one conversation. Raises InputError where there is no model, or a setting
        or prompt cannot be used.
        """
        if llm is None:
            raise InputError(
                f"memory={self.name}: no model to write the facts; add llm=openai or llm=local"
            )
        return FactWriter(self.name, llm, self._settings())


class FactWriter(MemoryBuilder):
    """The facts of one conversation, each stored once and for ever.

    `events` is the log of what was done, `prompts` those by which the model is asked.
    """

    def __init__(self, name: str, llm: LLM, settings: ExtractSettings) -> None:
        """Raises InputError where a prompt cannot be used."""
        extractor = Extractor(llm, settings)
        self.name, self.prompts = name, extractor.prompts
        self.events: list[Event] = []
        self._listener = Listener(extractor, self._add, self.events, settings.retries)
        self._known: set[tuple[str, str]] = set()  # speaker and words
        self._new: list[Memory] = []

    def check(self, conversation: Conversation) -> None:
        """Every conversation has messages."""

    def build(self, session: Session) -> list[Memory]:
        """The facts of `session` in the order of their messages; of a session that comes again,
        those that were not had before. Raises LLMError where the model answered for nothing of it.
        """
        self._new = []
        self._listener.hear(session)
        return self._new

    def _add(self, fact: Fact, session: Session) -> Taken:
        key = fact.speaker, plain(fact.text)
        change = None
        if key not in self._known:
            self._known.add(key)
            memory = as_memory(f"f{len(self._known)}", fact, session.time)
            self._new.append(memory)
            change = _added(memory, session.time)
        why = "nothing is compared" if change else "it is stored already, word for word"
        self.events.append(applied(fact, why, change))
        return "done"


def _added(memory: Memory, time: datetime) -> Change:
    return Change(memory.id, "ADD", None, memory.content, time, memory.turns)
