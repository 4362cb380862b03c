"""Common part of the two Qdrant stores: owners and ids as points, and the store's protocol."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from threading import RLock
from typing import NamedTuple
from uuid import NAMESPACE_OID, uuid5

from memsys.stores.exact import best, checked
from memsys.stores.vectors import Near
from memsys.types import Vectors

BATCH = 500  # points per request: a few megabytes at 384 dimensions


class Point(NamedTuple):
    """One vector, shape (d,), with its owner and id; `point` is its UUID in the engine."""

    point: str
    owner: str
    id: str
    row: Vectors


class QdrantPoints(ABC):
    """A VectorStore over an engine with one collection for all owners.

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
                self._delete(points)

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
            return best(lambda n: self._search(owner, query, n, points), query, most)

    def ids(self, owner: str) -> list[str]:
        """See VectorStore."""
        with self._lock:
            return [] if self._dimension() is None else sorted(self._ids(owner))

    def clear(self, owner: str) -> None:
        """See VectorStore."""
        with self._lock:
            if self._dimension() is not None:
                self._delete_owner(owner)

    @abstractmethod
    def close(self) -> None:
        """See VectorStore."""

    @abstractmethod
    def _dimension(self) -> int | None:
        """Return the dimension of the collection; None if there is none yet."""

    @abstractmethod
    def _create(self, dimension: int) -> None: ...

    @abstractmethod
    def _upsert(self, points: Sequence[Point]) -> None: ...

    @abstractmethod
    def _delete(self, points: Sequence[str]) -> None: ...

    @abstractmethod
    def _delete_owner(self, owner: str) -> None: ...

    @abstractmethod
    def _search(
        self, owner: str, query: Vectors, most: int, points: Sequence[str] | None
    ) -> tuple[list[str], Vectors]:
        """Return ids and vectors, shape (up to most, d), of the engine's `most` best."""

    @abstractmethod
    def _ids(self, owner: str) -> list[str]: ...


def point_of(owner: str, id_: str) -> str:
    """Return the UUID of an owner's id: Qdrant names points by number or UUID only."""
    # The length of the owner makes the joined text unambiguous.
    return str(uuid5(NAMESPACE_OID, f"{len(owner)} {owner}{id_}"))
