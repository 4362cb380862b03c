"""The schemas of requests and answers in the OpenAPI document."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from memsys.core.errors import InputError
from memsys.knowledge.facts.extract import Detail
from memsys.service.arguments import MemoryType, Version
from memsys.service.owners import TITLE_MOST
from memsys.service.results import MemoryChange, MemoryRecord, Rows, SearchResult

TEXT_MOST = 20_000  # characters of a text
MESSAGES_MOST = 200
TOP_K_MOST = 200
PAGE_MOST = 1_000
PARTS_MOST = 50  # of a message
IMAGES_MOST = 50  # of a request: the model is asked about each
ADDRESS_MOST = 1_000_000  # characters; an image may be in its address (data:image/)
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


ShortText = Annotated[str, Field(min_length=1, max_length=256)]
Text = Annotated[str, Field(min_length=1, max_length=TEXT_MOST)]
Time = Annotated[
    datetime,
    BeforeValidator(_time),
    WithJsonSchema({"type": "string", "format": "date-time", "maxLength": _TIME_MOST}),
]
TopK = Annotated[int, Field(ge=1, le=TOP_K_MOST), BeforeValidator(_whole)]
_PART_OF_A_DATE = "^([1-9][0-9]{3}(-(0[1-9]|1[0-2]))?)?$"  # a year, a month, or nothing
EventTime = Annotated[  # Memory.update checks it
    str,
    Field(max_length=_TIME_MOST),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "format": "date"},
                {"type": "string", "pattern": _PART_OF_A_DATE},
            ]
        }
    ),
]
Metadata = Annotated[dict[str, Any], Field(max_length=METADATA_MOST)]
_ID = {"type": "string", "minLength": 1, "maxLength": 256}
Filters = Annotated[  # values of the metadata, and perhaps ids
    dict[str, Any],
    Field(
        max_length=METADATA_MOST,
        json_schema_extra={"properties": dict.fromkeys(("user_id", "agent_id", "run_id"), _ID)},
    ),
]
Budget = Annotated[int, Field(ge=1, le=BUDGET_MOST), BeforeValidator(_whole)]


class _Strict(BaseModel):
    """Base of schemas that accept neither unknown fields nor values of another type, such as a
    number for a text.
    """

    model_config = ConfigDict(strict=True, extra="forbid")


def _any_of(**types: str) -> dict[str, Any]:
    """Return the JSON Schema that requires at least one of some fields, given by JSON type."""
    return {"anyOf": [{"required": [n], "properties": {n: {"type": types[n]}}} for n in types]}


def _not_both(one: str, other: str, type_: str) -> dict[str, Any]:
    """Return the JSON Schema that forbids two fields of one JSON type together."""
    both = {one: {"type": type_}, other: {"type": type_}}
    return {"not": {"required": [one, other], "properties": both}}


_IDS = "user_id", "agent_id", "run_id"
_OWNER = _any_of(**dict.fromkeys(_IDS, "string"))
_AMONG_FILTERS = {"required": ["filters"], "properties": {"filters": {"type": "object", **_OWNER}}}


def _twice(name: str) -> dict[str, Any]:
    """Return the JSON Schema of an id that is a field and among the filters."""
    filters = {"type": "object", "required": [name]}
    fields = {name: {"type": "string"}, "filters": filters}
    return {"required": [name, "filters"], "properties": fields}


# At least one id, each as a field or among the filters.
_SEARCHED: dict[str, Any] = {
    "anyOf": [*_OWNER["anyOf"], _AMONG_FILTERS],
    "allOf": [{"not": _twice(name)} for name in _IDS],
}
_ALL: dict[str, Any] = {"required": ["all"], "properties": {"all": {"const": True}}}


class _Owned(_Strict):
    model_config = ConfigDict(json_schema_extra=_OWNER)

    user_id: ShortText | None = None
    agent_id: ShortText | None = None
    run_id: ShortText | None = None


class ResetRequest(_Owned):
    """The body of POST /reset: an owner, or `all`, but not both."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [_OWNER, _ALL]})

    all: bool = False


class TextPart(_Strict):
    """A text in a message of several parts."""

    type: Literal["text"]
    text: Text


class ImageUrl(_Strict):
    """The address of an image, and the resolution at which the model reads it."""

    url: Annotated[str, Field(max_length=ADDRESS_MOST, pattern="^(https?://|data:image/)")]
    detail: Detail | None = None


class ImagePart(_Strict):
    """An image in a message; the model of the server describes it."""

    type: Literal["image_url"]
    image_url: ImageUrl


# Tags of the forms that a value may have: an error is that of its form alone, and its place does
# not name the tag.
_IS_TEXT, _IS_OBJECT, _IS_LIST, _IS_IMAGE = (
    Tag("<text>"),
    Tag("<object>"),
    Tag("<list>"),
    Tag("<image>"),
)
FORMS = frozenset(one.tag for one in (_IS_TEXT, _IS_OBJECT, _IS_LIST, _IS_IMAGE))


def _form(value: object) -> str | None:
    """Return the tag of a text, a list, or an object."""
    if isinstance(value, str):
        return _IS_TEXT.tag
    if isinstance(value, list):
        return _IS_LIST.tag
    return _IS_OBJECT.tag if isinstance(value, dict | BaseModel) else None


def _part_form(part: object) -> str | None:
    """Return the tag of a part of a content, by its type."""
    type_ = part.get("type") if isinstance(part, dict) else getattr(part, "type", None)
    return {"text": _IS_TEXT.tag, "image_url": _IS_IMAGE.tag}.get(str(type_))


def _forms(select: Callable[[object], str | None], expected: str) -> Discriminator:
    return Discriminator(select, custom_error_type="form", custom_error_message=f"use {expected}")


Part = Annotated[
    Annotated[TextPart, _IS_TEXT] | Annotated[ImagePart, _IS_IMAGE],
    _forms(_part_form, "a part of type text or image_url"),
]


class Function(_Strict):
    """The function that a tool call names, and its arguments as JSON text."""

    name: ShortText
    arguments: Annotated[str, Field(max_length=TEXT_MOST)] = ""


class ToolCall(_Strict):
    """A tool call by an assistant. `id`: that to which `tool_call_id` of its result refers."""

    id: ShortText | None = None
    type: Literal["function"] = "function"
    function: Function


ToolCalls = Annotated[list[ToolCall], Field(min_length=1, max_length=PARTS_MOST)]
Parts = Annotated[list[Part], Field(min_length=1, max_length=PARTS_MOST)]
_Said = Annotated[str, Field(max_length=TEXT_MOST)]  # "" beside tool calls
Content = Annotated[
    Annotated[_Said, _IS_TEXT] | Annotated[Part, _IS_OBJECT] | Annotated[Parts, _IS_LIST],
    _forms(_form, "a text, a part, or a list of parts"),
]
_CONTENT = {"content": {"type": ["string", "object", "array"], "minLength": 1}}
_SAID: dict[str, Any] = {
    "anyOf": [
        {"required": ["content"], "properties": _CONTENT},
        {"required": ["tool_calls"], "properties": {"tool_calls": {"type": "array"}}},
    ]
}


class ChatMessage(_Strict):
    """A chat message, with a content or tool calls. `name`: the speaker; `id`: the caller's id of
    the message.
    """

    model_config = ConfigDict(json_schema_extra=_SAID)

    role: Literal["user", "assistant", "system", "tool"]
    content: Content | None = None
    name: ShortText | None = None
    id: ShortText | None = None
    tool_calls: ToolCalls | None = None
    tool_call_id: ShortText | None = None

    @model_validator(mode="after")
    def _says_something(self) -> ChatMessage:
        if not self.content and self.tool_calls is None:
            raise ValueError("a message has a content or tool_calls")
        return self


ChatMessages = Annotated[list[ChatMessage], Field(min_length=1, max_length=MESSAGES_MOST)]


class AddRequest(_Owned):
    """The body of POST /memories. `prompt`: further instructions to the model, or what replaces the
    template of a procedure. `memory_type`: kind=procedural, under mem0's name.
    """

    messages: Annotated[
        Annotated[Text, _IS_TEXT]
        | Annotated[ChatMessage, _IS_OBJECT]
        | Annotated[ChatMessages, _IS_LIST],
        _forms(_form, "a text, a message, or a list of messages"),
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
    model_config = ConfigDict(json_schema_extra=_SEARCHED)

    query: Annotated[str, Field(max_length=TEXT_MOST)]
    filters: Filters | None = None
    top_k: TopK | None = None
    time: Time | None = None
    enable_graph: bool | None = None


class SearchRequest(_Search):
    """The body of POST /search. `limit`: top_k, under mem0's name."""

    model_config = ConfigDict(json_schema_extra=_SEARCHED | _not_both("top_k", "limit", "number"))

    limit: TopK | None = None
    threshold: Annotated[float, Field(allow_inf_nan=False)] | None = None
    version: Version | None = None


class ContextRequest(_Search):
    """The body of POST /context. `budget`: the most tokens of the text."""

    budget: Budget | None = None


class UpdateRequest(_Strict):
    """The body of PUT /memories/{id}; fields that are missing or null stay unchanged. `data`: the
    text, under mem0's name.
    """

    model_config = ConfigDict(
        json_schema_extra=_any_of(
            **dict.fromkeys(("text", "data", "time", "title", "event_time"), "string"),
            metadata="object",
        )
        | _not_both("text", "data", "string")
    )

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
