"""Chats of an assistant, as every format is read: messages with roles and times, in groups."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from eval.datasets.checks import Location
from memsys.core.errors import InputError

Role = Literal["user", "assistant"]


class Place(Location):
    """A part of an exported file, as messages name it: `FILE: PART: FIELD`."""

    def at(self, field: str) -> str:
        """Return the prefix of an error."""
        return f"{self.file}: {self.sample}: {field}"


@dataclass(frozen=True, slots=True)
class Message:
    """What one side said. `time`: UTC, naive; None if the export has none for the message."""

    role: Role
    text: str
    time: datetime | None


@dataclass(slots=True)
class Chat:
    """A chat. `group`: what becomes one conversation, the project of a coding agent or the whole
    export. `time`: of its start, for messages without a time.
    """

    group: str
    time: datetime | None
    messages: list[Message] = field(default_factory=list)


class Tally:
    """Counts of what was left out or changed, by name."""

    def __init__(self) -> None:
        self.dropped: Counter[str] = Counter()
        self.changed: Counter[str] = Counter()


def seconds(value: Any, where: Location, field: str) -> datetime | None:
    """Return the time of a number of seconds since 1970; None for None."""
    if value is None:
        return None
    if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
        try:
            return datetime.fromtimestamp(value, UTC).replace(tzinfo=None)
        except (OverflowError, OSError, ValueError):
            pass
    raise _no_time(value, where, field, "seconds since 1970")


def iso(value: Any, where: Location, field: str) -> datetime | None:
    """Return the time of ISO 8601 in UTC; None for None. A time without a zone is taken as UTC."""
    if value is None:
        return None
    if isinstance(value, str):
        try:
            time = datetime.fromisoformat(value)
            return time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time
        except (OverflowError, ValueError):
            pass
    raise _no_time(value, where, field, "ISO 8601, as in 2025-05-08T13:56:00Z")


def _no_time(value: Any, where: Location, field: str, form: str) -> InputError:
    return where.error(field, f"{value!r:.60} is no time; it must be {form}")
