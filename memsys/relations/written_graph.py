"""`graph=relations`: a model writes the graph, and memories are linked by what it wrote."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import Any
from uuid import uuid4

from memsys.embed.cache import CachedEmbedder
from memsys.errors import InputError, check_number
from memsys.facts.fact import Event
from memsys.graph.build import MemoryGraph
from memsys.llm.base import LLM
from memsys.relations.extract import RelationExtractor
from memsys.relations.graph_writer import GraphWriter
from memsys.relations.memory_graph import link_memories
from memsys.relations.relation_graph import RelationGraph, RelationGraphSettings
from memsys.stores.relations import RelationStore
from memsys.types import Memory, Session


class WrittenByModel:
    """The settings of `graph=relations`; `open` returns the graph of one conversation."""

    def __init__(
        self, name: str, relation_store: RelationStore, max_share: float, **settings: Any
    ) -> None:
        """`relation_store` may be shared: each conversation has its own owner id there.
        `max_share`: see link_memories. `settings`: see RelationGraphSettings; their values are
        checked by `open`, as Hydra would hide the error message here. Raises TypeError on an
        unknown or missing setting.
        """
        self.name, self._store, self._max_share = name, relation_store, max_share
        self._settings = {**settings, "place": "graph"}
        signature(RelationGraphSettings).bind(**self._settings)

    def open(self, llm: LLM | None, embedder: CachedEmbedder, log: list[Event]) -> WrittenGraph:
        """Return an empty graph, whose writing is logged in `log`. Raises InputError without a
        model, or if a setting or prompt cannot be used.
        """
        if llm is None:
            raise InputError(
                f"graph={self.name}: no model to write the graph; add llm=openai, or llm=local "
                "graph.calls=schema"
            )
        check_number("graph.max_share", self._max_share, 0, 1)
        settings = RelationGraphSettings(**self._settings)
        extractor = RelationExtractor(llm, settings)
        graph = RelationGraph(self._store, uuid4().hex, embedder, settings)
        return WrittenGraph(extractor, graph, settings, self._max_share, log)


class WrittenGraph:
    """The entities and relations of one conversation, and the links that they make."""

    def __init__(
        self,
        extractor: RelationExtractor,
        relations: RelationGraph,
        settings: RelationGraphSettings,
        max_share: float,
        log: list[Event],
    ) -> None:
        self.prompts, self._relations, self._max_share = extractor.prompts, relations, max_share
        self._writer = GraphWriter(extractor, relations, settings, log)

    def write(self, session: Session) -> None:
        """See GraphWriter.write."""
        self._writer.write(session)

    def build(self, memories: Sequence[Memory]) -> MemoryGraph:
        """Return the graph over `memories`; see link_memories."""
        relations = self._relations.relations()
        pairs = zip(relations, self._relations.ends(relations), strict=True)
        return link_memories(memories, list(pairs), self._max_share)

    @property
    def bytes(self) -> int:
        """Size of the entities, with their vectors, and of the relations."""
        return self._relations.size()["bytes"]

    def clear(self) -> None:
        """Delete the entities and relations from the store."""
        self._relations.clear()
