"""Arguments and results of the memory operations: owners, records, changes, search results."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any, Literal

from memsys.core.errors import InputError, check_bool
from memsys.core.types import Turn
from memsys.knowledge.facts.fact import Event
from memsys.service.rows import Row

MemoryKind = Literal["fact", "procedural"]  # of memories that a caller adds
RecordKind = Literal["fact", "procedural", "summary"]
EventName = Literal["ADD", "UPDATE", "DELETE"]
_MOST = 256  # characters of an owner's id
_KEY_SEPARATOR = "\x1f"
_KEY_END = re.compile(f"{_KEY_SEPARATOR}[0-9a-f]{{32}}$")
TITLE_MOST = 256  # characters


class NoModelError(InputError):
    """The operation asks a model, and none is configured."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of a memory. In a search, an id that is None does not restrict the result."""

    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None

    def check(self) -> Owner:
        """Return self. Raises InputError without an id, or with one not of 1 to 256 characters."""
        named = self.named
        if not named:
            raise InputError("owner: give at least one of user_id, agent_id, run_id")
        for name, value in named.items():
            if not isinstance(value, str) or not 1 <= len(value) <= _MOST:
                raise InputError(
                    f"{name}: {str(value)[:40]!r}; use text of 1 to {_MOST} characters"
                )
            check_text(value, name)
        return self

    def check_bulk(self, everyone: bool) -> Owner | None:
        """Return self, or None for every owner. Raises InputError like `check`, and unless exactly
        one of an owner and `everyone`, the argument `all`, is given.
        """
        check_bool("all", everyone)
        if everyone and self.named:
            raise InputError(f"all: give it or {next(iter(self.named))}, not both")
        if not everyone and not self.named:
            raise InputError(
                "owner: give at least one of user_id, agent_id, run_id, or all=true for the "
                "memories of every owner"
            )
        return None if everyone else self.check()

    @property
    def named(self) -> dict[str, str]:
        """The ids that are not None, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @property
    def shelf(self) -> str:
        """The partition of the vector store, named by the first id that is set. All memories of a
        user are in that user's partition, so a search for a user reads no other.
        """
        name, value = next(iter(self.named.items()))
        return f"{name}:{value}"


@dataclass(frozen=True, slots=True)
class MemoryRecord(Row):
    """One stored memory. `time` is when its messages were said (naive, UTC if a zone was given);
    `accessed` is the time of the last search that returned it. `created` and `updated` are
    wall-clock times, naive UTC. `turn_keys`: of its messages, see turn_key. `importance`: 0 to 1.
    `title`: its topic in a few words, "" if it has none.
    """

    id: str
    memory: str
    owner: Owner
    metadata: Mapping[str, Any]
    kind: RecordKind
    time: datetime
    speaker: str
    turn_keys: tuple[str, ...]
    importance: float
    created: datetime
    updated: datetime
    index_text: str
    accesses: int = 0
    accessed: datetime | None = None
    title: str = ""

    @property
    def turns(self) -> tuple[str, ...]:
        """The caller's ids of its messages."""
        return public_ids(self.turn_keys)

    def as_json(self) -> dict[str, Any]:
        """Return plain JSON values; times in RFC 3339, UTC. Two have mem0's names as well."""
        row = _as_json(self, leave_out=("index_text", "accessed", "turn_keys"))
        row["turns"] = list(self.turns)
        return {**row, "created_at": row["created"], "updated_at": row["updated"]}


@dataclass(frozen=True, slots=True)
class MemoryChange(Row):
    """One entry of the history, numbered over the whole store. `old` is None for an ADD, `new` for
    a DELETE.
    """

    number: int
    id: str
    event: EventName
    old: str | None
    new: str | None
    time: datetime
    owner: Owner

    def as_json(self) -> dict[str, Any]:
        """Return plain JSON values; the time in RFC 3339, UTC. `memory` is the present text, of a
        deleted memory the last one; some values have mem0's names as well.
        """
        row = _as_json(self)
        row["memory"] = self.old if self.new is None else self.new
        row |= {"memory_id": self.id, "old_memory": self.old, "new_memory": self.new}
        return {**row, "created_at": row["time"]}


@dataclass(frozen=True, slots=True)
class AddResult(Row):
    """The changes of one `add`, in order, and those of relations; with infer=True also the log of
    the model calls, with their tokens (`events`). `result["results"]` are the changes as JSON.
    """

    changes: tuple[MemoryChange, ...]
    events: Sequence[Event] = ()
    relations: Sequence[Row] = ()

    @property
    def faults(self) -> list[Event]:
        """The events of errors that did not end the operation."""
        return [one for one in self.events if "fault" in one]

    def as_json(self) -> dict[str, Any]:
        """Return `results`, `relations` and `faults` as plain JSON values."""
        results = [one.as_json() for one in self.changes]
        relations = [one.as_json() for one in self.relations]
        return {"results": results, "relations": relations, "faults": self.faults}


@dataclass(frozen=True, slots=True)
class RelationChange(Row):
    """A change of a relation: ADD, MENTION (stated again), RENEW (after its end), DELETE or END."""

    event: str
    source: str
    relationship: str
    destination: str

    def as_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class SearchResult(Row):
    """A memory and its score: a weighted sum, whose first term before weighting is `relevance`."""

    record: MemoryRecord
    score: float
    relevance: float

    def as_json(self) -> dict[str, Any]:
        """Return the record's plain JSON values with score and relevance."""
        return {**self.record.as_json(), "score": self.score, "relevance": self.relevance}


@dataclass(frozen=True, slots=True)
class FoundRelation(Row):
    """A relation and its score, the cosine of the query and the relation as a sentence. `time`:
    when it was first stated; `ended`: when it became invalid, None while it is valid. `turns`: the
    caller's ids of the messages that state it.
    """

    source: str
    relationship: str
    destination: str
    score: float
    time: datetime
    ended: datetime | None
    mentions: int
    turns: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return plain JSON values; times in RFC 3339, UTC."""
        return _as_json(self)


def naive(time: datetime | None) -> datetime:
    """Return `time` in UTC without its zone; a time without a zone is returned unchanged, None is
    now. Raises InputError on another value.
    """
    if time is None:
        return now()
    if not isinstance(time, datetime):
        raise InputError(f"time: {time!r:.40}; use a datetime")
    if time.tzinfo is None:
        return time
    try:
        return time.astimezone(UTC).replace(tzinfo=None)
    except OverflowError:  # outside the years 1 to 9999
        return time.replace(tzinfo=None)


def now() -> datetime:
    """Return the wall-clock time, naive UTC."""
    return datetime.now(UTC).replace(tzinfo=None)


def _as_json(
    one: MemoryRecord | MemoryChange | FoundRelation, leave_out: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the fields of `one`; naive UTC times in RFC 3339, the owner as its three ids."""
    row: dict[str, Any] = {}
    for name, value in asdict(one).items():
        if name in leave_out:
            continue
        if name == "owner":
            row |= value
        elif isinstance(value, datetime):
            row[name] = f"{value.isoformat()}Z"
        else:
            row[name] = list(value) if isinstance(value, tuple) else value
    return row


def turn_key(public: str, turn: Turn) -> str:
    """Return what names a message in the stores: the caller's id of it, which other messages may
    have too, and a hash of speaker and text. A message that is added again has the same key.
    """
    said = f"{turn.speaker}\n{turn.text}".encode()
    return f"{public}{_KEY_SEPARATOR}{blake2b(said, digest_size=16).hexdigest()}"


def public_ids(keys: Sequence[str]) -> tuple[str, ...]:
    """Return the caller's ids in `keys`, each once."""
    return tuple(dict.fromkeys(_KEY_END.sub("", key) for key in keys))


def check_text(text: str, name: str) -> None:
    """Raises InputError on a lone surrogate, which cannot be encoded as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{name}: not valid Unicode (character {error.start})") from None


def nested_deeper(value: Any, most: int) -> bool:
    """Return whether `value` has more than `most` dicts and lists within each other."""
    level = [value]
    for _ in range(most + 1):
        level = [one for one in level if isinstance(one, dict | list)]
        if not level:
            return False
        level = [x for one in level for x in (one.values() if isinstance(one, dict) else one)]
    return True
