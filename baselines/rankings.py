"""Rankings to compare with: BM25, the hybrid of BM25 and cosine, the graph walk, and the bounds."""

from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any, ClassVar

from memsys.core.declared import Count, Range, Share, check_values
from memsys.core.errors import InputError
from memsys.core.types import Candidate, Query, Session
from memsys.graph.build import GraphSettings
from memsys.index.rank import Start, min_max
from memsys.stores.size import together
from memsys.strategies.store import Parts
from memsys.strategies.strategy import Strategy


class BM25(Strategy):
    """Top k by BM25 over stems; no model, no vectors."""

    start: ClassVar[Start | None] = "lexical"

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Rank by BM25, 0 or more."""
        return self.best(self.store.bm25(query.text)), {}


class HybridRank(Strategy):
    """Top k by the convex combination of BM25 and cosine; its weight is `index.alpha`."""

    start: ClassVar[Start | None] = "hybrid"

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Rank by the combined score, 0 to 1."""
        return self.best(self.store.relevance(query.text, "hybrid")), {}


class NoMemory(Strategy):
    """Stores nothing: measures what the reader knows by itself."""

    ranks: ClassVar[bool] = False

    def ingest(self, session: Session) -> int:  # noqa: ARG002
        """Store nothing; return 0."""
        return 0

    def forget(self, turns: Sequence[str]) -> int:  # noqa: ARG002
        """Return 0: there is nothing to delete."""
        return 0

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:  # noqa: ARG002
        """Return no candidate."""
        return [], {}


class Oracle(Strategy):
    """Every memory that contains an evidence turn of the question, independent of k. It is the
    ceiling of retrieval for a given reader.
    """

    sees_evidence: ClassVar[bool] = True
    ranks: ClassVar[bool] = False

    def __init__(
        self, parts: Parts, budget: Count | None, evidence: Mapping[str, Collection[str]]
    ) -> None:
        """`evidence` maps a question's id to its evidence turn ids; no other strategy gets it."""
        super().__init__(parts, None, budget)
        self._evidence = evidence

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Return candidates of score 1; none for a question without evidence."""
        wanted = set(self._evidence.get(query.id, ()))
        return [Candidate(m, 1.0) for m in self.store.memories if wanted.intersection(m.turns)], {}


class GraphWalk(Strategy):
    """Personalised PageRank that restarts at the best direct results.

    Score: weight * relevance + (1 - weight) * share of the walk, both scaled to 0..1 per query
    (Gutierrez et al., 2024, arXiv 2405.14831, rank by the walk alone: weight 0).
    """

    def __init__(
        self,
        parts: Parts,
        k: Count | None,
        budget: Count | None,
        start: Start,
        seeds: Count,
        damping: Annotated[float, Range(0, 0.999)],
        steps: Annotated[int, Range(1, 10_000)],
        weight: Share,
    ) -> None:
        """`seeds`: direct results where the walk starts, in proportion to their relevance. Raises
        InputError if the graph is none that rules make.
        """
        check_values(GraphWalk, locals(), "strategy")
        super().__init__(parts, k, budget)
        if not isinstance(parts.graph, GraphSettings):
            raise InputError(
                "strategy=graph_walk: walks a graph that rules make; use graph=rules or dialogue"
            )
        self._start, self._seeds, self._weight = start, seeds, weight
        self._damping, self._steps = damping, steps

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Rank by the combination of relevance and walk."""
        relevance = min_max(self.store.relevance(query.text, self._start))
        rows = self.store.rows
        restart = {rows[seed.memory.id]: seed.score for seed in self.best(relevance, self._seeds)}
        walk = min_max(self.store.walk.scores(restart, self._damping, self._steps))
        return self.best(self._weight * relevance + (1 - self._weight) * walk), {}

    def size(self) -> Mapping[str, int]:
        """Return the size of the store with the nodes and edges of the walk."""
        graph = self.store.walk.size() if self.store.memories else {"nodes": 0, "edges": 0}
        return together(super().size(), graph)
