"""The schemas of chat messages in requests: texts, images, and calls of tools."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

from memsys.core.yaml_text import load_table
from memsys.knowledge.facts.extract import Detail

TEXT_MOST = 20_000  # characters of a text
MESSAGES_MOST = 200
PARTS_MOST = 50  # of a message
ADDRESS_MOST = 1_000_000  # characters; an image may be in its address (data:image/)
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
    def _says_something(self) -> ChatMessage:
        if not self.content and self.tool_calls is None:
            raise ValueError("a message has a content or tool_calls")
        return self


ChatMessages = Annotated[list[ChatMessage], Field(min_length=1, max_length=MESSAGES_MOST)]
