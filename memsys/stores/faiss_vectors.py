"""The default vector store: exact faiss indexes in this process, one per owner."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import faiss
import numpy as np

from memsys.core.concurrency import one_thread
from memsys.core.types import Vectors
from memsys.stores.sqlite import open_store, rewrite
from memsys.stores.vectors import VectorStore

_TABLE = """CREATE TABLE IF NOT EXISTS vectors (
    owner TEXT NOT NULL, id TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (owner, id))"""


class FaissVectors(VectorStore):
    """Search by exact inner product, with an index per owner: a filtered approximate one loses
    recall.

    `path` is an SQLite file from which the index of an owner is built on first use; None: in memory
    only. Processes may share the file if each owner is written by only one of them. Raises
    InputError if the file cannot be opened.
    """

    def __init__(self, path: str | None = None) -> None:
        super().__init__()
        self._indexes: dict[str, _Index] = {}
        self._db = None if path is None else open_store(path, (_TABLE,), "vector_store", self)

    def _compact(self) -> bool:
        if self._db is not None:
            rewrite(self._db)
        return True

    def _close(self) -> None:
        if self._db is not None:
            self._db.close()

    def _stored_dimension(self) -> int | None:
        if self._db is None:
            return None
        row = self._db.execute("SELECT length(vector) / 4 FROM vectors LIMIT 1").fetchone()
        return None if row is None else int(row[0])

    def _write(self, owner: str, ids: Sequence[str], rows: Vectors) -> None:
        index = self._index(owner)
        blobs = ((owner, id_, row.tobytes()) for id_, row in zip(ids, rows, strict=True))
        self._store("REPLACE INTO vectors VALUES (?, ?, ?)", blobs)
        index.put(ids, rows)

    def _delete(self, owner: str, ids: Collection[str] | None) -> None:
        if ids is None:
            self._store("DELETE FROM vectors WHERE owner = ?", [(owner,)])
            self._indexes[owner] = _Index()
            return
        index = self._index(owner)
        present = [id_ for id_ in dict.fromkeys(ids) if id_ in index.row_of]
        keys = [(owner, id_) for id_ in present]
        self._store("DELETE FROM vectors WHERE owner = ? AND id = ?", keys)
        for id_ in present:
            index.drop(id_)

    def _search(
        self, owner: str, query: Vectors, most: int, among: Collection[str] | None
    ) -> tuple[Sequence[str], Vectors]:
        return self._index(owner).search(query[None], most, among)

    def _ids(self, owner: str) -> Iterable[str]:
        return self._index(owner).ids

    def _store(self, statement: str, rows: Iterable[tuple[Any, ...]]) -> None:
        if self._db is not None:
            with self._db:
                self._db.executemany(statement, rows)

    def _index(self, owner: str) -> _Index:
        if owner not in self._indexes:
            index = _Index()
            if self._db is not None:
                statement = "SELECT id, vector FROM vectors WHERE owner = ?"
                stored = self._db.execute(statement, (owner,))
                while batch := stored.fetchmany(10_000):
                    numbers = np.frombuffer(b"".join(row[1] for row in batch), dtype=np.float32)
                    index.put([row[0] for row in batch], numbers.reshape(len(batch), -1))
            self._indexes[owner] = index
        return self._indexes[owner]


class _Index:
    """The vectors of one owner; they are replaced in place, and the last one fills the place of a
    deleted one.
    """

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.row_of: dict[str, int] = {}
        self._flat = faiss.IndexFlatIP(1)  # replaced when the first vectors give the dimension

    def put(self, ids: Sequence[str], vectors: Vectors) -> None:
        """Store `vectors`, shape (len(ids), d), under `ids`, each of which occurs once."""
        if not self.ids:
            self._flat = faiss.IndexFlatIP(vectors.shape[1])
        new = [n for n, id_ in enumerate(ids) if id_ not in self.row_of]
        if len(new) < len(ids):
            for id_, vector in zip(ids, vectors, strict=True):
                if id_ in self.row_of:
                    self._rows[self.row_of[id_]] = vector
            ids, vectors = [ids[n] for n in new], vectors[new]
        if ids:
            self._flat.add(vectors)
            self.row_of.update((id_, len(self.ids) + i) for i, id_ in enumerate(ids))
            self.ids.extend(ids)

    def drop(self, id_: str) -> None:
        row, moved = self.row_of.pop(id_), self.ids.pop()
        if moved != id_:
            self._rows[row] = self._rows[-1]
            self.ids[row], self.row_of[moved] = moved, row
        self._flat.remove_ids(faiss.IDSelectorRange(len(self.ids), len(self.ids) + 1))

    def search(
        self, query: Vectors, most: int, among: Collection[str] | None
    ) -> tuple[Sequence[str], Vectors]:
        """Return the `most` best of `among` (None: all) for `query`, shape (1, d), with vectors."""
        rows = None
        if among is not None:
            rows = np.array(
                sorted({self.row_of[id_] for id_ in among if id_ in self.row_of}), dtype=np.int64
            )
        if rows is not None and len(rows) <= most:
            nearest = rows
        elif not self.ids:
            return [], query[:0]
        else:
            params = faiss.SearchParameters()
            if rows is not None:
                selected = faiss.IDSelectorBatch(rows)
                params.sel = selected  # must outlive the search
            with one_thread():
                nearest = self._flat.search(query, min(most, len(self.ids)), params=params)[1][0]
        return [self.ids[row] for row in nearest], self._rows[nearest]

    @property
    def _rows(self) -> Vectors:
        """View of the vectors in the memory of faiss, shape (n, d)."""
        flat = self._flat
        numbers: Vectors = faiss.rev_swig_ptr(flat.get_xb(), flat.ntotal * flat.d)
        return numbers.reshape(flat.ntotal, flat.d)
