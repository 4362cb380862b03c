"""The vectors of memories: their store, in step with the database across processes and crashes."""

import json
from collections.abc import Collection, Iterable
from itertools import groupby
from uuid import uuid4

import numpy as np

from memsys.core.types import Vectors
from memsys.service.database import MemoryDatabase
from memsys.stores.faiss_vectors import FaissVectors
from memsys.stores.vectors import Near, VectorStore


class VectorSync:
    """Applies the database's changes to a vector store, in order of their numbers.

    The database stores every vector: nothing is embedded again, and a change whose vector was not
    yet applied when a process was killed is applied when the `store` is opened next.
    """

    def __init__(self, database: MemoryDatabase, store: VectorStore | None) -> None:
        """`store`: None for an index in this process's memory. Another may be persistent: the
        number of the last change applied to it is then stored in the database.
        """
        self._database, self._persistent = database, store is not None
        self.store: VectorStore = store if store is not None else FaissVectors()
        self._shelves: set[str] = set()
        self._mark, self._folder = 0, ""
        if self._persistent:
            with database.writing():
                self._mark = int(database.state("applied", "0"))
                # Other folders may share the store and have owners of the same names.
                self._folder = database.state("folder", uuid4().hex)
                self._compare()
        self.catch_up()

    def nearest(
        self, shelf: str, vector: Vectors, most: int, among: Collection[str] | None = None
    ) -> list[Near]:
        """See VectorStore."""
        return self.store.nearest(self._owner(shelf), vector, most, among)

    def catch_up(self) -> None:
        """Apply the changes since the last call. The call is cheap if there are none."""
        if self._database.last == self._mark:
            return
        with self._database.writing():  # no process overwrites newer vectors
            last = self._database.last
            if int(self._database.state("cleared", "0")) > self._mark:
                self._compare(json.loads(self._database.state("cleared_shelves", "[]")))
                if self._persistent:
                    self._database.set_state("cleared_shelves", "[]")
            changed = list(self._database.vectors(self._mark))
            for shelf, group in groupby(changed, key=lambda one: one[0]):
                self._shelves.add(shelf)
                rows = [(id_, vector) for _, id_, vector in group]
                stored = {id_: vector for id_, vector in rows if vector is not None}
                if gone := [id_ for id_, vector in rows if vector is None]:
                    self.store.drop(self._owner(shelf), gone)
                if stored:
                    vectors = np.stack(list(stored.values()))
                    self.store.put(self._owner(shelf), list(stored), vectors)
            if self._persistent:
                self._database.set_state("applied", str(last))
            self._mark = last

    def _owner(self, shelf: str) -> str:
        return f"{self._folder}/{shelf}"

    def _compare(self, shelves: Iterable[str] = ()) -> None:
        """Compare the store, which may have lost data, or have what was cleared, with the database
        by shelf; `shelves`: further ones. Callers have begun a transaction.
        """
        wanted = self._database.by_shelf()
        self._shelves |= {*wanted, *shelves}
        for shelf in sorted(self._shelves):
            ids, there = wanted.get(shelf, set()), set(self.store.ids(self._owner(shelf)))
            if extra := there - ids:
                self.store.drop(self._owner(shelf), extra)
            if missing := sorted(ids - there):
                self.store.put(self._owner(shelf), missing, self._database.vectors_of(missing))
