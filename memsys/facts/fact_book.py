"""The current facts of one owner, and the history of every change."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import uuid4

import numpy as np

from memsys.embed.cache import CachedEmbedder
from memsys.facts.fact import Fact, as_memory, plain
from memsys.facts.fact_writer import FactChange, StoredFact
from memsys.facts.operations import Kind
from memsys.stores.faiss_vectors import FaissVectors
from memsys.stores.size import lines
from memsys.stores.vectors import VectorStore
from memsys.types import Memory, Vectors


class FactBook:
    """Current facts of one owner, oldest first, with their vectors in a vector store (see
    FactStorage). Ids are never reused.
    """

    def __init__(self, embedder: CachedEmbedder, vectors: VectorStore | None = None) -> None:
        """`vectors` may be shared, as each book uses its own owner id there; None: faiss, in
        memory. Stores raise InputError if they cannot be used; the book is then unchanged.
        """
        self._embedder = embedder
        self._store = vectors or FaissVectors()
        self._owner = f"facts/{uuid4().hex}"
        self._facts: dict[str, Memory] = {}
        self._added = 0  # facts ever added, for new ids
        self._dimension = 0  # of a vector; 0 before the first
        self.history: list[FactChange] = []

    @property
    def memories(self) -> list[Memory]:
        """The current facts."""
        return list(self._facts.values())

    @property
    def bytes(self) -> int:
        """Bytes of the current facts' vectors and of the history; see memsys/stores/size.py."""
        return 4 * len(self._facts) * self._dimension + lines(self.history)

    def similar(self, fact: Fact, most: int) -> Sequence[StoredFact]:
        """Return the `most` current facts of the same speaker with the highest cosine to `fact`,
        best first. Mem0 has one store per speaker: facts of one do not contradict another's.
        """
        ids = [one.id for one in self._facts.values() if one.speaker == fact.speaker]
        if not ids:
            return []
        near = self._store.nearest(self._owner, self._vector(fact.text), most, ids)
        return [StoredFact(id_, self._facts[id_].content, cosine) for id_, cosine in near]

    def add(self, fact: Fact, time: datetime) -> FactChange | None:
        """Store `fact`; return None if the speaker already has a fact of the same words."""
        same = plain(fact.text)
        if any(plain(m.content) == same for m in self._facts.values() if m.speaker == fact.speaker):
            return None
        self._added += 1
        new = as_memory(f"f{self._added}", fact, time)
        self._put(new)
        return self._log_change(new.id, "ADD", None, new.content, fact, time)

    def update(self, id_: str, content: str, fact: Fact, time: datetime) -> FactChange | None:
        """Replace a fact's text by `content`, supported by the turns of both facts, or None."""
        old = self._facts.get(id_)
        if old is None:
            return None
        new = as_memory(id_, fact.rewritten(content, old.speaker, old.turns), time)
        self._put(new)
        return self._log_change(id_, "UPDATE", old.content, new.content, fact, time)

    def delete(self, id_: str, fact: Fact, time: datetime) -> FactChange | None:
        """Delete the fact `id_`, which `fact` contradicts; its history remains."""
        if id_ not in self._facts:
            return None
        self._store.drop(self._owner, [id_])
        old = self._facts.pop(id_)
        return self._log_change(id_, "DELETE", old.content, None, fact, time)

    def clear(self) -> None:
        """Delete the vectors from the store; the book must not be used afterwards."""
        self._store.clear(self._owner)

    def _log_change(
        self, id_: str, kind: Kind, old: str | None, new: str | None, fact: Fact, time: datetime
    ) -> FactChange:
        self.history.append(FactChange(id_, kind, old, new, time, fact.turns))
        return self.history[-1]

    def _put(self, memory: Memory) -> None:
        """Store `memory` last, also if it is an update: it is as new as its session."""
        vector = self._vector(memory.content)
        self._store.put(self._owner, [memory.id], vector[None])
        self._dimension = len(vector)
        self._facts.pop(memory.id, None)
        self._facts[memory.id] = memory

    def _vector(self, text: str) -> Vectors:
        return np.asarray(self._embedder.documents([text])[0])
