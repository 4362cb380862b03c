"""Common part of the two Qdrant stores: owners and ids as points, and the store's protocol."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from threading import RLock
from typing import Any, NamedTuple
from uuid import NAMESPACE_OID, uuid5

import numpy as np

from memsys.core.types import Vectors
from memsys.stores.vectors import Near, best, checked

BATCH = 500  # points per request: a few megabytes at 384 dimensions
PAGE = 1000  # points per page of a list


class Point(NamedTuple):
    """One vector, shape (d,), with its owner and id; `point` is its UUID in the engine."""

    point: str
    owner: str
    id: str
    row: Vectors


class QdrantPoints(ABC):
    """Most of a VectorStore over an engine with one collection for all owners.

    Searches are exact and filtered by owner. The first `put` creates the collection, with the dot
    product, which leaves vectors unchanged; for unit vectors it is the cosine.
    """

    def __init__(self) -> None:
        self._lock = RLock()  # a run asks from several threads

    def put(self, owner: str, ids: Sequence[str], vectors: Vectors) -> None:
        """See VectorStore."""
        with self._lock:
            if not ids:
                return
            dimension = self._dimension()
            rows = checked(vectors, len(ids), dimension, "vector_store")
            if dimension is None:
                self._create(rows.shape[1])
            last = dict(zip(ids, rows, strict=True))
            points = [Point(point_of(owner, id_), owner, id_, row) for id_, row in last.items()]
            for start in range(0, len(points), BATCH):
                self._upsert(points[start : start + BATCH])

    def drop(self, owner: str, ids: Collection[str]) -> None:
        """See VectorStore."""
        with self._lock:
            points = [point_of(owner, id_) for id_ in ids]
            if points and self._dimension() is not None:
                self._delete(owner, points)

    def nearest(
        self, owner: str, vector: Vectors, most: int, among: Collection[str] | None = None
    ) -> list[Near]:
        """See VectorStore."""
        with self._lock:
            dimension = self._dimension()
            query = checked(vector[None], 1, dimension, "vector_store")[0]
            points = None if among is None else [point_of(owner, id_) for id_ in among]
            if dimension is None or points == []:
                return []

            def fetch(wanted: int) -> tuple[list[str], Vectors]:
                hits = self._search(owner, query, wanted, points)
                rows = np.array([hit.vector for hit in hits], dtype=np.float32)
                return [hit.payload["id"] for hit in hits], rows

            return best(fetch, query, most)

    def ids(self, owner: str) -> list[str]:
        """See VectorStore."""
        with self._lock:
            ids: list[str] = []
            offset, is_last = None, self._dimension() is None
            while not is_last:
                page, offset = self._page(owner, offset)
                ids += [hit.payload["id"] for hit in page]
                is_last = offset is None
            return sorted(ids)

    def clear(self, owner: str) -> None:
        """See VectorStore."""
        with self._lock:
            if self._dimension() is not None:
                self._delete(owner, None)

    @abstractmethod
    def _dimension(self) -> int | None:
        """Return the dimension of the collection; None if there is none yet."""

    @abstractmethod
    def _create(self, dimension: int) -> None: ...

    @abstractmethod
    def _upsert(self, points: Sequence[Point]) -> None: ...

    @abstractmethod
    def _delete(self, owner: str, points: Sequence[str] | None) -> None: ...

    @abstractmethod
    def _search(self, owner: str, query: Vectors, most: int, points: Sequence[str] | None) -> Any:
        """Return the engine's `most` best of `points` (None: all), each with payload and vector."""

    @abstractmethod
    def _page(self, owner: str, offset: Any) -> Any:
        """Return a pair: up to PAGE points from `offset` on, and the next offset or None."""


def point_of(owner: str, id_: str) -> str:
    """Return the UUID of an owner's id: Qdrant names points by number or UUID only."""
    # The length of the owner makes the joined text unambiguous.
    return str(uuid5(NAMESPACE_OID, f"{len(owner)} {owner}{id_}"))
