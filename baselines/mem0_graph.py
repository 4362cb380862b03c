"""Mem0 with a graph of relations beside its facts.

Chhikara et al., 2025 (arXiv 2504.19413), section 2.2, and the package mem0ai
(mem0/memory/graph_memory.py). docs/mem0_graph.md says what differs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from uuid import uuid4

from baselines.mem0 import Mem0
from memsys.errors import InputError
from memsys.facts.base import Event
from memsys.index.rank import Start
from memsys.llm.base import LLM
from memsys.relations.extract import Extractor
from memsys.relations.find import Finder
from memsys.relations.graph import OwnGraph
from memsys.relations.keeper import GraphKeeper
from memsys.relations.settings import GraphSettings, RelationSettings
from memsys.store import Parts
from memsys.stores.relations import RelationStore
from memsys.stores.size import together
from memsys.types import Candidate, Query, Retrieval, Session


class RelationMemory:
    """A share of `store` that nobody else has; calls, changes and faults go into `log`."""

    def __init__(
        self,
        parts: Parts,
        llm: LLM,
        store: RelationStore,
        graph: Mapping[str, Any],
        relations: Mapping[str, Any],
        log: list[Event],
    ) -> None:
        """`graph` and `relations`: see GraphSettings and RelationSettings.

        Raises InputError where a setting or prompt cannot be used.
        """
        settings, wanted = GraphSettings(**graph), RelationSettings(**relations)
        extractor = Extractor(llm, settings)
        self.prompts = extractor.prompts
        self._graph = OwnGraph(store, uuid4().hex, parts.embedder, settings)
        self._keeper = GraphKeeper(extractor, self._graph, settings, log)
        self._finder = Finder(self._graph, extractor, parts.embedder, parts.index, wanted)

    def keep(self, session: Session) -> None:
        """See GraphKeeper.keep. Raises LLMError where the model answered for nothing."""
        self._finder.changed()
        self._keeper.keep(session)

    def find(self, question: str) -> tuple[list[Candidate], dict[str, Any]]:
        """See Finder.find. Raises LLMError where a model has to be asked and does not answer."""
        return self._finder.find(question)

    def size(self) -> dict[str, int]:
        """See OwnGraph.size."""
        return self._graph.size()

    def clear(self) -> None:
        """Forget all of it: the store may outlive the conversation."""
        self._graph.clear()


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
        """`store` may be shared; `facts`: see Mem0; the rest: see RelationMemory.

        Raises InputError where there is no model, or a setting or prompt cannot be used.
        """
        if parts.llm is None:
            raise InputError(
                "strategy=mem0_graph: no model to write the graph; add llm=openai, or llm=local "
                "strategy.update.calls=schema"
            )
        super().__init__(parts, k, budget, **facts)
        self._relations = RelationMemory(parts, parts.llm, store, graph, relations, self.events)
        self.prompts = {**self.prompts, **self._relations.prompts}

    def ingest(self, session: Session) -> int:
        """As Mem0 does, then the graph. Raises LLMError where the model answered for nothing of the
        session, be it facts or relations.
        """
        grown = super().ingest(session)
        self._relations.keep(session)
        return grown

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Mem0's facts and the relations, by the cosine to the question."""
        facts = super().rank(query)[0] if self.store.memories else ()
        relations, trace = self._relations.find(query.text)
        ranked = sorted([*facts, *relations], key=lambda candidate: -candidate.score)
        return ranked, {"relations": trace} if trace else {}

    def retrieve(self, query: Query) -> Retrieval:
        """See MemoryStrategy. `k` is for facts alone, and relations may be all there is."""
        ranked, trace = self.rank(query)
        return self.retrieval(ranked, trace)

    def size(self) -> Mapping[str, int]:
        """As Mem0 says, with the nodes and edges of the graph."""
        return together(super().size(), self._relations.size())

    def close(self) -> None:
        """Leave nothing in a shared store."""
        super().close()
        self._relations.clear()
