"""One memory per extracted fact, append-only: nothing is updated or deleted later."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from memsys.core.declared import Name
from memsys.core.types import Conversation, Memory, Session
from memsys.knowledge.facts.extract import ExtractSettings, FactExtractor
from memsys.knowledge.facts.fact import Fact, FactChange, as_memory, plain
from memsys.knowledge.facts.fact_writer import Outcome, applied, read_session
from memsys.knowledge.memory.base import MemoryBuilder
from memsys.knowledge.relations.extract import SameReply
from memsys.knowledge.relations.written_graph import WrittenGraph
from memsys.llm.base import LLM, needed_model


class Facts:
    """The settings of `memory=facts`; `open` returns the builder of one conversation."""

    def __init__(self, name: Name, **settings: Any) -> None:
        """`settings`: see ExtractSettings. Raises TypeError on an unknown or missing setting,
        InputError on a value out of range.
        """
        self.name = name
        self._settings = ExtractSettings(**{**settings, "place": "memory"})

    def check(self, conversation: Conversation) -> None:
        """Accept every conversation."""

    def open(self, llm: LLM | None, graph: WrittenGraph | None = None) -> FactMemoryBuilder:
        """Return a builder for one conversation. With `relations: same_reply` the entities and
        relations of a reply are those of `graph`. Raises InputError without a model, or if a
        prompt cannot be used.
        """
        model = needed_model(llm, f"memory={self.name}", "write the facts")
        if graph is None:
            return FactMemoryBuilder(self.name, model, self._settings)
        self._settings.check_exchange("graph.exchange", graph.exchange)
        return FactMemoryBuilder(self.name, model, self._settings, graph.part)


class FactMemoryBuilder(MemoryBuilder):
    """Builds the memories of one conversation, one per distinct fact; logs the extraction."""

    def __init__(
        self, name: str, llm: LLM, settings: ExtractSettings, part: SameReply | None = None
    ) -> None:
        """`part`: see FactExtractor. Raises InputError if a prompt cannot be used."""
        self._extractor = FactExtractor(llm, settings, part)
        self.name, self.prompts = name, self._extractor.prompts
        self._seen: set[tuple[str, str]] = set()  # speaker and words
        self._added = 0  # facts ever added, for new ids
        self._new: list[Memory] = []

    def build(self, session: Session) -> list[Memory]:
        """Return the new facts of `session` in the order of their messages. Raises LLMError if the
        model answered for none of its exchanges.
        """
        self._new = []
        read_session(self._extractor, session, self._add, self.events)
        return self._new

    def remaining(
        self, session: Session, memories: Sequence[Memory], turns: Collection[str]
    ) -> Sequence[Memory]:
        """Return those of `memories` that rest on none of `turns`; no model is asked. A fact
        without turns rests on all of its session.
        """
        touched = session.without(turns) is not session
        if touched:
            self._extractor.forget(turns)
        gone = [
            memory
            for memory in memories
            if set(memory.turns).intersection(turns) or (touched and not memory.turns)
        ]
        self._seen.difference_update((memory.speaker, plain(memory.content)) for memory in gone)
        return [memory for memory in memories if memory not in gone] if gone else memories

    def _add(self, fact: Fact, session: Session) -> Outcome:
        key = fact.speaker, plain(fact.text)
        change = None
        if key not in self._seen:
            self._seen.add(key)
            self._added += 1
            new = as_memory(f"f{self._added}", fact, session.time)
            self._new.append(new)
            change = FactChange(new.id, "ADD", None, new.content, session.time, new.turns)
        why = "nothing is compared" if change else "it is stored already, word for word"
        self.events.append(applied(fact, why, change))
        return "done"
