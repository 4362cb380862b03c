"""The schemas of requests in the OpenAPI document: chat messages of texts, images and calls of
tools, and the bodies of the operations; and the limit of an answer.
"""

import re
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal, Self

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
from memsys.core.yaml_text import load_table
from memsys.knowledge.facts.extract import Detail
from memsys.service.arguments import TITLE_MOST, MemoryType, Version
from memsys.service.results import MemoryRecord, Rows

TEXT_MOST = 20_000  # characters of a text
MESSAGES_MOST = 200
PARTS_MOST = 50  # of a message
ADDRESS_MOST = 1_000_000  # characters; an image may be in its address (data:image/)
TOP_K_MOST = 200
PAGE_MOST = 1_000
IMAGES_MOST = 50  # of a request: the model is asked about each
METADATA_MOST = 50  # names
BUDGET_MOST = 1_000_000  # tokens of a context
REPLY_MOST = 16_000_000  # characters of texts and metadata in one answer
_TIME_MOST = 64  # characters
_RFC_3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
RULES = load_table(Path(__file__).with_name("rules.yaml"))
ShortText = Annotated[str, Field(min_length=1, max_length=256)]
Text = Annotated[str, Field(min_length=1, max_length=TEXT_MOST)]


class Strict(BaseModel):
    """Base of schemas that accept neither unknown fields nor values of another type, such as a
    number for a text.
    """

    model_config = ConfigDict(strict=True, extra="forbid")


class TextPart(Strict):
    """A text in a message of several parts."""

    type: Literal["text"]
    text: Text


class ImageUrl(Strict):
    """The address of an image, and the resolution at which the model reads it."""

    url: Annotated[str, Field(max_length=ADDRESS_MOST, pattern="^(https?://|data:image/)")]
    detail: Detail | None = None


class ImagePart(Strict):
    """An image in a message; the model of the server describes it."""

    type: Literal["image_url"]
    image_url: ImageUrl


# Tags of the forms that a value may have: an error is that of its form alone, and its place does
# not name the tag.
FORMS = "<text>", "<object>", "<list>", "<image>"
IS_TEXT, IS_OBJECT, IS_LIST, IS_IMAGE = map(Tag, FORMS)


def form(value: object) -> str | None:
    """Return the tag of a text, a list, or an object."""
    if isinstance(value, str):
        return IS_TEXT.tag
    if isinstance(value, list):
        return IS_LIST.tag
    return IS_OBJECT.tag if isinstance(value, dict | BaseModel) else None


def _part_form(part: object) -> str | None:
    """Return the tag of a part of a content, by its type."""
    type_ = part.get("type") if isinstance(part, dict) else getattr(part, "type", None)
    return {"text": IS_TEXT.tag, "image_url": IS_IMAGE.tag}.get(str(type_))


def forms(select: Callable[[object], str | None], expected: str) -> Discriminator:
    """Return what chooses a form by the tag of `select`; an error says what is expected."""
    return Discriminator(select, custom_error_type="form", custom_error_message=f"use {expected}")


Part = Annotated[
    Annotated[TextPart, IS_TEXT] | Annotated[ImagePart, IS_IMAGE],
    forms(_part_form, "a part of type text or image_url"),
]


class Function(Strict):
    """The function that a tool call names, and its arguments as JSON text."""

    name: ShortText
    arguments: Annotated[str, Field(max_length=TEXT_MOST)] = ""


class ToolCall(Strict):
    """A tool call by an assistant. `id`: that to which `tool_call_id` of its result refers."""

    id: ShortText | None = None
    type: Literal["function"] = "function"
    function: Function


ToolCalls = Annotated[list[ToolCall], Field(min_length=1, max_length=PARTS_MOST)]
Parts = Annotated[list[Part], Field(min_length=1, max_length=PARTS_MOST)]
_Said = Annotated[str, Field(max_length=TEXT_MOST)]  # "" beside tool calls
Content = Annotated[
    Annotated[_Said, IS_TEXT] | Annotated[Part, IS_OBJECT] | Annotated[Parts, IS_LIST],
    forms(form, "a text, a part, or a list of parts"),
]


class ChatMessage(Strict):
    """A chat message, with a content or tool calls. `name`: the speaker; `id`: the caller's id of
    the message.
    """

    model_config = ConfigDict(json_schema_extra=RULES["message"])

    role: Literal["user", "assistant", "system", "tool"]
    content: Content | None = None
    name: ShortText | None = None
    id: ShortText | None = None
    tool_calls: ToolCalls | None = None
    tool_call_id: ShortText | None = None

    @model_validator(mode="after")
    def _check_content(self) -> Self:
        if not self.content and self.tool_calls is None:
            raise ValueError("a message has a content or tool_calls")
        return self


ChatMessages = Annotated[list[ChatMessage], Field(min_length=1, max_length=MESSAGES_MOST)]


def _time(text: object) -> datetime:
    if not isinstance(text, str) or len(text) > _TIME_MOST or not _RFC_3339.fullmatch(text):
        raise ValueError("use RFC 3339, with a zone: 2026-05-08T13:56:00Z")
    return datetime.fromisoformat(text.upper())


def _as_integer(value: object) -> object:
    """Return an integral float as an integer (3 for 3.0): JSON does not distinguish them."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Time = Annotated[
    datetime,
    BeforeValidator(_time),
    WithJsonSchema({"type": "string", "format": "date-time", "maxLength": _TIME_MOST}),
]
TopK = Annotated[int, Field(ge=1, le=TOP_K_MOST), BeforeValidator(_as_integer)]
EventTime = Annotated[  # Memory.update checks it
    str, Field(max_length=_TIME_MOST), WithJsonSchema(RULES["event_time"])
]
Metadata = Annotated[dict[str, Any], Field(max_length=METADATA_MOST)]
Filters = Annotated[  # values of the metadata, and perhaps ids
    dict[str, Any], Field(max_length=METADATA_MOST, json_schema_extra=RULES["filters"])
]
Budget = Annotated[int, Field(ge=1, le=BUDGET_MOST), BeforeValidator(_as_integer)]


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
    def _check_images(cls, messages: str | ChatMessage | list[ChatMessage]) -> Any:
        listed = messages if isinstance(messages, list) else [messages]
        contents = [message.content for message in listed if isinstance(message, ChatMessage)]
        parts = [part for raw in contents for part in (raw if isinstance(raw, list) else [raw])]
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


def page(rows: Rows[Any], number: str) -> dict[str, Any]:
    """Return `rows` as an answer. Raises InputError like check_size."""
    check_size(rows, number)
    return {"results": rows, "relations": rows.relations, "trace": dict(rows.trace)}


def check_size(rows: Iterable[MemoryRecord], number: str) -> None:
    """Raise InputError naming `number` if `rows` are too large for an answer."""
    if sum(len(row.memory) + len(str(row.metadata)) for row in rows) > REPLY_MOST:
        raise InputError(f"{number}: the results have over {REPLY_MOST:,} characters; ask for less")
