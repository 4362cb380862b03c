"""Reranking by graph features: the graph changes the order and adds no memory."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from datetime import datetime
from typing import Any, ClassVar

from memsys.core.declared import Count, Weight, check_fields, check_values
from memsys.core.errors import InputError
from memsys.core.types import Candidate, Query
from memsys.graph.score import access_frequency, recency
from memsys.index.rank import Start
from memsys.strategies.store import Parts
from memsys.strategies.strategy import Strategy

_DIGITS = 4  # of the numbers in a trace


@dataclass(frozen=True, slots=True)
class GraphScoreWeights:
    """Weights of the five terms of the memory score."""

    similarity: Weight
    access: Weight
    recency: Weight
    importance: Weight
    graph: Weight

    def __post_init__(self) -> None:
        """Raise InputError on a weight out of range, or if all are 0."""
        check_fields(self, "strategy.weights")
        if not any(astuple(self)):
            raise InputError("strategy.weights: all are 0, so nothing is ranked; set one above 0")

    def score(
        self, similarity: float, access: float, recency: float, importance: float, g: float
    ) -> float:
        """Return the memory score: the weighted sum of terms of 0 to 1 (a cosine may be less)."""
        return (
            self.similarity * similarity
            + self.access * access
            + self.recency * recency
            + self.importance * importance
            + self.graph * g
        )


_TRACED = ["similarity", "access", "recency", "importance", "g", "n", "e", "w"]


class GraphScore(Strategy):
    """The `pool` best of the start ranking, reordered by the memory score, then cut to k. Below the
    pool the start ranking continues.

    Memory score = similarity, access frequency, recency, importance and connectivity g, times their
    weights; see memsys.graph.score for the formulas. The trace names the terms, and has their
    values with the n, e and w of g for each of the k best.
    """

    uses_graph: ClassVar[bool] = True

    def __init__(
        self,
        parts: Parts,
        k: Count | None,
        budget: Count | None,
        start: Start,
        pool: Count,
        weights: Mapping[str, float],
        decay_per_day: Weight,
    ) -> None:
        """Raises InputError on an unknown start or a pool smaller than k."""
        check_values(GraphScore, locals(), "strategy")
        super().__init__(parts, k, budget)
        if pool < (k or 1):
            raise InputError(f"strategy.pool: {pool!r}; use a whole number of k={k} or more")
        self._start, self._pool, self._decay = start, pool, decay_per_day
        self._weights = GraphScoreWeights(**weights)

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Rank by the memory score."""
        relevance = self.store.relevance(query.text, self._start)
        pool = self.best(relevance, self._pool)
        rescored, trace = self.rescored(pool, lambda row: float(relevance[row]), query.time)
        return self.continued(rescored, relevance), trace

    def rescored(
        self, candidates: Sequence[Candidate], similarity: Callable[[int], float], now: datetime
    ) -> tuple[list[Candidate], dict[str, Any]]:
        """Return `candidates` with their memory scores, best first, and the trace of the k best.
        `similarity` maps the row of a memory to its similarity to the query; `now`: time of the
        query.
        """
        rows, statistics = self.store.rows, self.store.statistics
        scored, terms_of = [], {}
        for candidate in candidates:
            memory = candidate.memory
            row = rows[memory.id]
            features = statistics[row]
            n, e, w, g = features.connectivity
            terms = (
                similarity(row),
                access_frequency(features.accesses),
                recency(features.last_access, now, self._decay),
                memory.importance,
                g,
            )
            terms_of[memory.id] = [round(value, _DIGITS) for value in (*terms, n, e, w)]
            scored.append(replace(candidate, score=self._weights.score(*terms)))
        scored.sort(key=lambda candidate: -candidate.score)
        terms_of_best = {
            candidate.memory.id: terms_of[candidate.memory.id] for candidate in scored[: self.k]
        }
        return scored, {"memory_score": {"terms": _TRACED, "of": terms_of_best}}
