"""The vector store follows the ledger, whoever wrote it, and whatever happened in between."""

from __future__ import annotations

import json
from collections.abc import Collection
from itertools import groupby
from uuid import uuid4

import numpy as np

from memsys.service.ledger import Ledger
from memsys.stores.faiss_vectors import FaissVectors
from memsys.stores.vectors import Near, VectorStore
from memsys.types import Vectors


class Follower:
    """Puts into a vector store what the ledger says it has to hold, by the numbers of changes.

    The ledger holds every vector: nothing is embedded again, and a process that was killed between
    a change and its vector left nothing that the next opening does not put right.
    """

    def __init__(self, ledger: Ledger, store: VectorStore | None) -> None:
        """`store`: None for an index in this process's memory; another may have a place of its own,
        and how far it came is then kept in the ledger.
        """
        self._ledger, self._kept = ledger, store is not None
        self._store: VectorStore = store if store is not None else FaissVectors()
        self._shelves: set[str] = set()
        self._mark, self._folder = 0, ""
        if self._kept:
            with ledger.writing():
                self._mark = int(ledger.state("applied", "0"))
                # Other folders may use the same store, and have owners of the same names.
                self._folder = ledger.state("folder", uuid4().hex)
            self._compare()
        self.catch_up()

    def nearest(
        self, shelf: str, vector: Vectors, most: int, among: Collection[str] | None = None
    ) -> list[Near]:
        """See VectorStore."""
        return self._store.nearest(self._owner(shelf), vector, most, among)

    def catch_up(self) -> None:
        """Apply what was changed since the last time. Cheap where nothing was."""
        if self._ledger.last == self._mark:
            return
        with self._ledger.writing():  # so that no process overwrites newer vectors with older ones
            last = self._ledger.last
            if int(self._ledger.state("cleared", "0")) > self._mark:
                self._clear()
            changed = list(self._ledger.vectors(self._mark))
            for shelf, group in groupby(changed, key=lambda one: one[0]):
                self._shelves.add(shelf)
                rows = [(id_, vector) for _, id_, vector in group]
                held = {id_: vector for id_, vector in rows if vector is not None}
                if gone := [id_ for id_, vector in rows if vector is None]:
                    self._store.drop(self._owner(shelf), gone)
                if held:
                    self._store.put(self._owner(shelf), list(held), np.stack(list(held.values())))
            if self._kept:
                self._ledger.set_state("applied", str(last))
            self._mark = last

    def close(self) -> None:
        """Let go of the store."""
        self._store.close()

    def _owner(self, shelf: str) -> str:
        return f"{self._folder}/{shelf}"

    def _clear(self) -> None:
        """The ledger was emptied: so is every shelf that was known then."""
        known = json.loads(self._ledger.state("cleared_shelves", "[]"))
        for shelf in sorted(self._shelves.union(known)):
            self._store.clear(self._owner(shelf))
        if self._kept:
            self._ledger.set_state("cleared_shelves", "[]")
        self._shelves.clear()

    def _compare(self) -> None:
        """A store of its own may have lost what it was told: look, shelf by shelf."""
        with self._ledger.writing():
            wanted = self._ledger.by_shelf()
            for shelf, ids in wanted.items():
                self._shelves.add(shelf)
                there = set(self._store.ids(self._owner(shelf)))
                if extra := there - ids:
                    self._store.drop(self._owner(shelf), extra)
                if missing := sorted(ids - there):
                    self._store.put(self._owner(shelf), missing, self._ledger.vectors_of(missing))
