"""Changes of stored memories: record, history and vector in one step."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from threading import RLock
from typing import Any
from uuid import uuid4

from memsys.core.errors import InputError
from memsys.core.titles import title_of
from memsys.core.turns import importance
from memsys.core.types import Memory, Vectors
from memsys.embed.cache import CachedEmbedder
from memsys.service.database import MemoryDatabase
from memsys.service.language_watch import LanguageWatch
from memsys.service.records import (
    TITLE_MOST,
    MemoryChange,
    MemoryRecord,
    Owner,
    RecordKind,
    check_text,
    naive,
    nested_deeper,
    now,
)
from memsys.service.vector_sync import VectorSync

METADATA_DEPTH = 20  # nested lists and objects
METADATA_BYTES = 65_536  # as JSON in UTF-8
_TEXTS = "memory", "title", "index_text"  # fields of a record that depend on each other


@dataclass(frozen=True, slots=True)
class About:
    """Owner, metadata and kind of new memories. `public`: the keys of turns; see turn_key."""

    owner: Owner
    metadata: Mapping[str, Any]
    kind: RecordKind
    public: Mapping[str, str]

    def record(self, memory: Memory) -> MemoryRecord:
        """Return `memory` as a new record with a random id."""
        time = now()
        return MemoryRecord(
            id=uuid4().hex,
            memory=memory.content,
            owner=self.owner,
            metadata=self.metadata,
            kind=self.kind,
            time=memory.time,
            speaker=memory.speaker,
            turn_keys=tuple(self.public.get(turn, turn) for turn in memory.turns),
            importance=memory.importance,
            created=time,
            updated=time,
            index_text=memory.index_text,
            title=memory.title,
        )


class Writer:
    """Adds, changes and deletes memories. Thread-safe by one lock, which is not held while a
    language model is asked.
    """

    def __init__(
        self, database: MemoryDatabase, vectors: VectorSync, embedder: CachedEmbedder
    ) -> None:
        self.database, self._vectors, self._embedder = database, vectors, embedder
        self.lock = RLock()
        self._watch = LanguageWatch(embedder)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of memories, shape (len(texts), d)."""
        return self._embedder.documents(texts)

    def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of a query, shape (d,)."""
        return self._embedder.query(text)

    def add(self, memories: Sequence[Memory], about: About) -> list[MemoryChange]:
        """Store `memories` under random ids, in one transaction."""
        if not memories:
            return []
        contents = [memory.content for memory in memories]
        vectors = self.embed(contents)  # before the transaction
        with self.lock:
            self._watch.note(contents)
            with self.database.writing():
                pairs = zip(map(about.record, memories), vectors, strict=True)
                changes = [self.database.put(record, vector) for record, vector in pairs]
            self._vectors.catch_up()
        return changes

    def change(self, id_: str, fields: Mapping[str, Any]) -> MemoryChange | None:
        """Replace `fields` of the record `id_`; a new text without a title gets one by rule, and
        lexical search matches title and text. Return None if there is no such memory.
        """
        while True:
            with self.lock:
                old = self.database.get(id_)
            if old is None:
                return None
            new = _completed(old, fields)
            (vector,) = self.embed([new["memory"]])  # before the transaction
            with self.lock:
                with self.database.writing():
                    current = self.database.get(id_)
                    if current is None:
                        return None
                    if any(getattr(current, name) != getattr(old, name) for name in _TEXTS):
                        continue  # another update was faster: complete the fields from its text
                    change = self.database.put(replace(current, updated=now(), **new), vector)
                self._vectors.catch_up()
            return change

    def delete(self, ids: Sequence[str]) -> list[MemoryChange]:
        """Delete those of `ids` that exist."""
        with self.lock:
            with self.database.writing():
                found = self.database.of(ids)
                changes = [self.database.drop(found[id_]) for id_ in ids if id_ in found]
            self._vectors.catch_up()
        return changes

    def erase(
        self, id_: str, relations: Callable[[Owner, Sequence[str]], None]
    ) -> MemoryChange | None:
        """Delete the memory `id_` and its texts wherever they are derived: in the history, in the
        text by which the next message is matched, in messages and summaries for a model, and
        by `relations`, which deletes those of its owner that rest on its turns. Return the last
        change, also if it was deleted before; None without a change that has a text.
        """
        with self.lock:
            history = self.database.history(id_)
            if not history:
                return None
            owner, texts = history[-1].owner, {one.new for one in history if one.new}
            turns = self.database.turn_keys(id_)
            if turns:
                relations(owner, turns)
            with self.database.writing():
                change = self.database.erase(id_, owner)
                for text in texts:
                    for one in self.database.with_words(text, owner):
                        rest = f"\n{one.index_text}\n".replace(f"\n{text}\n", "\n")[1:-1]
                        (vector,) = self.database.vectors_of([one.id])
                        self.database.put(replace(one, index_text=rest), vector)
            self._vectors.catch_up()
        return change or history[-1]

    def compact(self) -> bool:
        """Write database, vector store and embedding cache anew; see VectorStore.compact."""
        with self.lock:
            self.database.compact()
            self._embedder.clear()
            return self._vectors.compact()


def _completed(old: MemoryRecord, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return `fields` with the text of `old`, or what follows from the text or title in them."""
    new = {"memory": old.memory, "importance": old.importance, "title": old.title, **fields}
    if "title" not in fields and "memory" in fields:
        new["title"] = title_of(new["memory"], frozenset({old.speaker}))
    if "index_text" not in fields:
        title, text = new["title"], new["memory"]
        both = text if title in text else f"{title}\n{text}"
        new["index_text"] = both if {"title", "memory"} & fields.keys() else old.index_text
    return new


def check_metadata(metadata: Mapping[str, Any] | None, name: str = "metadata") -> dict[str, Any]:
    """Return a copy of `metadata`. Raises InputError unless it is a JSON object that is nested at
    most 20 deep and has at most 65,536 bytes.
    """
    value = metadata if metadata is not None else {}
    try:
        if not isinstance(value, Mapping) or any(not isinstance(key, str) for key in value):
            raise TypeError("use an object whose names are text")
        text = json.dumps(dict(value), ensure_ascii=False, allow_nan=False)
        check_text(text, name)
        copy: dict[str, Any] = json.loads(text)
    except RecursionError:
        raise InputError(f"{name}: nested more than {METADATA_DEPTH} deep") from None
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: not a JSON object ({error})") from error
    if nested_deeper(copy, METADATA_DEPTH):
        raise InputError(f"{name}: nested more than {METADATA_DEPTH} deep")
    if len(text.encode()) > METADATA_BYTES:
        raise InputError(f"{name}: over {METADATA_BYTES:,} bytes; store less")
    return copy


def check_fields(
    text: str | None,
    metadata: Mapping[str, Any] | None,
    time: datetime | None,
    title: str | None,
) -> dict[str, Any]:
    """Return the fields of a record that an update replaces (None: unchanged). Raises InputError on
    an invalid value, or if none is given.
    """
    if text is None and metadata is None and time is None and title is None:
        raise InputError("update: give text, metadata, time or title")
    fields: dict[str, Any] = {}
    if text is not None:
        if not isinstance(text, str) or not text:
            raise InputError("text: use text that is not empty")
        check_text(text, "text")
        fields |= {"memory": text, "importance": importance(text)}
    if title is not None:
        if not isinstance(title, str) or len(title) > TITLE_MOST:
            raise InputError(f"title: use text of at most {TITLE_MOST} characters")
        check_text(title, "title")
        fields["title"] = title
    if metadata is not None:
        fields["metadata"] = check_metadata(metadata)
    if time is not None:
        fields["time"] = naive(time)
    return fields
