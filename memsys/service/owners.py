"""Owners of memories, times and texts as they are stored, and the ids of messages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from math import inf
from typing import Literal, TypedDict

from memsys.core.errors import InputError, check_bool
from memsys.core.types import Turn

MemoryKind = Literal["fact", "procedural"]  # of memories that a caller adds
_MOST = 256  # characters of an owner's id
_KEY_SEPARATOR = "\x1f"
_KEY_END = re.compile(f"{_KEY_SEPARATOR}[0-9a-f]{{32}}$")


class NoModelError(InputError):
    """The operation asks a model, and none is configured."""


class Whose(TypedDict, total=False):
    """What a reset deletes: an owner's memories, or everybody's."""

    user_id: str | None
    agent_id: str | None
    run_id: str | None
    all: bool


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
            raise InputError(
                "owner: give at least one of user_id, agent_id, run_id (in filters, or as it is)"
            )
        for name, value in named.items():
            check_owner_id(value, name)
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

    def shares(self, other: Owner) -> bool:
        """Return whether the ids of one of the two are among those of the other."""
        own, others = self.named.items(), other.named.items()
        return own <= others or others <= own

    @property
    def shelf(self) -> str:
        """The partition of the vector store, named by the first id that is set. All memories of a
        user are in that user's partition, so a search for a user reads no other.
        """
        name, value = next(iter(self.named.items()))
        return f"{name}:{value}"


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


def turn_key(public: str, turn: Turn) -> str:
    """Return what names a message in the stores: the caller's id of it, which other messages may
    have too, and a hash of speaker and text. A message that is added again has the same key.
    """
    said = f"{turn.speaker}\n{turn.text}".encode()
    return f"{public}{_KEY_SEPARATOR}{blake2b(said, digest_size=16).hexdigest()}"


def public_ids(keys: Sequence[str]) -> tuple[str, ...]:
    """Return the caller's ids in `keys`, each once."""
    return tuple(dict.fromkeys(_KEY_END.sub("", key) for key in keys))


def check_text(
    value: object, name: str, remedy: str = "use text", least: int = 0, most: float = inf
) -> str:
    """Return `value`. Raises InputError with `name` and the `remedy` unless it is a text of `least`
    to `most` characters; also on a lone surrogate, which cannot be encoded as UTF-8.
    """
    if not isinstance(value, str) or not least <= len(value) <= most:
        raise InputError(f"{name}: {remedy}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{name}: not valid Unicode (character {error.start})") from None
    return value


def check_owner_id(value: object, name: str) -> str:
    """Return `value`, the id of an owner. Raises InputError like check_text."""
    remedy = f"{value!r:.40}; use text of 1 to {_MOST} characters"
    return check_text(value, name, remedy, 1, _MOST)
