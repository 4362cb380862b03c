"""The default vector store: exact faiss indexes in this process, one per owner."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from threading import RLock
from typing import Any

import faiss
import numpy as np

from memsys.core.concurrency import one_thread
from memsys.core.types import Vectors
from memsys.stores.sqlite import open_store, rewrite
from memsys.stores.vectors import Near, best, checked

_TABLE = """CREATE TABLE IF NOT EXISTS vectors (
    owner TEXT NOT NULL, id TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (owner, id))"""


class FaissVectors:
    """Search by exact inner product, with an index per owner: a filtered approximate one loses
    recall.

    `path` is an SQLite file from which the index of an owner is built on first use; None: in memory
    only. Processes may share the file if each owner is written by only one of them. Raises
    InputError if the file cannot be opened.
    """

    def __init__(self, path: str | None = None) -> None:
        self._indexes: dict[str, _Index] = {}
        self._dimension: int | None = None
        self._lock = RLock()  # a run asks from several threads
        self._db = None if path is None else open_store(path, (_TABLE,), "vector_store", self)

    def put(self, owner: str, ids: Sequence[str], vectors: Vectors) -> None:
        """See VectorStore."""
        with self._lock:
            self._known_dimension()
            if not ids:
                return
            rows = checked(vectors, len(ids), self._dimension, "vector_store")
            index = self._index(owner)
            blobs = ((owner, id_, row.tobytes()) for id_, row in zip(ids, rows, strict=True))
            self._write("REPLACE INTO vectors VALUES (?, ?, ?)", blobs)
            self._dimension = rows.shape[1]
            index.put(ids, rows)

    def drop(self, owner: str, ids: Collection[str]) -> None:
        """See VectorStore."""
        with self._lock:
            index = self._index(owner)
            present = [id_ for id_ in dict.fromkeys(ids) if id_ in index.row_of]
            keys = [(owner, id_) for id_ in present]
            self._write("DELETE FROM vectors WHERE owner = ? AND id = ?", keys)
            for id_ in present:
                index.drop(id_)

    def nearest(
        self, owner: str, vector: Vectors, most: int, among: Collection[str] | None = None
    ) -> list[Near]:
        """See VectorStore."""
        with self._lock:
            self._known_dimension()
            query = checked(vector[None], 1, self._dimension, "vector_store")
            index = self._index(owner)
            rows = None if among is None else index.rows(among)
            return best(lambda n: index.search(query, n, rows), query[0], most)

    def ids(self, owner: str) -> list[str]:
        """See VectorStore."""
        with self._lock:
            return sorted(self._index(owner).ids)

    def clear(self, owner: str) -> None:
        """See VectorStore."""
        with self._lock:
            self._write("DELETE FROM vectors WHERE owner = ?", [(owner,)])
            self._indexes[owner] = _Index()

    def compact(self) -> bool:
        """See VectorStore."""
        with self._lock:
            if self._db is not None:
                rewrite(self._db)
            return True

    def close(self) -> None:
        """See VectorStore."""
        with self._lock:
            if self._db is not None:
                self._db.close()

    def _write(self, statement: str, rows: Iterable[tuple[Any, ...]]) -> None:
        if self._db is not None:
            with self._db:
                self._db.executemany(statement, rows)

    def _index(self, owner: str) -> _Index:
        if owner not in self._indexes:
            index = _Index()
            for ids, rows in self._stored(owner):
                index.put(ids, rows)
            self._indexes[owner] = index
        return self._indexes[owner]

    def _stored(self, owner: str) -> Iterator[tuple[list[str], Vectors]]:
        if self._db is None:
            return
        cursor = self._db.execute("SELECT id, vector FROM vectors WHERE owner = ?", (owner,))
        while batch := cursor.fetchmany(10_000):
            rows = np.frombuffer(b"".join(blob for _, blob in batch), dtype=np.float32)
            yield [id_ for id_, _ in batch], rows.reshape(len(batch), -1)

    def _known_dimension(self) -> None:
        # Read from the file until there is one: another process may have stored the first vector.
        if self._dimension is None and self._db is not None:
            row = self._db.execute("SELECT length(vector) / 4 FROM vectors LIMIT 1").fetchone()
            self._dimension = None if row is None else int(row[0])


class _Index:
    """The vectors of one owner; they are replaced in place, and the last one fills the place of a
    deleted one.
    """

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.row_of: dict[str, int] = {}
        self._flat = faiss.IndexFlatIP(1)  # replaced when the first vectors give the dimension

    def put(self, ids: Sequence[str], vectors: Vectors) -> None:
        if not self.ids:
            self._flat = faiss.IndexFlatIP(vectors.shape[1])
        last = dict(zip(ids, vectors, strict=True))
        new = [id_ for id_ in last if id_ not in self.row_of]
        for id_ in last.keys() & self.row_of.keys():
            self._rows[self.row_of[id_]] = last[id_]
        if new:
            self._flat.add(np.stack([last[id_] for id_ in new]))
            self.row_of.update((id_, len(self.ids) + i) for i, id_ in enumerate(new))
            self.ids.extend(new)

    def drop(self, id_: str) -> None:
        row, moved = self.row_of.pop(id_), self.ids.pop()
        if moved != id_:
            self._rows[row] = self._rows[-1]
            self.ids[row], self.row_of[moved] = moved, row
        self._flat.remove_ids(faiss.IDSelectorRange(len(self.ids), len(self.ids) + 1))

    def rows(self, ids: Collection[str]) -> list[int]:
        return sorted({self.row_of[id_] for id_ in ids if id_ in self.row_of})

    def search(
        self, query: Vectors, most: int, rows: list[int] | None
    ) -> tuple[list[str], Vectors]:
        """Return the `most` best of `rows` (None: all) for `query`, shape (1, d), with vectors."""
        if rows is not None and len(rows) <= most:
            nearest = np.array(rows, dtype=np.int64)
        elif not self.ids:
            return [], query[:0]
        else:
            params = faiss.SearchParameters()
            if rows is not None:
                chosen = faiss.IDSelectorBatch(np.array(rows, dtype=np.int64))
                params.sel = chosen  # must outlive the search
            with one_thread():
                nearest = self._flat.search(query, min(most, len(self.ids)), params=params)[1][0]
        return [self.ids[row] for row in nearest], self._rows[nearest]

    @property
    def _rows(self) -> Vectors:
        """View of the vectors in the memory of faiss, shape (n, d)."""
        flat = self._flat
        numbers: Vectors = faiss.rev_swig_ptr(flat.get_xb(), flat.ntotal * flat.d)
        return numbers.reshape(flat.ntotal, flat.d)
