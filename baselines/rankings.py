"""Rankings to compare with: BM25, the hybrid of BM25 and cosine, the graph walk, and the bounds."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any, ClassVar

import numpy as np

from memsys.core.declared import Count, Range, Share, check_values
from memsys.core.errors import InputError
from memsys.core.types import Candidate, Query, Session
from memsys.graph.build import GraphSettings
from memsys.graph.csr import Csr, CsrStore, build_csr
from memsys.index.rank import Scores, Start, min_max
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
        self._rules = parts.graph
        self._start, self._seeds, self._weight = start, seeds, weight
        self._damping, self._steps = damping, steps
        self._built: tuple[Mapping[str, int], PageRank] | None = None  # with the rows it is of

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Rank by the combination of relevance and walk."""
        relevance = min_max(self.store.relevance(query.text, self._start))
        rows = self.store.rows
        restart = {rows[one.memory.id]: one.score for one in self.best(relevance, self._seeds)}
        walk = min_max(self._walk().scores(restart, self._damping, self._steps))
        return self.best(self._weight * relevance + (1 - self._weight) * walk), {}

    def size(self) -> Mapping[str, int]:
        """Return the size of the store with the nodes and edges of the walk."""
        graph = self._walk().size() if self.store.memories else {"nodes": 0, "edges": 0}
        return together(super().size(), graph)

    def _walk(self) -> PageRank:
        rows = self.store.rows
        if self._built is None or self._built[0] is not rows:
            graph = build_csr(self.store.memories, rows, self._rules).store
            assert isinstance(graph, CsrStore)  # noqa: S101 - for the type checker
            self._built = rows, PageRank(graph)
        return self._built[1]


class PageRank:
    """Walks from memory to entity to memory, each step in proportion to the mention's weight.

    Personalised PageRank (Haveliwala, 2002), as HippoRAG (Gutierrez et al., 2024, arXiv 2405.14831)
    uses it to find passages: the walk restarts at the memories found for the query.
    """

    def __init__(self, store: CsrStore) -> None:
        from scipy import sparse  # noqa: PLC0415 - takes a third of a second

        def matrix(of: Csr, columns: int) -> Any:
            """Return the matrix with rows that sum to 1, or to 0 if empty."""
            rows = len(of.starts) - 1
            sums = np.bincount(
                np.repeat(np.arange(rows), np.diff(of.starts)), weights=of.weights, minlength=rows
            )
            weights = of.weights / np.repeat(np.where(sums == 0, 1, sums), np.diff(of.starts))
            return sparse.csr_matrix((weights, of.columns, of.starts), shape=(rows, columns))

        memories, entities = len(store.mentions.starts) - 1, len(store.mentioned.starts) - 1
        # Transposed once: a step sums what flows into a node.
        self._to_entities = matrix(store.mentions, entities).T.tocsr()
        self._to_memories = matrix(store.mentioned, memories).T.tocsr()
        self._size = memories

    def size(self) -> dict[str, int]:
        """Return the size of the mentions, the edges of the walk; see GraphStore.size."""
        both = self._to_entities, self._to_memories
        linked = int(np.count_nonzero(np.diff(self._to_memories.indptr)))
        return {
            "nodes": linked + self._to_entities.shape[0],
            "edges": int(self._to_entities.nnz),
            "bytes": sum(m.data.nbytes + m.indices.nbytes + m.indptr.nbytes for m in both),
        }

    def scores(self, restart: Mapping[int, float], damping: float, steps: int) -> Scores:
        """Return the probability of the walk at each memory, shape (n,). x <- (1 - damping) r +
        damping x P, repeated `steps` times from x = r. `restart`: rows and weights, normalised to
        r. The share of a memory without mentions is lost in a step.
        """
        start = np.zeros(self._size)
        start[list(restart)] = list(restart.values())
        start /= max(start.sum(), 1e-12)
        share = start
        for _ in range(steps):
            share = (1 - damping) * start + damping * (
                self._to_memories @ (self._to_entities @ share)
            )
        return np.asarray(share, dtype=np.float64)
