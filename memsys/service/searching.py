"""Search: relevance as benchmarked, optionally weighted with access, recency and importance; and
the text that puts what is found before a model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memsys.core.errors import check_whole
from memsys.core.tokens import count_tokens
from memsys.core.types import Candidate, Vectors
from memsys.graph.score import access_frequency, recency
from memsys.service.arguments import Owner, narrowed, now
from memsys.service.relations import RelationMemory
from memsys.service.results import MemoryContext, Rows, SearchResult
from memsys.service.setup import Setup
from memsys.service.strategy_ranking import Found, StrategyRanker
from memsys.service.writing import Writer
from memsys.stores.vectors import Near
from memsys.strategies.strategy import with_beside

_SPARE = 8  # further results, to detect ties with the last one


@dataclass(frozen=True, slots=True)
class Request:
    """A checked search: the `top_k` best memories of `owner` whose metadata have the values of
    `filters`, for a `query` asked at `time`; `relations`: whether those of the owner are searched.
    """

    query: str
    owner: Owner
    filters: Mapping[str, Any]
    top_k: int
    time: datetime
    relations: bool


class Ranker:
    """Ranks the memories of an owner. Thread-safe."""

    def __init__(self, setup: Setup, writer: Writer, relations: RelationMemory) -> None:
        """Raises InputError if a setting of the strategy cannot be used."""
        self._writer, self._weights = writer, setup.weights
        self._by_strategy: StrategyRanker | None = None
        if setup.strategy is not None:
            self._by_strategy = StrategyRanker(setup, setup.strategy, writer, relations)

    def search(self, asked: Request) -> Found:
        """Return the best memories for a search, best first; among equal scores the oldest comes
        first, or the strategy's order remains.
        """
        weights, top_k, now = self._weights, asked.top_k, asked.time
        wanted = top_k if weights.plain else max(top_k, weights.pool)
        if self._by_strategy is not None:
            found = self._by_strategy.rank(asked.query, asked.owner, asked.filters, wanted, now)
        else:
            found = Found(self._by_vector(asked.query, asked.owner, asked.filters, wanted))
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


class Searcher:
    """Searches memories and relations, and writes contexts. Thread-safe."""

    def __init__(self, setup: Setup, writer: Writer, relations: RelationMemory) -> None:
        """Raises InputError like Ranker, or if the context has to be summarised without a model."""
        self._setup, self._writer, self._relations = setup, writer, relations
        self._ranker = Ranker(setup, writer, relations)
        self._summariser = setup.context.summariser(setup.llm)
        if self._summariser is not None:
            writer.on_removal = self._summariser.forget

    @property
    def finds_relations(self) -> bool:
        """Whether relations are found beside the memories by default."""
        return self._relations.enabled and not self._relations.links

    def request(
        self,
        query: str,
        owner: Owner,
        filters: Mapping[str, Any] | None,
        top_k: int | None,
        time: datetime | None,
        enable_graph: bool | None,
    ) -> Request:
        """Return the request with these arguments of Memory.search. Raises InputError like it."""
        owner, wanted = narrowed(owner, filters)
        most = check_whole("top_k", self._setup.k if top_k is None else top_k)
        searched = self.finds_relations if enable_graph is None else enable_graph
        return Request(query, owner, wanted, most, time or now(), searched)

    def search(self, asked: Request, threshold: float | None) -> Rows[SearchResult]:
        """Return what is found, best first, with a score of `threshold` or more."""
        found = self._ranker.search(asked)
        results = [one for one in found.results if threshold is None or one.score >= threshold]
        self._touch(results, asked)
        relations = self._relations.find(asked.query, asked.owner) if asked.relations else ()
        return Rows(results, relations, found.trace)

    def context(self, asked: Request, budget: int | None) -> MemoryContext:
        """Return what is found as text of at most `budget` tokens; see Memory.context."""
        found = self._ranker.search(asked)
        beside = list(found.beside)
        if asked.relations:
            relations = self._relations.find(asked.query, asked.owner)
            beside += [Candidate(one.memory, one.score, "expanded", True) for one in relations]
        by_id = {one.id: one for one in found.results}
        ranked: Sequence[Candidate] = [
            Candidate(one.as_memory(one.id), one.score, one.origin) for one in found.results
        ]
        ranked = with_beside(ranked, list({one.memory.id: one for one in beside}.values()))
        trace = dict(found.trace)
        if self._summariser is not None:
            ranked, lengths = self._summariser.shortened(ranked)
            trace |= {"summarised": lengths} if lengths else {}
            self._forget_changed(found.results)
        layout = self._setup.context
        write = layout.write_newest if found.by_time else layout.write
        fitting, text = write(ranked, budget)
        results = tuple(by_id[one.memory.id] for one in fitting if not one.beside)
        self._touch(results, asked)
        return MemoryContext(
            text=text,
            tokens=count_tokens(text),
            results=results,
            relations=tuple(one.memory.content for one in fitting if one.beside),
            trace=trace,
        )

    def _forget_changed(self, results: Sequence[SearchResult]) -> None:
        """Delete the summaries of those of `results` that were deleted or rewritten while the model
        was asked.
        """
        assert self._summariser is not None  # noqa: S101 - for the type checker
        with self._writer.lock:
            stored = self._writer.database.of([one.id for one in results])
        there = {one.memory for one in stored.values()}
        self._summariser.forget(one.memory for one in results if one.memory not in there)

    def _touch(self, results: Sequence[SearchResult], asked: Request) -> None:
        if results:
            database = self._writer.database
            with self._writer.lock, database.writing():
                database.touch([one.id for one in results], asked.time)
