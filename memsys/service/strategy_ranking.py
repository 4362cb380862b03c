"""Search by the strategies that were benchmarked, over stores that follow an owner's memories."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

from memsys.core.types import Candidate, Query, Vectors
from memsys.graph.score import Connectivity, GraphStatistics, connectivity
from memsys.graph.store import ENTITY
from memsys.service.arguments import Owner
from memsys.service.relations import RelationMemory
from memsys.service.results import MemoryRecord, SearchResult
from memsys.service.setup import Relevance, Setup, StrategySetup
from memsys.service.writing import Writer
from memsys.strategies.plain import FullContext
from memsys.strategies.store import Parts, Store
from memsys.strategies.strategy import Strategy

_STORES = 64  # stores cached, one per owner and filter
_Accesses = Mapping[str, tuple[int, datetime | None]]  # by memory id: number, time of the last


class Found(NamedTuple):
    """What a search found: results, best first, or `by_time`, oldest first; the relations shown
    beside them; and the strategy's decision.
    """

    results: Sequence[SearchResult]
    beside: Sequence[Candidate] = ()
    trace: Mapping[str, Any] = MappingProxyType({})
    by_time: bool = False


class StrategyRanker:
    """Ranks an owner's memories by a strategy. Stores are cached, with their graphs, until a memory
    that they contain changes. Thread-safe; the lock of the database is not held while a strategy
    ranks, because it may ask a model.
    """

    def __init__(
        self, setup: Setup, strategy: StrategySetup, writer: Writer, relations: RelationMemory
    ) -> None:
        """Raises InputError like StrategySetup.open."""
        self._setup, self._database, self._lock = strategy, writer.database, writer.lock
        self._relations = relations if relations.links else None
        start = strategy.make.keywords.get("start") if strategy.make.func is Relevance else None
        self._reads_vectors = start != "lexical"
        self._parts = Parts(
            memory=setup.builder,
            embedder=writer.embedder,
            context=setup.context,
            # A score of every memory is needed, which an approximate index does not give.
            index=replace(setup.index, vectors="exact") if start else setup.index,
            graph=relations.linking([]) if relations.links else strategy.graph,
            llm=setup.llm,
        )
        self._cached: dict[str, _Cached] = {}
        strategy.open(self._parts, setup.k)  # shows an invalid setting before the first search

    def rank(
        self, query: str, owner: Owner, filters: Mapping[str, Any], k: int, now: datetime
    ) -> Found:
        """Return at most `k` memories with their scores, in the strategy's order. The newest k of
        full_context, oldest first.
        """
        with self._lock:
            cached = self._current_store(owner, filters)
            if not cached.state:
                if self._reads_vectors:
                    self._parts.embedder.query(query)  # the first search loads the model
                return Found([])
            strategy = cached.strategies.get(k)
            if strategy is None:
                strategy = cached.strategies[k] = self._setup.open(self._parts, k)
                strategy.store = cached.store
        ranked, trace = strategy.rank(Query("", query, "", now))
        by_time = isinstance(strategy, FullContext)
        direct = [hit for hit in ranked if not hit.beside]
        ids = [state[0] for state in cached.state]
        traces, decision = _by_memory(trace, ids)
        best = [(ids[int(hit.memory.id)], hit) for hit in (direct[-k:] if by_time else direct[:k])]
        with self._lock:
            records = self._database.of([id_ for id_, _ in best])  # accesses as they are now
        results = [
            SearchResult.of(records[id_], hit.score, hit.origin, traces.get(id_, {}))
            for id_, hit in best
            if id_ in records
        ]
        return Found(results, [hit for hit in ranked if hit.beside], decision, by_time)

    def _current_store(self, owner: Owner, filters: Mapping[str, Any]) -> _Cached:
        """Return the store of the owner's memories; a new one if any of them has changed."""
        key = repr((owner, sorted(filters.items(), key=repr)))
        cached, relations, parts = self._cached.get(key), self._relations, self._parts
        linked = relations.parts(owner) if relations else []
        if cached is not None and (cached.last, cached.linked) == (self._database.last, linked):
            return cached
        with self._database.writing():  # no process changes a record before its vector is read
            last = self._database.last
            records = self._database.owned(owner, filters)
            state = [(row.id, row.updated, row.index_text) for row in records]
            if cached is not None and (cached.state, cached.linked) == (state, linked):
                cached.last = last  # others' memories changed
                return cached
            reads = records and self._reads_vectors
            vectors = self._database.vectors_of([row.id for row in records]) if reads else None
        if relations is not None:
            parts = replace(parts, graph=relations.linking([part_key for part_key, _ in linked]))
        store = RecordStore(parts, records, vectors, self._accesses)
        if relations is not None and records:
            _ = store.graph  # built while no relation can be deleted
        self._cached.pop(key, None)
        while len(self._cached) >= _STORES:
            self._cached.pop(next(iter(self._cached)))
        self._cached[key] = _Cached(last, state, linked, store)
        return self._cached[key]

    def _accesses(self, ids: Sequence[str]) -> _Accesses:
        with self._lock:
            return self._database.accesses(ids)


class RecordStore(Store):
    """The store of a strategy over stored memories: their vectors are not computed again, and the
    accesses are those of searches, not the mentions that stand for them in a benchmark. The id of a
    memory is its place, so that of equal ones the oldest is first, as it is in a conversation.
    """

    def __init__(
        self,
        parts: Parts,
        records: Sequence[MemoryRecord],
        vectors: Vectors | None,
        accesses: Callable[[Sequence[str]], _Accesses],
    ) -> None:
        """`vectors`: of the records, shape (n, d); None without records, or if none is read."""
        super().__init__(parts)
        self._accesses, self._ids = accesses, [record.id for record in records]
        self.add([record.as_memory(f"{place:09}") for place, record in enumerate(records)])
        if vectors is not None:
            self._insert(vectors)

    @property
    def statistics(self) -> list[GraphStatistics]:
        """See Store.statistics; the accesses are read anew."""
        accesses = self._accesses(self._ids)
        statistics = []
        for id_, memory, around in zip(self._ids, self.memories, self._connectivity, strict=True):
            count, last = accesses.get(id_, (0, None))
            statistics.append(GraphStatistics(around, count, last or memory.time))
        return statistics

    @cached_property
    def _connectivity(self) -> list[Connectivity]:
        return connectivity(self.graph, self.memories)


@dataclass(slots=True)
class _Cached:
    """A store with the number of the last change that it has seen; of its memories id, time of
    update and text for words (from which `erase` takes deleted ones), and the parts of the
    relations that link them; strategies over it by k.
    """

    last: int
    state: list[tuple[str, datetime, str]]
    linked: list[tuple[str, int]]
    store: Store
    strategies: dict[int, Strategy] = field(default_factory=dict)


def _by_memory(
    trace: Mapping[str, Any], ids: Sequence[str]
) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Return what the `trace` of a strategy says of single memories, by id, and the rest. `ids`: of
    the store's memories, by place.
    """
    rest, traces = dict(trace), defaultdict[str, dict[str, Any]](dict)
    for path in rest.pop("expansion", ()):
        memory, seed = (ids[int(path[name])] for name in ("memory", "seed"))
        named = {"seed": seed, "via": path["via"].removeprefix(ENTITY)}
        more = {name: value for name, value in path.items() if name not in ("memory", *named)}
        traces[memory]["path"] = named | more
    scored = rest.pop("memory_score", {"terms": (), "of": {}})
    for place, values in scored["of"].items():
        traces[ids[int(place)]] |= dict(zip(scored["terms"], values, strict=True))
    return dict(traces), rest
