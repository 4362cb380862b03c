"""The schemas of requests and answers in the OpenAPI document."""

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, field_validator

from memsys.core.errors import InputError
from memsys.service.arguments import TITLE_MOST, MemoryType, Version
from memsys.service.rest.chat import (
    IS_LIST,
    IS_OBJECT,
    IS_TEXT,
    RULES,
    TEXT_MOST,
    ChatMessage,
    ChatMessages,
    ImagePart,
    ShortText,
    Strict,
    Text,
    form,
    forms,
)
from memsys.service.results import MemoryChange, MemoryRecord, Rows, SearchResult

TOP_K_MOST = 200
PAGE_MOST = 1_000
IMAGES_MOST = 50  # of a request: the model is asked about each
METADATA_MOST = 50  # names
BUDGET_MOST = 1_000_000  # tokens of a context
REPLY_MOST = 16_000_000  # characters of texts and metadata in one answer
_TIME_MOST = 64  # characters
_RFC_3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)


def _time(text: object) -> datetime:
    if not isinstance(text, str) or len(text) > _TIME_MOST or not _RFC_3339.fullmatch(text):
        raise ValueError("use RFC 3339, with a zone: 2026-05-08T13:56:00Z")
    return datetime.fromisoformat(text.upper())


def _whole(value: object) -> object:
    """Return an integral float as an integer (3 for 3.0): JSON does not distinguish them."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Time = Annotated[
    datetime,
    BeforeValidator(_time),
    WithJsonSchema({"type": "string", "format": "date-time", "maxLength": _TIME_MOST}),
]
TopK = Annotated[int, Field(ge=1, le=TOP_K_MOST), BeforeValidator(_whole)]
EventTime = Annotated[  # Memory.update checks it
    str, Field(max_length=_TIME_MOST), WithJsonSchema(RULES["event_time"])
]
Metadata = Annotated[dict[str, Any], Field(max_length=METADATA_MOST)]
Filters = Annotated[  # values of the metadata, and perhaps ids
    dict[str, Any], Field(max_length=METADATA_MOST, json_schema_extra=RULES["filters"])
]
Budget = Annotated[int, Field(ge=1, le=BUDGET_MOST), BeforeValidator(_whole)]


class _Owned(Strict):
    model_config = ConfigDict(json_schema_extra=RULES["owner"])

    user_id: ShortText | None = None
    agent_id: ShortText | None = None
    run_id: ShortText | None = None


class ResetRequest(_Owned):
    """The body of POST /reset: an owner, or `all`, but not both."""

    model_config = ConfigDict(json_schema_extra=RULES["reset"])

    all: bool = False


class AddRequest(_Owned):
    """The body of POST /memories. `prompt`: further instructions to the model, or what replaces the
    template of a procedure. `memory_type`: kind=procedural, under mem0's name.
    """

    messages: Annotated[
        Annotated[Text, IS_TEXT]
        | Annotated[ChatMessage, IS_OBJECT]
        | Annotated[ChatMessages, IS_LIST],
        forms(form, "a text, a message, or a list of messages"),
    ]
    metadata: Metadata | None = None
    infer: bool | None = None
    kind: Literal["fact", "procedural"] = "fact"
    time: Time | None = None
    prompt: Annotated[str, Field(max_length=TEXT_MOST, pattern=r"\S")] | None = None
    memory_type: MemoryType | None = None
    version: Version | None = None

    @field_validator("messages")
    @classmethod
    def _few_images(cls, messages: str | ChatMessage | list[ChatMessage]) -> Any:
        listed = messages if isinstance(messages, list) else [messages]
        contents = [one.content for one in listed if isinstance(one, ChatMessage)]
        parts = [part for one in contents for part in (one if isinstance(one, list) else [one])]
        if sum(isinstance(part, ImagePart) for part in parts) > IMAGES_MOST:
            raise ValueError(f"over {IMAGES_MOST} images; add them in several requests")
        return messages


class _Search(_Owned):
    model_config = ConfigDict(json_schema_extra=RULES["search"])

    query: Annotated[str, Field(max_length=TEXT_MOST)]
    filters: Filters | None = None
    top_k: TopK | None = None
    time: Time | None = None
    enable_graph: bool | None = None


class SearchRequest(_Search):
    """The body of POST /search. `limit`: top_k, under mem0's name."""

    model_config = ConfigDict(json_schema_extra=RULES["search"] | RULES["one_number"])

    limit: TopK | None = None
    threshold: Annotated[float, Field(allow_inf_nan=False)] | None = None
    version: Version | None = None


class ContextRequest(_Search):
    """The body of POST /context. `budget`: the most tokens of the text."""

    budget: Budget | None = None


class UpdateRequest(Strict):
    """The body of PUT /memories/{id}; fields that are missing or null stay unchanged. `data`: the
    text, under mem0's name.
    """

    model_config = ConfigDict(json_schema_extra=RULES["update"])

    text: Text | None = None
    data: Text | None = None
    metadata: Metadata | None = None
    time: Time | None = None
    title: Annotated[str, Field(max_length=TITLE_MOST)] | None = None
    event_time: EventTime | None = None


class Memories(BaseModel):
    """Memories of an owner, oldest first."""

    results: list[MemoryRecord]


class Results(BaseModel):
    """Search results, best first, the relations found with them, and the strategy's decision."""

    results: list[SearchResult]
    relations: list[dict[str, Any]] = []
    trace: dict[str, Any] = {}


class Changes(BaseModel):
    """Changes in order; after an add, also those of relations, and its faults."""

    results: list[MemoryChange]
    relations: list[dict[str, Any]] = []
    faults: list[dict[str, Any]] = []


class Done(BaseModel):
    """Confirmation of an operation without a result."""

    message: str


class ErrorPlace(BaseModel):
    """The place of an error in the request, and its message."""

    place: str
    message: str


class Fault(BaseModel):
    """An error: HTTP status, type, message, and the places in the request."""

    status: int
    type: str
    message: str
    details: list[ErrorPlace] = []


class Error(BaseModel):
    """The body of every answer with an error status."""

    error: Fault


def page(rows: Rows[Any], number: str) -> dict[str, Any]:
    """Return `rows` as an answer. Raises InputError like check_size."""
    check_size(rows, number)
    return {"results": rows, "relations": rows.relations, "trace": dict(rows.trace)}


def check_size(rows: Iterable[MemoryRecord], number: str) -> None:
    """Raise InputError naming `number` if `rows` are too large for an answer."""
    if sum(len(row.memory) + len(str(row.metadata)) for row in rows) > REPLY_MOST:
        raise InputError(f"{number}: the results have over {REPLY_MOST:,} characters; ask for less")
