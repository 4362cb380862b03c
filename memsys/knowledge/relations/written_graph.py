"""`graph=relations`: a model writes the graph, and memories are linked by what it wrote."""

from __future__ import annotations

from collections.abc import Collection, Container, Sequence
from inspect import signature
from typing import Any
from uuid import uuid4

from memsys.core.declared import Name, Share, check_values
from memsys.core.errors import InputError
from memsys.core.types import Memory, Session
from memsys.embed.cache import CachedEmbedder
from memsys.graph.store import MemoryGraph
from memsys.knowledge.facts.fact import Event
from memsys.knowledge.relations.extract import RelationExtractor, SameReply
from memsys.knowledge.relations.graph_writer import GraphWriter
from memsys.knowledge.relations.memory_graph import link_memories
from memsys.knowledge.relations.relation_graph import RelationGraph, RelationGraphSettings
from memsys.llm.base import LLM
from memsys.stores.relations import RelationStore


class WrittenByModel:
    """The settings of `graph=relations`; `open` returns the graph of one conversation."""

    def __init__(
        self, name: Name, relation_store: RelationStore, max_share: Share, **settings: Any
    ) -> None:
        """`relation_store` may be shared: each conversation has its own owner id there.
        `max_share`: see link_memories. `settings`: see RelationGraphSettings; their values are
        checked by `open`, as Hydra would hide the error message here. Raises TypeError on an
        unknown or missing setting.
        """
        check_values(WrittenByModel, locals(), "graph")
        self.name, self._store, self._max_share = name, relation_store, max_share
        self._settings = {**settings, "place": "graph"}
        signature(RelationGraphSettings).bind(**self._settings)

    def open(self, llm: LLM | None, embedder: CachedEmbedder) -> WrittenGraph:
        """Return an empty graph. Raises InputError without a model, or if a setting or a prompt
        cannot be used.
        """
        if llm is None:
            raise InputError(
                f"graph={self.name}: no model to write the graph; add llm=openai, or llm=local "
                "graph.calls=schema"
            )
        settings = RelationGraphSettings(**self._settings)
        extractor = RelationExtractor(llm, settings)
        graph = RelationGraph(self._store, uuid4().hex, embedder, settings)
        return WrittenGraph(extractor, graph, settings, self._max_share)


class WrittenGraph:
    """The entities and relations of one conversation, and the links that they make.

    `part` reads entities and relations from a reply with the facts of `exchange` messages (see
    SameReply); an exchange without such a reply is extracted by calls.
    """

    def __init__(
        self,
        extractor: RelationExtractor,
        relations: RelationGraph,
        settings: RelationGraphSettings,
        max_share: float,
    ) -> None:
        self.prompts, self.exchange = extractor.prompts, settings.exchange
        self.part = SameReply(extractor)
        self._relations, self._max_share = relations, max_share
        self._events: list[Event] = []
        self._writer = GraphWriter(extractor, relations, settings, self._events, self.part)

    def write(self, session: Session, log: list[Event]) -> None:
        """Add what `session` states, and log the steps; see GraphWriter.write."""
        try:
            self._writer.write(session)
        finally:
            log += self._events
            self._events.clear()

    def build(self, memories: Sequence[Memory]) -> MemoryGraph:
        """Return the graph over `memories`; see link_memories."""
        with self._relations.writing():  # none is deleted between the two reads
            relations = self._relations.relations()
            ends = self._relations.ends(relations)
        pairs = zip(relations, ends, strict=True)
        return link_memories(memories, list(pairs), self._max_share)

    @property
    def bytes(self) -> int:
        """Size of the entities, with their vectors, and of the relations."""
        return self._relations.size()["bytes"]

    def forget(self, turns: Collection[str], unsaid: Container[object]) -> int:
        """Delete what rests on `turns`; see RelationGraph.forget."""
        self._writer.forget()
        self.part.forget(turns)
        return self._relations.forget(turns, unsaid)

    def clear(self) -> None:
        """Delete the entities and relations from the store."""
        self._relations.clear()
