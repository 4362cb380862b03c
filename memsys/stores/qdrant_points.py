"""What the two Qdrant stores share: owners and ids as points, and the protocol on top of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from threading import RLock
from typing import NamedTuple
from uuid import NAMESPACE_OID, uuid5

from memsys.stores.exact import best, checked
from memsys.stores.vectors import Near
from memsys.types import Vectors

BATCH = 500  # points a request: a few megabytes at 384 dimensions


class Kept(NamedTuple):
    """One vector, shape (d,), with all that is kept of it; `point` is its UUID in the engine."""

    point: str
    owner: str
    id: str
    row: Vectors


class QdrantPoints(ABC):
    """The protocol, given an engine with one collection for all owners.

    Searches are exact and asked for owner by owner. The collection is made by the first `put`,
    with the dot product, which leaves vectors as they are; of unit vectors it is the cosine.
    """

    def __init__(self) -> None:
        self._lock = RLock()  # a run asks from several threads

    def put(self, owner: str, ids: Sequence[str], vectors: Vectors) -> None:
        """Keep `vectors`, shape (len(ids), d); of an id that comes twice, the last.

        Raises InputError where d is not that of the store.
        """
        with self._lock:
            if not ids:
                return
            dimension = self._dimension()
            rows = checked(vectors, len(ids), dimension, "vector_store")
            if dimension is None:
                self._create(rows.shape[1])
            last = dict(zip(ids, rows, strict=True))
            kept = [Kept(point_of(owner, id_), owner, id_, row) for id_, row in last.items()]
            for start in range(0, len(kept), BATCH):
                self._upsert(kept[start : start + BATCH])

    def drop(self, owner: str, ids: Collection[str]) -> None:
        """Forget `ids`; unknown ones are passed over."""
        with self._lock:
            points = [point_of(owner, id_) for id_ in ids]
            if points and self._dimension() is not None:
                self._delete(points)

    def nearest(
        self, owner: str, vector: Vectors, most: int, among: Collection[str] | None = None
    ) -> list[Near]:
        """The `most` ids with the highest cosine to `vector`, shape (d,): best first, ties by id.

        Raises InputError where d is not that of the store.
        """
        with self._lock:
            dimension = self._dimension()
            query = checked(vector[None], 1, dimension, "vector_store")[0]
            points = None if among is None else [point_of(owner, id_) for id_ in among]
            if dimension is None or points == []:
                return []
            return best(lambda n: self._search(owner, query, n, points), query, most)

    def ids(self, owner: str) -> list[str]:
        """All ids of `owner`, sorted."""
        with self._lock:
            return [] if self._dimension() is None else sorted(self._ids(owner))

    def clear(self, owner: str) -> None:
        """Forget all of `owner`."""
        with self._lock:
            if self._dimension() is not None:
                self._delete_owner(owner)

    @abstractmethod
    def close(self) -> None:
        """Let go of files and connections."""

    @abstractmethod
    def _dimension(self) -> int | None:
        """Of the collection; None where there is none yet."""

    @abstractmethod
    def _create(self, dimension: int) -> None: ...

    @abstractmethod
    def _upsert(self, kept: Sequence[Kept]) -> None: ...

    @abstractmethod
    def _delete(self, points: Sequence[str]) -> None: ...

    @abstractmethod
    def _delete_owner(self, owner: str) -> None: ...

    @abstractmethod
    def _search(
        self, owner: str, query: Vectors, most: int, points: Sequence[str] | None
    ) -> tuple[list[str], Vectors]:
        """The engine's `most` best: ids, and vectors of shape (up to most, d)."""

    @abstractmethod
    def _ids(self, owner: str) -> list[str]: ...


def point_of(owner: str, id_: str) -> str:
    """The UUID of an owner's id: Qdrant knows points by number or UUID alone."""
    # With its length before it, no owner runs into an id.
    return str(uuid5(NAMESPACE_OID, f"{len(owner)} {owner}{id_}"))
