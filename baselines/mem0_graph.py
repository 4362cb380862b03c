"""Mem0 with a graph of relations beside its facts.

Chhikara et al., 2025 (arXiv 2504.19413), section 2.2, and the package mem0ai
(mem0/memory/graph_memory.py). docs/mem0_graph.md says what differs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from baselines.mem0 import Mem0
from memsys.errors import InputError
from memsys.relations.memory import RelationMemory
from memsys.store import Parts
from memsys.stores.relations import RelationStore
from memsys.stores.size import together
from memsys.text.tokens import count_tokens
from memsys.types import Candidate, Query, Retrieval, Session


class Mem0Graph(Mem0):
    """The k facts that Mem0 finds and, beside them, at most `relations.limit` relations."""

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
        kept, context = self.parts.context.write(ranked, self.budget)
        return Retrieval(kept, context, count_tokens(context), trace)

    def size(self) -> Mapping[str, int]:
        """As Mem0 says, with the nodes and edges of the graph."""
        return together(super().size(), self._relations.size())

    def close(self) -> None:
        """Leave nothing in a shared store."""
        super().close()
        self._relations.clear()
