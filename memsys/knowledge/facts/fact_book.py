"""The current facts of one owner, and the history of every change."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import uuid4

import numpy as np

from memsys.core.types import Memory, Vectors
from memsys.embed.cache import CachedEmbedder
from memsys.knowledge.facts.fact import Fact, FactChange, Kind, StoredFact, as_memory, plain
from memsys.stores.faiss_vectors import FaissVectors
from memsys.stores.size import lines
from memsys.stores.vectors import VectorStore


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
        self._log: list[tuple[FactChange, Memory | None]] = []  # and the fact after it

    @property
    def history(self) -> list[FactChange]:
        """Every change, in order."""
        return [change for change, _ in self._log]

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
        ids = [memory.id for memory in self._facts.values() if memory.speaker == fact.speaker]
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
        return self._log_change("ADD", None, new, fact, time)

    def update(self, id_: str, content: str, fact: Fact, time: datetime) -> FactChange | None:
        """Replace a fact's text by `content`, supported by the turns of both facts, or None."""
        old = self._facts.get(id_)
        if old is None:
            return None
        new = as_memory(id_, fact.rewritten(content, old.speaker, old.turns), time)
        self._put(new)
        return self._log_change("UPDATE", old, new, fact, time)

    def delete(self, id_: str, fact: Fact, time: datetime) -> FactChange | None:
        """Delete the fact `id_`, which `fact` contradicts; its history remains."""
        if id_ not in self._facts:
            return None
        self._store.drop(self._owner, [id_])
        return self._log_change("DELETE", self._facts.pop(id_), None, fact, time)

    def forget(self, turns: Collection[str], times: Collection[datetime]) -> int:
        """Undo each change that rests on one of `turns`, and the later changes of the same fact,
        whose texts may repeat it; return the number of facts deleted or set back. A later DELETE
        has no text and stays in force. A change without turns counts as one of them if its session
        was at one of `times`.
        """
        before: dict[str, Memory | None] = {}
        undone: dict[str, Memory | None] = {}
        left: list[tuple[FactChange, Memory | None]] = []
        for change, fact in self._log:
            rests = set(change.turns).intersection(turns) or (
                not change.turns and change.time in times
            )
            if change.id not in undone and rests:
                undone[change.id] = before.get(change.id)
            if change.id not in undone:
                before[change.id] = fact
                left.append((change, fact))
            elif change.operation == "DELETE" and not rests:
                last = undone[change.id]
                undone[change.id] = None
                if last is not None:
                    left.append((replace(change, old=last.content), None))
        changed = 0
        for id_, fact in undone.items():
            changed += fact != self._facts.get(id_)
            if fact is not None:
                self._put(fact)
            elif id_ in self._facts:
                self._store.drop(self._owner, [id_])
                del self._facts[id_]
        self._log = left
        places = {change.id: place for place, (change, _) in enumerate(left)}
        self._facts = dict(sorted(self._facts.items(), key=lambda item: places[item[0]]))
        return changed

    def clear(self) -> None:
        """Delete the vectors from the store; the book must not be used afterwards."""
        self._store.clear(self._owner)

    def _log_change(
        self, kind: Kind, old: Memory | None, new: Memory | None, fact: Fact, time: datetime
    ) -> FactChange:
        (id_, *_) = (memory.id for memory in (old, new) if memory is not None)
        before, after = (None if memory is None else memory.content for memory in (old, new))
        change = FactChange(id_, kind, before, after, time, fact.turns)
        self._log.append((change, new))
        return change

    def _put(self, memory: Memory) -> None:
        """Store `memory` last, also if it is an update: it is as new as its session."""
        vector = self._vector(memory.content)
        self._store.put(self._owner, [memory.id], vector[None])
        self._dimension = len(vector)
        self._facts.pop(memory.id, None)
        self._facts[memory.id] = memory

    def _vector(self, text: str) -> Vectors:
        return np.asarray(self._embedder.documents([text])[0])
