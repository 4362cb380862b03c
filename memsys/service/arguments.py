"""Arguments of the operations, with the type of each; owners, times, and the ids of messages."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import wraps
from hashlib import blake2b
from inspect import signature
from pathlib import Path
from typing import Annotated, Any, Literal, ParamSpec, TypedDict, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    NonNegativeInt,
    PlainValidator,
    PositiveInt,
)

from memsys.core.chinese_dates import iso_date
from memsys.core.errors import InputError, problems
from memsys.core.types import Turn

P = ParamSpec("P")
T = TypeVar("T")
MemoryKind = Literal["fact", "procedural"]  # of memories that a caller adds
MemoryType = Literal["procedural_memory"]
Version = Literal["v1.1"]  # of the results: a dictionary with `results` and `relations`
METADATA_DEPTH = 20  # nested lists and objects
METADATA_BYTES = 65_536  # as JSON in UTF-8
TITLE_MOST = 256  # characters
_KEY_SEPARATOR = "\x1f"
_KEY_END = re.compile(f"{_KEY_SEPARATOR}[0-9a-f]{{32}}$")


class NoModelError(InputError):
    """The operation asks a model, and none is configured."""


class OwnerError(InputError):
    """An operation on all memories names neither an owner nor all, or both."""


def now() -> datetime:
    """Return the wall-clock time, naive UTC."""
    return datetime.now(UTC).replace(tzinfo=None)


def naive(time: datetime) -> datetime:
    """Return `time` in UTC without its zone; a time without a zone is returned unchanged."""
    if time.tzinfo is None:
        return time
    try:
        return time.astimezone(UTC).replace(tzinfo=None)
    except OverflowError:  # outside the years 1 to 9999
        return time.replace(tzinfo=None)


def _json_object(value: object) -> dict[str, Any]:
    """Return a copy of a JSON object. Raises ValueError if it is none, or exceeds its limits."""
    try:
        if not isinstance(value, Mapping) or any(not isinstance(key, str) for key in value):
            raise TypeError("use an object whose names are text")
        text = json.dumps(dict(value), ensure_ascii=False, allow_nan=False).encode()
        copy: dict[str, Any] = json.loads(text)
        depth = _depth(copy)
    except (TypeError, ValueError, RecursionError) as error:  # ValueError: also invalid Unicode
        raise ValueError(f"not a JSON object ({error})") from error
    if len(text) > METADATA_BYTES or depth > METADATA_DEPTH:
        raise ValueError(f"use at most {METADATA_BYTES:,} bytes, nested {METADATA_DEPTH} deep")
    return copy


def _depth(value: object) -> int:
    """Return how many dicts and lists of `value` are within each other at most."""
    if not isinstance(value, dict | list):
        return 0
    return 1 + max(map(_depth, value.values() if isinstance(value, dict) else value), default=0)


def _date(text: str) -> str:
    if text and iso_date(text) is None:
        raise ValueError(
            "use ISO 8601 (2031, 2031-05, 2031-05-02 or 2031-05-02/2031-05-08), or an empty text "
            "for no date"
        )
    return text


Unicode = Annotated[str, Field(min_length=0)]  # without any limit, pydantic admits lone surrogates
Text = Annotated[str, Field(min_length=1)]
Time = Annotated[datetime, AfterValidator(naive)]
JsonObject = Annotated[Mapping[str, Any], PlainValidator(_json_object)]
_OwnerId = Annotated[str, Field(min_length=1, max_length=256)]


class Arguments(BaseModel):
    """The arguments of the operations, each of the same type in all of them."""

    model_config = ConfigDict(strict=True, extra="forbid")

    messages: Any = None  # see ParsedMessages
    user_id: _OwnerId | None = None
    agent_id: _OwnerId | None = None
    run_id: _OwnerId | None = None
    all: bool = False
    memory_id: Unicode = ""
    query: Unicode = ""
    filters: JsonObject | None = None
    top_k: NonNegativeInt | None = None
    limit: NonNegativeInt | None = None
    offset: NonNegativeInt = 0
    threshold: FiniteFloat | None = None
    budget: PositiveInt | None = None
    enable_graph: bool | None = None
    text: Text | None = None
    data: Text | None = None
    metadata: JsonObject | None = None
    title: Annotated[str, Field(max_length=TITLE_MOST)] | None = None
    time: Time | None = None
    event_time: Annotated[str, AfterValidator(_date)] | None = None
    infer: bool | None = None
    kind: MemoryKind = "fact"
    prompt: Annotated[str, Field(pattern=r"\S")] | None = None
    memory_type: MemoryType | None = None
    version: Version | None = None
    history: bool = True


def checked(operation: Callable[P, T]) -> Callable[P, T]:
    """Return the method `operation` with its arguments checked, and converted, as Arguments says.
    It raises InputError naming the first that is wrong.
    """
    parameters = signature(operation).parameters.values()
    names = [param.name for param in parameters if param.kind is param.POSITIONAL_OR_KEYWORD]

    @wraps(operation)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        given: dict[str, Any] = dict(zip(names, args, strict=False))
        if len(given) < len(args) or not given.keys().isdisjoint(kwargs):
            return operation(*args, **kwargs)  # a TypeError
        itself = given.pop("self")
        with problems(operation.__name__):
            values = Arguments.model_validate(given | kwargs)
        named = {name: getattr(values, name) for name in values.model_fields_set}
        return operation(itself, **named)

    return run


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
        """Return self. Raises InputError without an id."""
        if not self.named:
            raise InputError(
                "owner: give at least one of user_id, agent_id, run_id (in filters, or as it is)"
            )
        return self

    def check_bulk(self, everyone: bool) -> Owner | None:
        """Return self, or None for every owner. Raises OwnerError unless exactly one of an owner
        and `everyone`, the argument `all`, is given.
        """
        if everyone == bool(self.named):
            raise OwnerError(
                "owner: give user_id, agent_id, run_id or some of them, or all=true for the "
                "memories of every owner, not both"
            )
        return None if everyone else self

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


def narrowed(owner: Owner, filters: Mapping[str, Any] | None) -> tuple[Owner, dict[str, Any]]:
    """Return the owner and the metadata that results must have. Ids may be among the `filters`, as
    in mem0. Raises InputError on an invalid id, without an id, or if one is given twice.
    """
    rest = dict(filters or {})
    ids = {name: rest.pop(name) for name in asdict(owner) if name in rest}
    for name, value in ids.items():
        if value is None or name in owner.named:  # null would widen what is found
            raise InputError(f"filters.{name}: use text, here or as {name}, not both")
    with problems("filters"):
        Arguments.model_validate(ids)
    return replace(owner, **ids).check(), rest


def either(name: str, value: Any, other_name: str, other: Any) -> Any:
    """Return the one of two arguments of the same meaning that is given, None without any. Raises
    InputError if both are.
    """
    if value is not None and other is not None:
        raise InputError(f"{name}: give it or {other_name}, not both")
    return other if value is None else value


def path_of(value: object, name: str) -> Path:
    """Return a path of the user, with ~ replaced. Raises InputError naming `name` unless it is a
    text or a path, of a user of this machine.
    """
    try:
        return Path(value).expanduser()  # type: ignore[arg-type]
    except (TypeError, RuntimeError) as error:
        raise InputError(f"{name}: {value!r:.60}; use a path ({error})") from error


def turn_key(public: str, turn: Turn) -> str:
    """Return what names a message in the stores: the caller's id of it, which other messages may
    have too, and a hash of speaker and text. A message that is added again has the same key.
    """
    content = f"{turn.speaker}\n{turn.text}".encode()
    return f"{public}{_KEY_SEPARATOR}{blake2b(content, digest_size=16).hexdigest()}"


def public_ids(keys: Sequence[str]) -> tuple[str, ...]:
    """Return the caller's ids in `keys`, each once."""
    return tuple(dict.fromkeys(_KEY_END.sub("", key) for key in keys))
