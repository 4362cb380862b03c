"""What the memory operations take and give: owners, records, changes, results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from memsys.errors import InputError
from memsys.facts.base import Event

MemoryKind = Literal["fact", "procedural"]
EventName = Literal["ADD", "UPDATE", "DELETE"]
_FIELDS = ("user_id", "agent_id", "run_id")
_MOST = 256  # characters of an owner's id


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose a memory is. What is None was not said: in a search it then says nothing either."""

    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None

    def check(self) -> Owner:
        """Itself. Raises InputError unless one is given, and each is 1 to 256 characters."""
        named = self.named
        if not named:
            raise InputError("owner: give at least one of user_id, agent_id, run_id")
        for name, value in named.items():
            if not isinstance(value, str) or not 1 <= len(value) <= _MOST:
                raise InputError(f"{name}: {str(value)[:40]!r}; use text of 1 to {_MOST} signs")
            check_text(value, name)
        return self

    @property
    def named(self) -> dict[str, str]:
        """Those that were given, by name."""
        given = {name: getattr(self, name) for name in _FIELDS}
        return {name: value for name, value in given.items() if value is not None}

    @property
    def shelf(self) -> str:
        """Where its vectors stand together: under the first that is given. Every memory of a user
        is on that user's shelf, so a search of a user looks nowhere else.
        """
        name, value = next(iter(self.named.items()))
        return f"{name}:{value}"


@dataclass(frozen=True, slots=True)
class Record:
    """One memory as it is kept.

    `time` is that of what it tells (naive, UTC where a zone was given); `created`, `updated` and
    `accessed` are the clock's, naive UTC. `turns` are the ids of its messages. `importance`: 0..1.
    """

    id: str
    memory: str
    owner: Owner
    metadata: Mapping[str, Any]
    kind: MemoryKind
    time: datetime
    speaker: str
    turns: tuple[str, ...]
    importance: float
    created: datetime
    updated: datetime
    accesses: int
    accessed: datetime | None
    index_text: str

    def as_json(self) -> dict[str, Any]:
        """Plain JSON values; times in RFC 3339, UTC."""
        return {
            "id": self.id,
            "memory": self.memory,
            **{name: getattr(self.owner, name) for name in _FIELDS},
            "metadata": dict(self.metadata),
            "kind": self.kind,
            "time": zulu(self.time),
            "speaker": self.speaker,
            "turns": list(self.turns),
            "importance": self.importance,
            "created": zulu(self.created),
            "updated": zulu(self.updated),
            "accesses": self.accesses,
        }


@dataclass(frozen=True, slots=True)
class Change:
    """One entry of the history, numbered over the whole store; None where there is no text."""

    number: int
    id: str
    event: EventName
    old: str | None
    new: str | None
    time: datetime
    owner: Owner

    def as_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "number": self.number,
            "id": self.id,
            "event": self.event,
            "old": self.old,
            "new": self.new,
            "time": zulu(self.time),
            **{name: getattr(self.owner, name) for name in _FIELDS},
        }


@dataclass(frozen=True, slots=True)
class Added:
    """What an add changed, in order, and what of it went wrong without ending it (infer=True)."""

    changes: tuple[Change, ...]
    faults: Sequence[Event] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """A search result. `score` is the weighted sum, `relevance` its first term before weighting."""

    record: Record
    score: float
    relevance: float


def naive(time: datetime) -> datetime:
    """`time` in UTC without its zone; one without a zone is taken as it is."""
    if time.tzinfo is None:
        return time
    try:
        return time.astimezone(UTC).replace(tzinfo=None)
    except OverflowError:  # at the ends of the calendar
        return time.replace(tzinfo=None)


def zulu(time: datetime) -> str:
    """A naive time in UTC as RFC 3339 has it."""
    return time.isoformat() + "Z"


def check_text(text: str, name: str) -> None:
    """Raises InputError on half a character (a lone surrogate), which no file can hold."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{name}: is no valid Unicode (sign {error.start})") from None
