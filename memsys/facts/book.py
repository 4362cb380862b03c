"""The facts that hold at present, and the history of every change."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from uuid import uuid4

import numpy as np

from memsys.embed.cache import CachedEmbedder
from memsys.facts.base import Event, Fact, as_memory, plain
from memsys.facts.operations import Kind
from memsys.stores.faiss_vectors import FaissVectors
from memsys.stores.size import lines
from memsys.stores.vectors import VectorStore
from memsys.types import Memory, Vectors


@dataclass(frozen=True, slots=True)
class Change:
    """One entry of the history; `old` and `new` are texts, None where there was or is none.

    `time` is that of the session that brought it about, never the wall clock.
    """

    id: str
    operation: Kind
    old: str | None
    new: str | None
    time: datetime
    turns: tuple[str, ...]


def applied(fact: Fact, why: str, change: Change | None) -> Event:
    """What was done on account of `fact`; no change is a NOOP."""
    return {
        "step": "apply",
        "operation": change.operation if change else "NOOP",
        "memory": change.id if change else None,
        "old": change.old if change else None,
        "new": change.new if change else None,
        "fact": fact.text,
        "why": why,
        "turns": list(fact.turns),
    }


class FactBook:
    """Current facts of one owner, oldest first; their vectors are in a store. Ids are never given
    twice.
    """

    def __init__(self, embedder: CachedEmbedder, vectors: VectorStore | None = None) -> None:
        """`vectors` may be shared: the book has an owner of its own there. None: faiss, in memory.

        Stores raise InputError where they cannot be used; the book then stays as it was.
        """
        self._embedder = embedder
        self._store = vectors or FaissVectors()
        self._owner = f"facts/{uuid4().hex}"
        self._facts: dict[str, Memory] = {}
        self._made = 0
        self._dimension = 0  # of a vector; none yet
        self.history: list[Change] = []

    @property
    def memories(self) -> list[Memory]:
        """The facts that hold now."""
        return list(self._facts.values())

    @property
    def bytes(self) -> int:
        """Of the vectors of the current facts and of the history; see memsys/stores/size.py."""
        return 4 * len(self._facts) * self._dimension + lines(self.history)

    def of(self, id_: str) -> Memory | None:
        """The current fact of this id."""
        return self._facts.get(id_)

    def similar(self, fact: Fact, most: int) -> list[Memory]:
        """The `most` current facts of the same speaker with the highest cosine to `fact`, best
        first. Mem0 keeps a store for each speaker: what one likes says nothing of the other.
        """
        own = [one.id for one in self._facts.values() if one.speaker == fact.speaker]
        if not own:
            return []
        near = self._store.nearest(self._owner, self._vector(fact.text), most, own)
        return [self._facts[one.id] for one in near]

    def add(self, fact: Fact, time: datetime) -> Change | None:
        """Store `fact`; None, and no change, where the speaker's facts hold it word for word."""
        same = plain(fact.text)
        if any(plain(m.content) == same for m in self._facts.values() if m.speaker == fact.speaker):
            return None
        self._made += 1
        memory = as_memory(f"f{self._made}", fact, time)
        self._put(memory)
        return self._note(Change(memory.id, "ADD", None, memory.content, time, fact.turns))

    def update(self, id_: str, content: str, fact: Fact, time: datetime) -> Change:
        """Let the fact `id_` read `content` from now on; it rests on the turns of both."""
        old = self._facts[id_]
        turns = tuple(dict.fromkeys((*old.turns, *fact.turns)))
        written = replace(fact, content=content, event=None, speaker=old.speaker, turns=turns)
        self._put(as_memory(id_, written, time))
        return self._note(Change(id_, "UPDATE", old.content, written.text, time, fact.turns))

    def delete(self, id_: str, fact: Fact, time: datetime) -> Change:
        """Drop the fact `id_`, which `fact` contradicts; the history keeps it."""
        self._store.drop(self._owner, [id_])
        old = self._facts.pop(id_)
        return self._note(Change(id_, "DELETE", old.content, None, time, fact.turns))

    def clear(self) -> None:
        """Forget the vectors, wherever they are; the book is not to be used afterwards."""
        self._store.clear(self._owner)

    def _note(self, change: Change) -> Change:
        self.history.append(change)
        return change

    def _put(self, memory: Memory) -> None:
        """An updated fact goes to the end: it is as new as its session."""
        vector = self._vector(memory.content)
        self._store.put(self._owner, [memory.id], vector[None])
        self._dimension = len(vector)
        self._facts.pop(memory.id, None)
        self._facts[memory.id] = memory

    def _vector(self, text: str) -> Vectors:
        return np.asarray(self._embedder.documents([text])[0])
