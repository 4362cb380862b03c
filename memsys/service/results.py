"""Results of the memory operations: typed objects that are flat JSON in replies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from types import MappingProxyType
from typing import Annotated, Any, Literal, SupportsIndex, TypeVar, overload

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, WithJsonSchema, computed_field

from memsys.core.types import Memory, Origin
from memsys.knowledge.facts.fact import Event
from memsys.service.arguments import Owner, public_ids

RecordKind = Literal["fact", "procedural", "summary"]
EventName = Literal["ADD", "UPDATE", "DELETE"]
_TEXT = WithJsonSchema({"type": "string"})  # of which there may be further values later
Utc = Annotated[datetime, PlainSerializer(lambda time: f"{time.isoformat()}Z", return_type=str)]


def _remove_marks(schema: dict[str, Any]) -> None:
    """Remove what marks computed fields in a JSON schema: no field of a result can be written."""
    for field in schema["properties"].values():
        field.pop("readOnly", None)
        field.pop("description", None)


def _alias_of(field: str, type_: Any) -> Any:
    """Return a computed field that has the value of `field`, under its name in mem0."""
    return computed_field(return_type=type_)(property(attrgetter(field)))


class Row(BaseModel, Mapping[str, Any]):
    """A result whose plain JSON values can be read by name, as those of mem0, which are
    dictionaries: `row["memory"]`, `dict(row)`.
    """

    model_config = ConfigDict(frozen=True, json_schema_extra=_remove_marks)

    def as_json(self) -> dict[str, Any]:
        """Return plain JSON values; times in RFC 3339, UTC."""
        return self.model_dump(mode="json", by_alias=True)

    def __getitem__(self, name: str) -> Any:
        """Return one value. Raises KeyError if there is none of this name."""
        return self.as_json()[name]

    def __iter__(self) -> Iterator[str]:  # type: ignore[override]
        """Iterate over the names."""
        return iter(self.as_json())

    def __len__(self) -> int:
        """Return the number of names."""
        return len(self.as_json())


class _Owned(Row):
    user_id: str | None
    agent_id: str | None
    run_id: str | None

    @property
    def owner(self) -> Owner:
        """The owner."""
        return Owner(self.user_id, self.agent_id, self.run_id)


class MemoryRecord(_Owned):
    """A memory. `time` is when its messages were said (UTC if a zone was given), `created` and
    `updated` are wall-clock times; these two have mem0's names as well. `turns`: the caller's ids
    of its messages. `importance`: 0 to 1. `title`: its topic in a few words, "" if it has none.
    `event_time`: the date of the event it states (see memsys.core.types.Memory), null if it
    is not known.
    """

    id: str
    memory: str
    metadata: dict[str, Any]
    kind: Annotated[RecordKind, _TEXT]
    time: Utc
    speaker: str
    importance: float
    created: Utc
    updated: Utc
    accesses: int
    title: str
    event_time: str | None
    turn_keys: tuple[str, ...] = Field(exclude=True)  # of its messages; see turn_key
    index_text: str = Field(exclude=True)
    accessed: datetime | None = Field(exclude=True)  # by the last search that returned it

    @computed_field  # type: ignore[prop-decorator]
    @property
    def turns(self) -> tuple[str, ...]:
        """The caller's ids of its messages."""
        return public_ids(self.turn_keys)

    created_at = _alias_of("created", Utc)
    updated_at = _alias_of("updated", Utc)

    def as_memory(self, id_: str) -> Memory:
        """Return what a strategy ranks and a context shows, under the id `id_`."""
        return Memory(
            id=id_,
            content=self.memory,
            index_text=self.index_text,
            time=self.time,
            speaker=self.speaker,
            turns=self.turn_keys,
            importance=self.importance,
            title=self.title,
            event=self.event_time,
        )


class SearchResult(MemoryRecord):
    """A search result: a memory and its score, a weighted sum, whose first term before weighting is
    `relevance`. `origin`: direct, or expanded where a graph added it. `trace`: what a graph says of
    it: the `path` that added it (seed memory, entity `via`, edge), or the terms of its memory score
    with n, e, w and g; {} if no graph was asked.
    """

    score: float
    relevance: float
    origin: Annotated[Origin, _TEXT]
    trace: Mapping[str, Any]

    @classmethod
    def of(
        cls,
        record: MemoryRecord,
        relevance: float,
        origin: Origin = "direct",
        trace: Mapping[str, Any] = MappingProxyType({}),
    ) -> SearchResult:
        """Return the result of finding `record`, with its relevance as score."""
        return cls.model_construct(
            **vars(record), score=relevance, relevance=relevance, origin=origin, trace=dict(trace)
        )

    @property
    def record(self) -> MemoryRecord:
        """The memory that was found."""
        fields = {name: getattr(self, name) for name in MemoryRecord.model_fields}
        return MemoryRecord.model_construct(**fields)


class MemoryContext(Row):
    """Memories and relations as `text` for a model, of so many o200k `tokens`. `results`: the
    memories in it, best first; `relations`: the sentences of the relations in it; `trace`: what
    the strategy decided (such as the gate) and which memories were summarised.
    """

    text: str
    tokens: int
    results: tuple[SearchResult, ...]
    relations: tuple[str, ...]
    trace: Mapping[str, Any]


class MemoryChange(_Owned):
    """An entry of the history, numbered over the whole store. `old` is null for an ADD, `new` for a
    DELETE; `memory` is the present text, of a deleted memory the last one. Some fields have mem0's
    names as well.
    """

    number: int
    id: str
    event: Annotated[EventName, _TEXT]
    old: str | None
    new: str | None
    time: Utc

    @computed_field  # type: ignore[prop-decorator]
    @property
    def memory(self) -> str:
        """The present text, of a deleted memory the last one."""
        return str(self.old if self.new is None else self.new)

    data = _alias_of("new", str | None)
    memory_id = _alias_of("id", str)
    old_memory = _alias_of("old", str | None)
    new_memory = _alias_of("new", str | None)
    created_at = _alias_of("time", Utc)


class RelationChange(Row):
    """A change of a relation: ADD, MENTION (stated again), RENEW (after its end), DELETE or END."""

    event: str
    source: str
    relationship: str
    destination: str


class FoundRelation(Row):
    """A relation and its score, the cosine of the query and the relation as a sentence. `time`:
    when it was first stated; `ended`: when it became invalid, None while it is valid. `turns`: the
    caller's ids of the messages that state it.
    """

    source: str
    relationship: str
    destination: str
    score: float
    time: Utc
    ended: Utc | None
    mentions: int
    turns: tuple[str, ...]
    memory: Memory = Field(exclude=True)  # the sentence, as a context shows it


class AddResult(Row):
    """The changes of one `add`, in order, and those of relations; with infer=True also the log of
    the model calls, with their tokens (`events`). `result["results"]` are the changes as JSON.
    """

    changes: tuple[MemoryChange, ...] = Field(serialization_alias="results")
    relations: Sequence[RelationChange] = ()
    events: Sequence[Event] = Field(default=(), exclude=True)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def faults(self) -> list[Event]:
        """The events of errors that did not end the operation."""
        return [event for event in self.events if "fault" in event]


R = TypeVar("R", bound=Row)


class Rows(list[R]):
    """A list of results, of which `rows["results"]` are the plain JSON values and
    `rows["relations"]` the relations found with them; `dict(rows)` has both. `trace`: what the
    strategy decided, such as the gate.
    """

    def __init__(
        self,
        rows: Iterable[R] = (),
        relations: Sequence[Row] = (),
        trace: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        super().__init__(rows)
        self.relations, self.trace = relations, trace

    def keys(self) -> tuple[str, ...]:
        """Return the names that can be read."""
        return "results", "relations"

    @overload
    def __getitem__(self, key: SupportsIndex) -> R: ...
    @overload
    def __getitem__(self, key: slice) -> list[R]: ...
    @overload
    def __getitem__(self, key: str) -> list[dict[str, Any]]: ...
    def __getitem__(self, key: SupportsIndex | slice | str) -> Any:
        """Return a result, some results, or the values under a name (KeyError if unknown)."""
        if not isinstance(key, str):
            return super().__getitem__(key)
        if key not in self.keys():
            raise KeyError(key)
        return [row.as_json() for row in (self if key == "results" else self.relations)]

    def __contains__(self, item: object) -> bool:
        """Return whether `item` is a name that can be read, or a result of the list."""
        return item in self.keys() if isinstance(item, str) else super().__contains__(item)

    def get(self, name: str, default: Any = None) -> Any:
        """Return the values under `name`, or `default`."""
        return self[name] if name in self.keys() else default
