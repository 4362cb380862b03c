"""Search: relevance as benchmarked, optionally weighted with access, recency and importance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from memsys.core.types import Vectors
from memsys.graph.score import access_frequency, recency
from memsys.service.owners import Owner
from memsys.service.relations import RelationMemory
from memsys.service.results import SearchResult
from memsys.service.settings import Setup
from memsys.service.strategy_ranking import Found, StrategyRanker
from memsys.service.writing import Writer
from memsys.stores.vectors import Near

_SPARE = 8  # further results, to detect ties with the last one


class Ranker:
    """Ranks the memories of an owner. Thread-safe."""

    def __init__(self, setup: Setup, writer: Writer, relations: RelationMemory) -> None:
        """Raises InputError if a setting of the strategy cannot be used."""
        self._writer, self._weights = writer, setup.weights
        self._by_strategy: StrategyRanker | None = None
        if setup.strategy is not None:
            self._by_strategy = StrategyRanker(setup, setup.strategy, writer, relations)

    def search(
        self, query: str, owner: Owner, filters: Mapping[str, Any], top_k: int, now: datetime
    ) -> Found:
        """Return the `top_k` best memories for `query`, best first; among equal scores the oldest
        comes first, or the strategy's order remains.
        """
        weights = self._weights
        wanted = top_k if weights.plain else max(top_k, weights.pool)
        if self._by_strategy is not None:
            found = self._by_strategy.rank(query, owner, filters, wanted, now)
        else:
            found = Found(self._by_vector(query, owner, filters, wanted))
        scored = [one.model_copy(update={"score": self._score(one, now)}) for one in found.results]
        best = sorted(scored, key=lambda one: -one.score)[:top_k]
        return found._replace(results=best, by_time=found.by_time and weights.plain)

    def _score(self, one: SearchResult, now: datetime) -> float:
        weights = self._weights
        last = one.time
        if one.accessed is not None and one.accessed <= now:  # none that `now` cannot know
            last = one.accessed
        return (
            weights.relevance * one.relevance
            + weights.access * access_frequency(one.accesses)
            + weights.recency * recency(last, now, weights.decay_per_day)
            + weights.importance * one.importance
        )

    def _by_vector(
        self, query: str, owner: Owner, filters: Mapping[str, Any], wanted: int
    ) -> list[SearchResult]:
        vector = self._writer.embedder.query(query)
        database = self._writer.database
        with self._writer.lock:
            self._writer.vectors.catch_up()
            among: list[str] | None = None
            if filters or set(owner.named) != {"user_id"}:  # else all of the shelf is the owner's
                among = [one.id for one in database.owned(owner, filters)]
            near = self._near(vector, database.shelves(owner), among, wanted)
            records = database.of([one.id for one in near])
        oldest_first = {id_: place for place, id_ in enumerate(records)}
        near = [one for one in near if one.id in records]
        near.sort(key=lambda one: (-one.cosine, oldest_first[one.id]))
        return [SearchResult.of(records[id_], cosine) for id_, cosine in near[:wanted]]

    def _near(
        self, vector: Vectors, shelves: Sequence[str], among: list[str] | None, wanted: int
    ) -> list[Near]:
        """Return the `wanted` nearest and all that tie with the last of them."""
        asked = wanted + _SPARE
        while True:
            found = [self._writer.vectors.nearest(s, vector, asked, among) for s in shelves]
            near = sorted((one for some in found for one in some), key=lambda one: -one.cosine)
            cut = max((some[-1].cosine for some in found if len(some) == asked), default=-2.0)
            if len(near) <= wanted or near[wanted - 1].cosine > cut or cut == -2.0:
                return near
            asked *= 4
