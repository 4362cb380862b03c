"""The protocol of a vector store."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

from memsys.types import Vectors


class Near(NamedTuple):
    """An id that was found, and its cosine to what was asked for."""

    id: str
    cosine: float


class VectorStore(Protocol):
    """Unit vectors under ids, apart by owner: what is kept for one owner is never found for
    another.

    What `put` or `drop` was told has reached the disk when it returns, where the store has a place
    on disk; a process that is killed between two of them leaves a store that can be opened and
    holds all that was told before. Ids and owners are any text that is not empty.
    """

    def put(self, owner: str, ids: Sequence[str], vectors: Vectors) -> None:
        """Keep `vectors`, shape (len(ids), d), under `ids`; an id that is there is replaced.

        Raises InputError where d is not that of the store.
        """
        ...

    def drop(self, owner: str, ids: Collection[str]) -> None:
        """Forget `ids`; unknown ones are passed over."""
        ...

    def nearest(
        self, owner: str, vector: Vectors, most: int, among: Collection[str] | None = None
    ) -> list[Near]:
        """The `most` ids of `owner` with the highest cosine to `vector`, shape (d,): best first,
        ties by id. `among` leaves only these ids in question.
        """
        ...

    def ids(self, owner: str) -> list[str]:
        """All ids of `owner`, sorted."""
        ...

    def clear(self, owner: str) -> None:
        """Forget all of `owner`."""
        ...

    def close(self) -> None:
        """Let go of files and connections; nothing may be asked afterwards."""
        ...
