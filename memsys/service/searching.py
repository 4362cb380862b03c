"""Search: relevance as benchmarked, optionally weighted with access, recency and importance; and
the text that puts what is found before a model.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from memsys.core.errors import check_whole
from memsys.core.tokens import count_tokens
from memsys.core.types import Candidate, Vectors
from memsys.graph.score import access_frequency, recency
from memsys.service.arguments import Owner, narrowed
from memsys.service.relations import RelationMemory
from memsys.service.results import FoundRelation, MemoryContext, Rows, SearchResult
from memsys.service.setup import Setup
from memsys.service.strategy_ranking import Found, StrategyRanker
from memsys.service.writing import Writer
from memsys.stores.vectors import Near
from memsys.strategies.strategy import with_beside

_SPARE = 8  # further results, to detect ties with the last one


class Request(NamedTuple):
    """The arguments of Memory.search and Memory.context that are alike."""

    query: str
    owner: Owner
    filters: Mapping[str, Any] | None
    top_k: int | None
    time: datetime
    enable_graph: bool | None


class Searcher:
    """Searches memories and relations, and writes contexts. Thread-safe."""

    def __init__(self, setup: Setup, writer: Writer, relations: RelationMemory) -> None:
        """Raises InputError if a setting of the strategy cannot be used, or if the context has to
        be summarised without a model.
        """
        self._setup, self._writer, self._relations = setup, writer, relations
        self._by_strategy: StrategyRanker | None = None
        if setup.strategy is not None:
            self._by_strategy = StrategyRanker(setup, setup.strategy, writer, relations)
        self._summariser = setup.context.summariser(setup.llm)
        if self._summariser is not None:
            writer.on_removal = self._summariser.forget

    def search(self, asked: Request, threshold: float | None) -> Rows[SearchResult]:
        """Return what is found, best first, with a score of `threshold` or more."""
        found, relations = self._find(asked)
        results = [one for one in found.results if threshold is None or one.score >= threshold]
        self._touch(results, asked.time)
        return Rows(results, relations, found.trace)

    def context(self, asked: Request, budget: int | None) -> MemoryContext:
        """Return what is found as text of at most `budget` tokens; see Memory.context."""
        found, relations = self._find(asked)
        related = [Candidate(one.memory, one.score, "expanded", True) for one in relations]
        beside = {one.memory.id: one for one in (*found.beside, *related)}
        by_id = {one.id: one for one in found.results}
        ranked: Sequence[Candidate] = [
            Candidate(one.as_memory(one.id), one.score, one.origin) for one in found.results
        ]
        ranked, trace = with_beside(ranked, list(beside.values())), dict(found.trace)
        if self._summariser is not None:
            ranked, lengths = self._summariser.shortened(ranked)
            trace |= {"summarised": lengths} if lengths else {}
            with self._writer.lock:
                stored = self._writer.database.of(list(by_id))
            there = {one.memory for one in stored.values()}  # still, after the model was asked
            self._summariser.forget(one.memory for one in found.results if one.memory not in there)
        layout = self._setup.context
        write = layout.write_newest if found.by_time else layout.write
        fitting, text = write(ranked, budget)
        results = tuple(by_id[one.memory.id] for one in fitting if not one.beside)
        self._touch(results, asked.time)
        return MemoryContext(
            text=text,
            tokens=count_tokens(text),
            results=results,
            relations=tuple(one.memory.content for one in fitting if one.beside),
            trace=trace,
        )

    def _find(self, asked: Request) -> tuple[Found, Sequence[FoundRelation]]:
        """Return the best memories, best first, and the relations found beside them. Among equal
        scores the oldest comes first, or the strategy's order remains.
        """
        query, time = asked.query, asked.time
        owner, filters = narrowed(asked.owner, asked.filters)
        most = check_whole("top_k", self._setup.k if asked.top_k is None else asked.top_k)
        weights = self._setup.weights
        wanted = most if weights.plain else max(most, weights.pool)
        if self._by_strategy is not None:
            found = self._by_strategy.rank(query, owner, filters, wanted, time)
        else:
            found = Found(self._by_vector(query, owner, filters, wanted))
        scored = [one.model_copy(update={"score": self._score(one, time)}) for one in found.results]
        best = sorted(scored, key=lambda one: -one.score)[:most]
        found = found._replace(results=best, by_time=found.by_time and weights.plain)
        related = self._relations.beside if asked.enable_graph is None else asked.enable_graph
        return found, self._relations.find(query, owner) if related else ()

    def _score(self, one: SearchResult, now: datetime) -> float:
        weights, last = self._setup.weights, one.time
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

    def _touch(self, results: Sequence[SearchResult], time: datetime) -> None:
        """Count an access of each of `results`."""
        if results:
            with self._writer.lock, self._writer.database.writing():
                self._writer.database.touch([one.id for one in results], time)
