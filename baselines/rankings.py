"""Reference rankings: lexical and hybrid search, no memory at all, and the evidence itself."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

from memsys.index.rank import Start
from memsys.store import Parts
from memsys.strategy import Strategy
from memsys.types import Candidate, Query, Session


class BM25(Strategy):
    """Top k by BM25 over stems; no model, no vectors."""

    start: ClassVar[Start | None] = "lexical"

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Rank by BM25, 0 or more."""
        return self.best(self.store.bm25(query.text)), {}


class HybridRank(Strategy):
    """Top k by the convex mix of BM25 and cosine; its weight is `index.alpha`."""

    start: ClassVar[Start | None] = "hybrid"

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Rank by the mix, 0 to 1."""
        return self.best(self.store.relevance(query.text, "hybrid")), {}


class NoMemory(Strategy):
    """Stores nothing: measures what the reader knows by itself."""

    def ingest(self, session: Session) -> int:  # noqa: ARG002
        """Store nothing; return 0."""
        return 0

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:  # noqa: ARG002
        """Return no candidate."""
        return [], {}


class Oracle(Strategy):
    """Every memory that contains an evidence turn of the question, whatever the value of k. It is
    the ceiling of retrieval for a given reader.
    """

    sees_evidence: ClassVar[bool] = True

    def __init__(
        self, parts: Parts, budget: int | None, evidence: Mapping[str, Collection[str]]
    ) -> None:
        """`evidence` maps a question's id to its evidence turn ids; no other strategy gets it."""
        super().__init__(parts, None, budget)
        self._evidence = evidence

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Return candidates of score 1; none for a question without evidence."""
        wanted = set(self._evidence.get(query.id, ()))
        return [Candidate(m, 1.0) for m in self.store.memories if wanted.intersection(m.turns)], {}
