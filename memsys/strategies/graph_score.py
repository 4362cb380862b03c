"""Reranking by graph features: the graph changes the order and adds no memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from memsys.errors import InputError, check_fields, check_number
from memsys.graph.score import access_frequency, recency
from memsys.index.rank import Start, check_start, top
from memsys.store import Parts
from memsys.strategy import Strategy
from memsys.types import Candidate, Query


@dataclass(frozen=True, slots=True)
class GraphScoreWeights:
    """Weights of the five terms of the final score."""

    similarity: float
    access: float
    recency: float
    importance: float
    graph: float

    def __post_init__(self) -> None:
        """Raise InputError unless all weights are numbers."""
        check_fields(self, "strategy.weights")


class GraphScore(Strategy):
    """The `pool` best of the start ranking, reordered by a weighted sum, then cut to k.

    Score = similarity, access frequency, recency, importance and connectivity g, each 0 to 1 (a
    cosine may be negative), times their weights; see memsys.graph.score for the formulas.
    """

    uses_graph: ClassVar[bool] = True

    def __init__(
        self,
        parts: Parts,
        k: int | None,
        budget: int | None,
        start: Start,
        pool: int,
        weights: Mapping[str, float],
        decay_per_day: float,
    ) -> None:
        """Raises InputError on an unknown start or a pool smaller than k."""
        super().__init__(parts, k, budget)
        check_start(start)
        check_number("strategy.decay_per_day", decay_per_day, 0, 1e9)
        if isinstance(pool, bool) or not isinstance(pool, int) or pool < (k or 1):
            raise InputError(f"strategy.pool: {pool!r}; use a whole number of k={k} or more")
        self._start, self._pool, self._decay = start, pool, decay_per_day
        self._weights = GraphScoreWeights(**weights)

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Rank by the weighted sum."""
        relevance = self.store.relevance(query.text, self._start)
        statistics = self.store.statistics
        weights = self._weights
        candidates = []
        for row in top(relevance, self._pool):
            memory, graph = self.store.memories[row], statistics[row]
            score = (
                weights.similarity * float(relevance[row])
                + weights.access * access_frequency(graph.accesses)
                + weights.recency * recency(graph.last, query.time, self._decay)
                + weights.importance * memory.importance
                + weights.graph * graph.g
            )
            candidates.append(Candidate(memory, score))
        return sorted(candidates, key=lambda candidate: -candidate.score), {}
