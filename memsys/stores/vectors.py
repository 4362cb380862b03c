"""The protocol of a vector store."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

from memsys.types import Vectors


class Near(NamedTuple):
    """An id and its cosine to the query."""

    id: str
    cosine: float


class VectorStore(Protocol):
    """Unit vectors under ids, separated by owner: a search for one owner sees no other's vectors.

    If the store has a file or server, a change is on disk when `put` or `drop` returns; a process
    killed between two changes leaves a store that can be opened and contains all earlier ones. Ids
    and owners are any non-empty text.
    """

    def put(self, owner: str, ids: Sequence[str], vectors: Vectors) -> None:
        """Store `vectors`, shape (len(ids), d), under `ids`; the last vector of an id counts.

        Raises InputError if d is not that of the store.
        """
        ...

    def drop(self, owner: str, ids: Collection[str]) -> None:
        """Delete `ids`; unknown ones are ignored."""
        ...

    def nearest(
        self, owner: str, vector: Vectors, most: int, among: Collection[str] | None = None
    ) -> list[Near]:
        """Return the `most` ids of `owner` with the highest cosine to `vector`, shape (d,).

        Best first, ties by id. `among`: consider only these ids. Raises InputError if d is not that
        of the store.
        """
        ...

    def ids(self, owner: str) -> list[str]:
        """Return all ids of `owner`, sorted."""
        ...

    def clear(self, owner: str) -> None:
        """Delete everything of `owner`."""
        ...

    def close(self) -> None:
        """Close files and connections; the store cannot be used afterwards."""
        ...
