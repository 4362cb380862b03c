"""Facts, and relations between entities, that a model maintains, after Mem0.

Chhikara et al., 2025: Building production-ready AI agents with scalable long-term memory, arXiv
2504.19413, sections 2.1 and 2.2; mem0ai, mem0/memory/graph_memory.py. docs/mem0.md
describes the algorithms and the differences.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from uuid import uuid4

from memsys.core.declared import Count
from memsys.core.types import Candidate, Query, Retrieval, Session
from memsys.index.rank import Start
from memsys.knowledge.facts.extract import ExtractSettings
from memsys.knowledge.facts.fact_book import FactBook
from memsys.knowledge.facts.fact_writer import FactWriter, UpdateSettings
from memsys.knowledge.relations.extract import RelationExtractor, SameReply
from memsys.knowledge.relations.find import RelationFinder, RelationSettings
from memsys.knowledge.relations.forms import RelationGraphSettings
from memsys.knowledge.relations.graph_writer import GraphWriter
from memsys.knowledge.relations.relation_graph import RelationGraph
from memsys.llm.base import needed_model
from memsys.stores.relations import RelationStore
from memsys.stores.size import together
from memsys.stores.vectors import VectorStore
from memsys.strategies.store import Parts, Store
from memsys.strategies.strategy import Strategy

_MODELS = "add llm=openai, or llm=local strategy.update.calls=schema"


class FactStore(Store):
    """The current facts of a FactBook, with the indexes of any store."""

    def __init__(self, parts: Parts, book: FactBook) -> None:
        super().__init__(parts)
        self.add(book.memories)
        self._book = book

    @property
    def bytes_beside(self) -> int:
        """Size of the book's vectors and history; the index of this store shares its vectors."""
        return self._book.bytes


class Mem0(Strategy):
    """Top k by cosine over the current facts of both speakers."""

    writes_memory: ClassVar[bool] = True
    ranks: ClassVar[bool] = False  # it returns what it maintains, not a ranking of turns
    start: ClassVar[Start | None] = "vector"

    def __init__(
        self,
        parts: Parts,
        k: Count | None,
        budget: Count | None,
        infer: bool,
        facts: Mapping[str, Any],
        update: Mapping[str, Any],
        vector_store: VectorStore | None = None,
        part: SameReply | None = None,
    ) -> None:
        """`infer`: False stores the memories of `parts.memory` and asks no model. `vector_store`:
        see FactBook; `part`: see FactExtractor. Raises InputError without a model, or if a setting
        or prompt cannot be used.
        """
        super().__init__(parts, k, budget)
        self._book = FactBook(parts.embedder, vector_store)
        self._writer: FactWriter | None = None
        if infer:
            llm = needed_model(parts.llm, "strategy=mem0", "write the memory", _MODELS)
            settings = ExtractSettings(**facts), UpdateSettings(**update)
            self._writer = FactWriter(llm, *settings, self._book, part)
            self.prompts = {**self.prompts, **self._writer.prompts}
            self.events = self._writer.log

    def ingest(self, session: Session) -> int:
        """Return the change in the number of facts, negative if more were deleted than added.
        Raises LLMError if the model answered for none of the session.
        """
        if self._writer is None:
            return super().ingest(session)
        before = len(self.store.memories)
        self._sessions.append((session, 0))
        try:
            self._writer.write(session)
        finally:
            self.store = FactStore(self.parts, self._book)
        return len(self.store.memories) - before

    def forget(self, turns: Sequence[str]) -> int | None:
        """See MemoryStrategy. Changes that rest on `turns` are undone, see FactBook.forget; what
        a model copied from them into facts of other turns is not known.
        """
        if self._writer is None:
            return super().forget(turns)
        before = {memory.content for memory in self.store.memories}
        changed = self._book.forget(turns, self._writer.extractor.forget(turns))
        self.store = FactStore(self.parts, self._book)
        if self._summariser is not None:
            self._summariser.forget(before.difference(fact.content for fact in self.store.memories))
        self._sessions = [(session.without(turns), n) for session, n in self._sessions]
        return changed

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Rank by cosine."""
        return self.best(self.store.similarity(query.text))[: self.k], {}

    def close(self) -> None:
        """Delete the vectors from a shared store."""
        if self._writer is not None:
            self._book.clear()


class Mem0Graph(Mem0):
    """The k facts that Mem0 finds and, in addition, at most `relations.limit` relations."""

    writes_relations: ClassVar[bool] = True

    def __init__(
        self,
        parts: Parts,
        k: Count | None,
        budget: Count | None,
        store: RelationStore,
        graph: Mapping[str, Any],
        relations: Mapping[str, Any],
        **facts: Any,
    ) -> None:
        """`store` may be shared: each conversation has its own owner id there. `graph`: see
        RelationGraphSettings; `relations`: see RelationSettings; `facts`: see Mem0.

        Raises InputError without a model, or if a setting or prompt cannot be used.
        """
        llm = needed_model(parts.llm, "strategy=mem0_graph", "write the graph", _MODELS)
        settings, search = RelationGraphSettings(**graph), RelationSettings(**relations)
        extractor = RelationExtractor(llm, settings)
        self._reply_part = reply_part = SameReply(extractor)
        super().__init__(parts, k, budget, part=reply_part, **facts)
        extraction = ExtractSettings(**facts["facts"])
        extraction.check_exchange("strategy.graph.exchange", settings.exchange)
        self.prompts = {**self.prompts, **extractor.prompts}
        self._graph = RelationGraph(store, uuid4().hex, parts.embedder, settings)
        self._graph_writer = GraphWriter(extractor, self._graph, settings, reply_part)
        self._finder = RelationFinder(self._graph, extractor, parts.embedder, parts.index, search)

    def ingest(self, session: Session) -> int:
        """Ingest the facts as Mem0 does, then the relations. Raises LLMError if the model answered
        for none of the session's facts, or none of its relations.
        """
        grown = super().ingest(session)
        self._finder.invalidate()
        self._graph_writer.write(session, self.events)
        return grown

    def forget(self, turns: Sequence[str]) -> int | None:
        """Delete the facts as Mem0 does, and the relations; see RelationGraph.forget."""
        unsaid = self.unsaid(turns)
        changed = super().forget(turns)
        if changed is None:
            return None
        self._reply_part.forget(turns)
        self._finder.invalidate()
        return changed + self._graph.forget(turns, unsaid)

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Rank Mem0's facts and the relations by the cosine to the question."""
        facts = super().rank(query)[0] if self.store.memories else ()
        relations, trace = self._finder.find(query.text)
        ranked = sorted([*facts, *relations], key=lambda candidate: -candidate.score)
        return ranked, {"relations": trace} if trace else {}

    def retrieve(self, query: Query) -> Retrieval:
        """See MemoryStrategy. `k` limits the facts only, and there may be relations only."""
        return self.retrieval(*self.rank(query))

    def size(self) -> Mapping[str, int]:
        """Return Mem0's sizes with the nodes, edges and bytes of the graph."""
        return together(super().size(), self._graph.size())

    def close(self) -> None:
        """Delete the vectors and relations from shared stores."""
        super().close()
        self._graph.clear()
