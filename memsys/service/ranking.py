"""Search: relevance as benchmarked, optionally weighted with access, recency and importance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from threading import RLock
from typing import Any

import numpy as np

from memsys.core.declared import Count, Weight, check_fields
from memsys.core.errors import InputError
from memsys.core.types import Vectors
from memsys.graph.score import access_frequency, recency
from memsys.index.lexical import LexicalIndex, SparseLexicalIndex
from memsys.index.rank import IndexSettings, Scores, Start, check_start, convex, min_max
from memsys.service.database import MemoryDatabase
from memsys.service.owners import Owner
from memsys.service.results import Hit, MemoryRecord, SearchResult
from memsys.service.strategy_ranking import Found, Ranked, StrategyRanker
from memsys.service.vector_sync import VectorSync
from memsys.stores.vectors import Near

_SPARE = 8  # further results, to detect ties with the last one
_INDEXES = 64  # lexical indexes cached, one per owner and filter

_Lexical = LexicalIndex | SparseLexicalIndex


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchWeights:
    """Weights of the terms of a score: relevance, access frequency (log-scaled, cap 100), recency
    exp(-decay * days since the last access, or since the memory's time) and importance. Each term
    is 0 to 1, except relevance: a cosine may be negative, and auto has no upper end.
    Only the `pool` most relevant are weighted.

    The formulas are those of strategy=graph_score without its graph (memsys.graph.score).
    """

    relevance: Weight = 1.0
    access: Weight = 0.0
    recency: Weight = 0.0
    importance: Weight = 0.0
    decay_per_day: Weight = 0.01
    pool: Count = 50

    def __post_init__(self) -> None:
        """Raises InputError on a value out of range."""
        check_fields(self, "weights")

    @property
    def plain(self) -> bool:
        """Whether relevance is the only term."""
        return not (self.access or self.recency or self.importance)


class Ranker:
    """Ranks the memories of an owner. Thread-safe; `lock` is that of the database."""

    def __init__(
        self,
        database: MemoryDatabase,
        vectors: VectorSync,
        index: IndexSettings,
        start: Start,
        weights: SearchWeights,
        lock: RLock,
        by_strategy: StrategyRanker | None = None,
    ) -> None:
        """`by_strategy`: ranks in place of `start`. Raises InputError on an unknown start, and on
        "fusion", which strategy=fusion ranks by.
        """
        check_start(start)
        if start == "fusion" and by_strategy is None:
            raise InputError("start: fusion needs a store of memories; set strategy=fusion")
        self._database, self._vectors, self._lock = database, vectors, lock
        self._by_strategy = by_strategy
        self._index, self._start, self._weights = index, start, weights
        self._lexical: dict[str, tuple[int, _Lexical, list[MemoryRecord]]] = {}

    @property
    def wants_vector(self) -> bool:
        """Whether `search` needs the query's vector."""
        return self._by_strategy is None and self._start != "lexical"

    def search(
        self,
        query: str,
        vector: Vectors | None,
        owner: Owner,
        filters: Mapping[str, Any],
        top_k: int,
        now: datetime,
    ) -> Found:
        """Return the `top_k` best memories for `query` and its `vector`, shape (d,), best first;
        among equal scores the oldest comes first, or the strategy's order remains.
        """
        weights = self._weights
        wanted = top_k if weights.plain else max(top_k, weights.pool)
        ranked = Ranked([])
        if self._by_strategy is not None:
            ranked = self._by_strategy.rank(query, owner, filters, wanted, now)
        else:
            with self._lock:
                self._vectors.catch_up()
                if self._start == "vector":
                    assert vector is not None  # noqa: S101 - for the type checker
                    pool = self._by_vector(vector, owner, filters, wanted)
                else:
                    pool = self._by_word(query, vector, owner, filters, wanted)
            ranked = Ranked([Hit(record, value) for record, value in pool])
        found = [SearchResult.of(one, self._score(one, now)) for one in ranked.hits]
        best = sorted(found, key=lambda one: -one.score)[:top_k]
        return Found(best, ranked.beside, ranked.trace, ranked.by_time and weights.plain)

    def similar(
        self, vector: Vectors, among: Sequence[MemoryRecord], most: int
    ) -> list[tuple[MemoryRecord, float]]:
        """Return the `most` of `among` with the highest cosine to `vector`, and that cosine."""
        self._vectors.catch_up()
        by_id = {one.id: one for one in among}
        shelves = dict.fromkeys(one.owner.shelf for one in among)
        found = [self._vectors.nearest(s, vector, most, list(by_id)) for s in shelves]
        near = sorted((one for some in found for one in some), key=lambda one: -one.cosine)
        return [(by_id[id_], cosine) for id_, cosine in near[:most]]

    def _score(self, hit: Hit, now: datetime) -> float:
        weights, record = self._weights, hit.record
        last = record.time
        if record.accessed is not None and record.accessed <= now:  # none that `now` cannot know
            last = record.accessed
        return (
            weights.relevance * hit.score
            + weights.access * access_frequency(record.accesses)
            + weights.recency * recency(last, now, weights.decay_per_day)
            + weights.importance * record.importance
        )

    def _by_vector(
        self, vector: Vectors, owner: Owner, filters: Mapping[str, Any], wanted: int
    ) -> list[tuple[MemoryRecord, float]]:
        among: list[str] | None = None
        if filters or set(owner.named) != {"user_id"}:  # else all of the shelf is the owner's
            among = [one.id for one in self._database.owned(owner, filters)]
        near = self._near(vector, self._database.shelves(owner), among, wanted)
        records = self._database.of([id_ for id_, _ in near])
        oldest_first = {id_: place for place, id_ in enumerate(records)}
        near = [one for one in near if one.id in records]
        near.sort(key=lambda one: (-one.cosine, oldest_first[one.id]))
        return [(records[id_], cosine) for id_, cosine in near[:wanted]]

    def _near(
        self, vector: Vectors, shelves: Sequence[str], among: list[str] | None, wanted: int
    ) -> list[Near]:
        """Return the `wanted` nearest and all that tie with the last of them."""
        asked = wanted + _SPARE
        while True:
            found = [self._vectors.nearest(s, vector, asked, among) for s in shelves]
            near = sorted((one for some in found for one in some), key=lambda one: -one.cosine)
            cut = max((some[-1].cosine for some in found if len(some) == asked), default=-2.0)
            if len(near) <= wanted or near[wanted - 1].cosine > cut or cut == -2.0:
                return near
            asked *= 4

    def _by_word(
        self,
        query: str,
        vector: Vectors | None,
        owner: Owner,
        filters: Mapping[str, Any],
        wanted: int,
    ) -> list[tuple[MemoryRecord, float]]:
        lexical, records = self._index_of(owner, filters)
        if lexical is None:
            return []
        scores = lexical.scores(query)
        if self._start == "hybrid":
            assert vector is not None  # noqa: S101 - for the type checker
            cosines = self._cosines(vector, owner, records)
            relevance = convex(cosines, scores, self._index.alpha)
        else:
            relevance = min_max(scores)
        best = np.argsort(-relevance, kind="stable")[:wanted]
        rated = [(records[row].id, float(relevance[row])) for row in best]
        fresh = self._database.of([id_ for id_, _ in rated])  # accesses as they are now
        return [(fresh[id_], value) for id_, value in rated if id_ in fresh]

    def _cosines(self, vector: Vectors, owner: Owner, records: Sequence[MemoryRecord]) -> Scores:
        shelves = self._database.shelves(owner)
        ids = [one.id for one in records]
        found = [self._vectors.nearest(s, vector, len(ids), ids) for s in shelves]
        by_id = {id_: cosine for some in found for id_, cosine in some}
        return np.array([by_id.get(id_, 0.0) for id_ in ids], dtype=np.float64)

    def _index_of(
        self, owner: Owner, filters: Mapping[str, Any]
    ) -> tuple[_Lexical | None, list[MemoryRecord]]:
        """Return BM25 over the owner's memories, rebuilt after any change."""
        key, last = repr((owner, sorted(filters.items(), key=repr))), self._database.last
        cached = self._lexical.get(key)
        if cached is None or cached[0] != last:
            records = self._database.owned(owner, filters)
            if not records:
                return None, []
            texts = [one.index_text for one in records]
            while len(self._lexical) >= _INDEXES:
                self._lexical.pop(next(iter(self._lexical)))
            kind = LexicalIndex if self._index.lexical == "rank_bm25" else SparseLexicalIndex
            cached = last, kind(texts, self._index.k1, self._index.b), records
            self._lexical[key] = cached
        return cached[1], cached[2]
