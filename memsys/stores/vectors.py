"""The base classes of stores and of vector stores, and the exact ranking that all stores share."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from threading import RLock
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from memsys.core.errors import InputError
from memsys.core.types import Vectors

_SPARE = 8  # further candidates, usually enough to see past a tie
_SLACK = 1e-5  # engines compute in single precision, each summing in another order

Fetch = Callable[[int], tuple[Sequence[str], Vectors]]


class Near(NamedTuple):
    """An id and its cosine to the query."""

    id: str
    cosine: float


def key_of(owner: str, id_: str) -> str:
    """Return a text that identifies `id_` among the ids of all owners."""
    # The length of the owner makes the joined text unambiguous.
    return f"{len(owner)} {owner}{id_}"


def cosines(rows: Vectors, vector: Vectors) -> npt.NDArray[np.float64]:
    """Return the cosine of a unit `vector`, shape (d,), and each of the unit `rows`, shape (n, d).
    Equal rows get equal cosines at any position, which a matrix product does not guarantee.
    """
    products: npt.NDArray[np.float64] = np.multiply(rows, vector, dtype=np.float64)
    return np.asarray(products.sum(axis=1))


def best(fetch: Fetch, vector: Vectors, most: int) -> list[Near]:
    """Return the `most` nearest to the unit `vector`: best first by `cosines`, ties by id.
    `fetch(n)` returns ids and vectors, shape (up to n, d), of an engine's n best (all, if there are
    fewer). It is called for more if the engine's order may have cut a tie.
    """
    if most < 1:
        return []
    wanted = most + _SPARE
    while True:
        ids, rows = fetch(wanted)
        if not len(ids):
            return []
        exact = cosines(rows, vector)
        order = sorted(range(len(ids)), key=lambda i: (-exact[i], ids[i]))[:most]
        if len(ids) < wanted or exact[order[-1]] - exact.min() > _SLACK:
            return [Near(ids[i], float(exact[i])) for i in order]
        wanted *= 4


def checked(vectors: Vectors, count: int, dimension: int | None, store: str) -> Vectors:
    """Return a copy of `vectors` in single precision, shape (count, d). Raises InputError unless
    they are `count` finite vectors of `dimension` (None: any); `store` is the setting that the
    message names.
    """
    rows: Vectors = np.array(vectors, dtype=np.float32, order="C")
    if rows.ndim != 2 or len(rows) != count:
        raise InputError(
            f"{store}: {count} ids need vectors of shape ({count}, d), not {rows.shape}"
        )
    if dimension is not None and rows.shape[1] != dimension:
        raise InputError(
            f"{store}: vectors of {rows.shape[1]} dimensions, stored are vectors of {dimension}; "
            "use the embedder of the stored ones, or another path or name for the store"
        )
    if not np.isfinite(rows).all():
        raise InputError(f"{store}: a vector contains a number that is not finite")
    return rows


class EngineStore(ABC):
    """A store over some engine: what is of one owner is separate from what is of any other, and all
    vectors have one dimension.

    If the store has a file or server, a change is on disk when its method returns; a process killed
    between two changes leaves a store that can be opened and contains all earlier ones. Ids, names
    and owners are any non-empty text.
    """

    def __init__(self) -> None:
        self._lock = RLock()  # a run asks from several threads
        self._known_dimension: int | None = None  # None until vectors are stored

    def compact(self) -> bool:
        """Write all files anew, so that none contains what was deleted or replaced. Returns False,
        and does nothing, for a server, which alone decides when it does so. Raises InputError if
        another process prevents it.
        """
        with self._lock:
            return self._compact()

    def close(self) -> None:
        """Close files and connections; the store cannot be used afterwards."""
        with self._lock:
            self._close()

    def _compact(self) -> bool:
        return False

    @abstractmethod
    def _close(self) -> None: ...

    def _dimension(self) -> int | None:
        """Return the dimension of the stored vectors; None if there are none yet."""
        if self._known_dimension is None:  # another process may have stored the first vector
            self._known_dimension = self._stored_dimension()
        return self._known_dimension

    @abstractmethod
    def _stored_dimension(self) -> int | None:
        """Return the dimension of the vectors in the file or server, None without any."""


class VectorStore(EngineStore):
    """Unit vectors under ids. An engine searches exactly; it is made for one dimension by
    `_create`, before the first `_write`.
    """

    def put(self, owner: str, ids: Sequence[str], vectors: Vectors) -> None:
        """Store `vectors`, shape (len(ids), d), under `ids`; the last vector of an id counts.
        Raises InputError if d is not that of the store.
        """
        with self._lock:
            dimension = self._dimension()
            if not ids:
                return
            rows = checked(vectors, len(ids), dimension, "vector_store")
            if dimension is None:
                self._create(rows.shape[1])
                self._known_dimension = rows.shape[1]
            last = {id_: row for row, id_ in enumerate(ids)}
            if len(last) < len(ids):
                ids, rows = list(last), rows[list(last.values())]
            self._write(owner, ids, rows)

    def drop(self, owner: str, ids: Collection[str]) -> None:
        """Delete `ids`; unknown ones are ignored."""
        with self._lock:
            if ids and self._dimension() is not None:
                self._delete(owner, ids)

    def nearest(
        self, owner: str, vector: Vectors, most: int, among: Collection[str] | None = None
    ) -> list[Near]:
        """Return the `most` ids of `owner` with the highest cosine to `vector`, shape (d,). The
        result is sorted from best to worst, with ties by id. `among`: consider only these ids.
        Raises InputError if d is not that of the store.
        """
        with self._lock:
            dimension = self._dimension()
            query = checked(vector[None], 1, dimension, "vector_store")[0]
            if dimension is None or (among is not None and not among):
                return []
            return best(lambda wanted: self._search(owner, query, wanted, among), query, most)

    def ids(self, owner: str) -> list[str]:
        """Return all ids of `owner`, sorted."""
        with self._lock:
            return [] if self._dimension() is None else sorted(self._ids(owner))

    def clear(self, owner: str) -> None:
        """Delete everything of `owner`."""
        with self._lock:
            if self._dimension() is not None:
                self._delete(owner, None)

    def _create(self, dimension: int) -> None:
        """Prepare the engine for vectors of this dimension."""

    @abstractmethod
    def _write(self, owner: str, ids: Sequence[str], rows: Vectors) -> None:
        """Store `rows`, shape (len(ids), d), under `ids`, each of which occurs once."""

    @abstractmethod
    def _delete(self, owner: str, ids: Collection[str] | None) -> None:
        """Delete `ids`, or everything of `owner`."""

    @abstractmethod
    def _search(
        self, owner: str, query: Vectors, most: int, among: Collection[str] | None
    ) -> tuple[Sequence[str], Vectors]:
        """Return ids and vectors, shape (up to most, d), of the engine's `most` best of `among`."""

    @abstractmethod
    def _ids(self, owner: str) -> Iterable[str]: ...
