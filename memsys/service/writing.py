"""Changes of the store: each with its entry in the history, and the vectors behind it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from threading import RLock
from typing import Any
from uuid import uuid4

from memsys.embed.cache import CachedEmbedder
from memsys.errors import InputError
from memsys.service.follow import Follower
from memsys.service.ledger import Ledger
from memsys.service.records import Change, MemoryKind, Owner, Record, check_text
from memsys.service.tables import now
from memsys.types import Memory, Vectors


@dataclass(frozen=True, slots=True)
class About:
    """What new memories have in common. `public`: the caller's ids of turns."""

    owner: Owner
    metadata: Mapping[str, Any]
    kind: MemoryKind
    public: Mapping[str, str]


class Writer:
    """Adds, changes and drops memories. Safe for several threads: one works at a time, and the
    models that write facts are asked outside of it.
    """

    def __init__(self, ledger: Ledger, follower: Follower, embedder: CachedEmbedder) -> None:
        self.ledger, self._follower, self._embedder = ledger, follower, embedder
        self.lock = RLock()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of memories, shape (len(texts), d)."""
        with self.lock:
            return self._embedder.documents(texts)

    def embed_query(self, text: str) -> Vectors:
        """The unit vector of a query, shape (d,)."""
        with self.lock:
            return self._embedder.query(text)

    def add(self, memories: Sequence[Memory], about: About) -> list[Change]:
        """Keep `memories`, under ids that nobody can guess, in one transaction."""
        if not memories:
            return []
        vectors = self.embed([memory.content for memory in memories])  # may fail: before all else
        time = now()
        with self.lock:
            with self.ledger.writing():
                changes = [
                    self.ledger.put(_record(uuid4().hex, memory, about, time), vector)
                    for memory, vector in zip(memories, vectors, strict=True)
                ]
            self._follower.catch_up()
        return changes

    def change(
        self, id_: str, memory: Memory | None, metadata: Mapping[str, Any] | None
    ) -> Change | None:
        """Let `id_` read as `memory` (None: as before), with `metadata` (None: as before); None
        where there is no such memory.
        """
        with self.lock:
            old = self.ledger.get(id_)
        if old is None:
            return None
        text = old.memory if memory is None else memory.content
        (vector,) = self.embed([text])
        with self.lock:
            with self.ledger.writing():
                old = self.ledger.get(id_)
                if old is None:  # while it was embedded
                    return None
                new = replace(old, updated=now(), metadata=old.metadata)
                if metadata is not None:
                    new = replace(new, metadata=metadata)
                if memory is not None:
                    new = replace(
                        new,
                        memory=memory.content,
                        index_text=memory.index_text,
                        time=memory.time,
                        turns=memory.turns,
                        importance=memory.importance,
                    )
                change = self.ledger.put(new, vector)
            self._follower.catch_up()
        return change

    def delete(self, ids: Sequence[str]) -> list[Change]:
        """Drop those of `ids` that are there."""
        with self.lock:
            with self.ledger.writing():
                found = self.ledger.of(ids)
                changes = [self.ledger.drop(found[id_]) for id_ in ids if id_ in found]
            self._follower.catch_up()
        return changes


def check_metadata(metadata: Mapping[str, Any] | None, name: str = "metadata") -> dict[str, Any]:
    """A copy of what can be written as JSON and read again. Raises InputError on anything else."""
    given = metadata if metadata is not None else {}
    try:
        if not isinstance(given, Mapping) or any(not isinstance(key, str) for key in given):
            raise TypeError("use an object with names of text")
        text = json.dumps(dict(given), ensure_ascii=False, allow_nan=False)
        check_text(text, name)
        copy: dict[str, Any] = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{name}: is no JSON object ({error})") from error
    return copy


def _record(id_: str, memory: Memory, about: About, time: datetime) -> Record:
    return Record(
        id=id_,
        memory=memory.content,
        owner=about.owner,
        metadata=about.metadata,
        kind=about.kind,
        time=memory.time,
        speaker=memory.speaker,
        turns=tuple(about.public.get(turn, turn) for turn in memory.turns),
        importance=memory.importance,
        created=time,
        updated=time,
        accesses=0,
        accessed=None,
        index_text=memory.index_text,
    )
