"""Search: relevance as it was benchmarked and, where asked for, what else speaks for a memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

import numpy as np

from memsys.errors import InputError
from memsys.graph.score import access_frequency, recency
from memsys.index.lexical import LexicalIndex, SparseLexicalIndex
from memsys.index.rank import IndexSettings, Scores, Start, check_start, convex, min_max
from memsys.service.follow import Follower
from memsys.service.ledger import Ledger
from memsys.service.records import Found, Owner, Record
from memsys.stores.vectors import Near
from memsys.types import Vectors

_SPARE = 8  # beyond those wanted, to see whether equals follow
_INDEXES = 64  # lexical indexes that are held, one an owner and filter


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Of the terms of a score: relevance, access frequency (log-scaled, cap 100), recency
    exp(-decay days since the last access, or the memory's time) and importance, each 0 to 1 but for
    a cosine, which may be negative. The `pool` most relevant are weighed.

    The formulas are those of strategy=graph_score without its graph (memsys.graph.score).
    """

    relevance: float = 1.0
    access: float = 0.0
    recency: float = 0.0
    importance: float = 0.0
    decay_per_day: float = 0.01
    pool: int = 50

    def __post_init__(self) -> None:
        """Raises InputError on a value below 0 (`pool`: 1)."""
        for field in fields(self):
            value = getattr(self, field.name)
            if not isinstance(value, int | float) or not value >= (field.name == "pool"):
                raise InputError(f"weights.{field.name}: {value!r}; use a number of 0 or more")

    @property
    def plain(self) -> bool:
        """Whether relevance alone counts."""
        return not (self.access or self.recency or self.importance)


class Ranker:
    """Ranks the memories of an owner. Not safe for several threads."""

    def __init__(
        self,
        ledger: Ledger,
        follower: Follower,
        index: IndexSettings,
        start: Start,
        weights: Weights,
    ) -> None:
        """Raises InputError on an unknown start."""
        check_start(start)
        self._ledger, self._follower = ledger, follower
        self._index, self._start, self._weights = index, start, weights
        self._lexical: dict[str, tuple[int, LexicalIndex | SparseLexicalIndex, list[Record]]] = {}

    @property
    def wants_vector(self) -> bool:
        """Whether queries have to be embedded."""
        return self._start != "lexical"

    def search(
        self,
        query: str,
        vector: Vectors | None,
        owner: Owner,
        filters: Mapping[str, Any],
        top_k: int,
        now: datetime,
    ) -> list[Found]:
        """The `top_k` best for `query` and its `vector`, shape (d,), best first; of equals the
        older first.
        """
        self._follower.catch_up()
        weights = self._weights
        wanted = top_k if weights.plain else max(top_k, weights.pool)
        if self._start == "vector":
            assert vector is not None  # noqa: S101 - for the type checker
            pool = self._by_vector(vector, owner, filters, wanted)
        else:
            pool = self._by_word(query, vector, owner, filters, wanted)
        found = [Found(one, self._score(one, relevance, now), relevance) for one, relevance in pool]
        return sorted(found, key=lambda one: -one.score)[:top_k]

    def similar(self, vector: Vectors, among: Sequence[Record], most: int) -> list[Record]:
        """The `most` of `among`, all of one owner, with the highest cosine to `vector`."""
        if not among:
            return []
        self._follower.catch_up()
        by_id = {one.id: one for one in among}
        near = self._follower.nearest(among[0].owner.shelf, vector, most, list(by_id))
        return [by_id[id_] for id_, _ in near]

    def _score(self, record: Record, relevance: float, now: datetime) -> float:
        weights, last = self._weights, record.accessed or record.time
        return (
            weights.relevance * relevance
            + weights.access * access_frequency(record.accesses)
            + weights.recency * recency(last, now, weights.decay_per_day)
            + weights.importance * record.importance
        )

    def _by_vector(
        self, vector: Vectors, owner: Owner, filters: Mapping[str, Any], wanted: int
    ) -> list[tuple[Record, float]]:
        among: list[str] | None = None
        if filters or set(owner.named) != {"user_id"}:  # else the shelf is the owner's alone
            among = [one.id for one in self._ledger.owned(owner, filters)]
        shelves = [owner.shelf] if owner.user_id is not None else self._ledger.shelves(owner)
        near = self._near(vector, shelves, among, wanted)
        records = self._ledger.of([id_ for id_, _ in near])
        order = self._ledger.order(records)
        near = sorted(
            (one for one in near if one.id in records),
            key=lambda one: (-one.cosine, order[one.id]),
        )
        return [(records[id_], cosine) for id_, cosine in near[:wanted]]

    def _near(
        self, vector: Vectors, shelves: Sequence[str], among: list[str] | None, wanted: int
    ) -> list[Near]:
        """The `wanted` nearest and those as near as the last of them."""
        asked = wanted + _SPARE
        while True:
            found = [self._follower.nearest(s, vector, asked, among) for s in shelves]
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
    ) -> list[tuple[Record, float]]:
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
        fresh = self._ledger.of([records[row].id for row in best])  # accesses as they are now
        return [
            (fresh[records[row].id], float(relevance[row]))
            for row in best
            if records[row].id in fresh
        ]

    def _cosines(self, vector: Vectors, owner: Owner, records: Sequence[Record]) -> Scores:
        shelves = [owner.shelf] if owner.user_id is not None else self._ledger.shelves(owner)
        ids = [one.id for one in records]
        found = [self._follower.nearest(s, vector, len(ids), ids) for s in shelves]
        by_id = {id_: cosine for some in found for id_, cosine in some}
        return np.array([by_id.get(id_, 0.0) for id_ in ids], dtype=np.float64)

    def _index_of(
        self, owner: Owner, filters: Mapping[str, Any]
    ) -> tuple[LexicalIndex | SparseLexicalIndex | None, list[Record]]:
        """BM25 over the owner's memories, made anew where anything was changed since."""
        key, last = repr((owner, sorted(filters.items(), key=repr))), self._ledger.last
        known = self._lexical.get(key)
        if known is None or known[0] != last:
            records = self._ledger.owned(owner, filters)
            if not records:
                return None, []
            texts = [one.index_text for one in records]
            while len(self._lexical) >= _INDEXES:
                self._lexical.pop(next(iter(self._lexical)))
            kind = LexicalIndex if self._index.lexical == "rank_bm25" else SparseLexicalIndex
            known = last, kind(texts, self._index.k1, self._index.b), records
            self._lexical[key] = known
        return known[1], known[2]
