"""Mem0 with a graph of relations beside its facts (Chhikara et al., 2025, arXiv 2504.19413, section
2.2; mem0ai, mem0/memory/graph_memory.py). docs/mem0_graph.md lists the differences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from uuid import uuid4

from baselines.mem0 import Mem0
from memsys.errors import InputError
from memsys.index.rank import Start
from memsys.relations.extract import RelationExtractor
from memsys.relations.find import RelationFinder, RelationSettings
from memsys.relations.graph_writer import GraphWriter
from memsys.relations.relation_graph import RelationGraph, RelationGraphSettings
from memsys.store import Parts
from memsys.stores.relations import RelationStore
from memsys.stores.size import together
from memsys.types import Candidate, Query, Retrieval, Session


class Mem0Graph(Mem0):
    """The k facts that Mem0 finds and, beside them, at most `relations.limit` relations."""

    start: ClassVar[Start | None] = None  # relations are ranked too

    def __init__(
        self,
        parts: Parts,
        k: int,
        budget: int | None,
        store: RelationStore,
        graph: Mapping[str, Any],
        relations: Mapping[str, Any],
        **facts: Any,
    ) -> None:
        """`store` may be shared: each conversation has its own owner id there. `graph`: see
        RelationGraphSettings; `relations`: see RelationSettings; `facts`: see Mem0.

        Raises InputError without a model, or if a setting or prompt cannot be used.
        """
        if parts.llm is None:
            raise InputError(
                "strategy=mem0_graph: no model to write the graph; add llm=openai, or llm=local "
                "strategy.update.calls=schema"
            )
        super().__init__(parts, k, budget, **facts)
        settings, search = RelationGraphSettings(**graph), RelationSettings(**relations)
        extractor = RelationExtractor(parts.llm, settings)
        self.prompts = {**self.prompts, **extractor.prompts}
        self._graph = RelationGraph(store, uuid4().hex, parts.embedder, settings)
        self._graph_writer = GraphWriter(extractor, self._graph, settings, self.events)
        self._finder = RelationFinder(self._graph, extractor, parts.embedder, parts.index, search)

    def ingest(self, session: Session) -> int:
        """Ingest the facts as Mem0 does, then the relations. Raises LLMError if the model answered
        for none of the session's facts, or none of its relations.
        """
        grown = super().ingest(session)
        self._finder.invalidate()
        self._graph_writer.write(session)
        return grown

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Rank Mem0's facts and the relations by the cosine to the question."""
        facts = super().rank(query)[0] if self.store.memories else ()
        relations, trace = self._finder.find(query.text)
        ranked = sorted([*facts, *relations], key=lambda candidate: -candidate.score)
        return ranked, {"relations": trace} if trace else {}

    def retrieve(self, query: Query) -> Retrieval:
        """See MemoryStrategy. `k` limits the facts only, and there may be relations only."""
        ranked, trace = self.rank(query)
        return self.retrieval(ranked, trace)

    def size(self) -> Mapping[str, int]:
        """Return Mem0's sizes with the nodes, edges and bytes of the graph."""
        return together(super().size(), self._graph.size())

    def close(self) -> None:
        """Delete the vectors and relations from shared stores."""
        super().close()
        self._graph.clear()
