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
        ranking, relations = self._find(asked)
        results = [row for row in ranking.results if threshold is None or row.score >= threshold]
        self._touch(results, asked.time)
        return Rows(results, relations, ranking.trace)

    def context(self, asked: Request, budget: int | None) -> MemoryContext:
        """Return what is found as text of at most `budget` tokens; see Memory.context."""
        ranking, relations = self._find(asked)
        related = [Candidate(edge.memory, edge.score, "expanded", True) for edge in relations]
        beside = {candidate.memory.id: candidate for candidate in (*ranking.beside, *related)}
        by_id = {row.id: row for row in ranking.results}
        ranked: Sequence[Candidate] = [
            Candidate(row.as_memory(row.id), row.score, row.origin) for row in ranking.results
        ]
        ranked, trace = with_beside(ranked, list(beside.values())), dict(ranking.trace)
        if self._summariser is not None:
            ranked, lengths = self._summariser.shortened(ranked)
            trace |= {"summarised": lengths} if lengths else {}
            with self._writer.lock:
                stored = self._writer.database.of(list(by_id))
            left = {row.memory for row in stored.values()}  # still, after the model was asked
            self._summariser.forget(row.memory for row in ranking.results if row.memory not in left)
        layout = self._setup.context
        write = layout.write_newest if ranking.by_time else layout.write
        fitting, text = write(ranked, budget)
        results = tuple(by_id[item.memory.id] for item in fitting if not item.beside)
        self._touch(results, asked.time)
        return MemoryContext(
            text=text,
            tokens=count_tokens(text),
            results=results,
            relations=tuple(item.memory.content for item in fitting if item.beside),
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
            ranking = self._by_strategy.rank(query, owner, filters, wanted, time)
        else:
            ranking = Found(self._by_vector(query, owner, filters, wanted))
        rows = [row.model_copy(update={"score": self._score(row, time)}) for row in ranking.results]
        best = sorted(rows, key=lambda row: -row.score)[:most]
        ranking = ranking._replace(results=best, by_time=ranking.by_time and weights.plain)
        related = self._relations.finds_beside if asked.enable_graph is None else asked.enable_graph
        return ranking, self._relations.find(query, owner) if related else ()

    def _score(self, result: SearchResult, now: datetime) -> float:
        weights, last = self._setup.weights, result.time
        if result.accessed is not None and result.accessed <= now:  # none that `now` cannot know
            last = result.accessed
        return (
            weights.relevance * result.relevance
            + weights.access * access_frequency(result.accesses)
            + weights.recency * recency(last, now, weights.decay_per_day)
            + weights.importance * result.importance
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
                among = [record.id for record in database.owned(owner, filters)]
            near = self._nearest(vector, database.shelves(owner), among, wanted)
            records = database.of([hit.id for hit in near])
        oldest_first = {id_: place for place, id_ in enumerate(records)}
        near = [hit for hit in near if hit.id in records]
        near.sort(key=lambda hit: (-hit.cosine, oldest_first[hit.id]))
        return [SearchResult.of(records[id_], cosine) for id_, cosine in near[:wanted]]

    def _nearest(
        self, vector: Vectors, shelves: Sequence[str], among: list[str] | None, wanted: int
    ) -> list[Near]:
        """Return the `wanted` nearest and all that tie with the last of them."""
        asked = wanted + _SPARE
        while True:
            rankings = [self._writer.vectors.nearest(s, vector, asked, among) for s in shelves]
            near = sorted((hit for some in rankings for hit in some), key=lambda hit: -hit.cosine)
            cut = max((some[-1].cosine for some in rankings if len(some) == asked), default=-2.0)
            if len(near) <= wanted or near[wanted - 1].cosine > cut or cut == -2.0:
                return near
            asked *= 4

    def _touch(self, results: Sequence[SearchResult], time: datetime) -> None:
        """Count an access of each of `results`."""
        if results:
            with self._writer.lock, self._writer.database.writing():
                self._writer.database.touch([result.id for result in results], time)
