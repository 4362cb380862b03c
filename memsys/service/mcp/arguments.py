"""The arguments of the tools, as JSON Schema that an agent reads."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from memsys.service.rest.schemas import PAGE_MOST, Metadata, ShortText, Text, Time, TopK


class Arguments(BaseModel):
    """The argument that every tool has. Unknown arguments are refused: a misspelt one would widen
    what is found.
    """

    model_config = ConfigDict(strict=True, extra="forbid")

    user_id: Annotated[
        ShortText, Field(description="Whose memories: only those of this user are seen or changed.")
    ]

    @classmethod
    def schema_for(cls, user: str | None) -> dict[str, Any]:
        """Return the JSON Schema. `user`: the value of user_id if it is left out, None: it must be
        given.
        """
        schema = cls.model_json_schema()
        fields = {
            name: {key: value for key, value in _plain(one).items() if key != "title"}
            for name, one in schema["properties"].items()
        }
        required = schema.get("required", [])
        if user is not None:
            fields["user_id"]["default"] = user
            required = [name for name in required if name != "user_id"]
        return {
            "type": "object",
            "properties": fields,
            "required": required,
            "additionalProperties": False,
        }


_MemoryId = Annotated[ShortText, Field(description="The id of a memory, as other tools return it.")]
_Time = Annotated[Time, Field(description="RFC 3339 with a zone, such as 2026-05-08T13:56:00Z.")]
_Note = "An object of your own values, such as a source or the ids of messages."


class Add(Arguments):
    """Arguments of add_memory."""

    text: Annotated[Text, Field(description="What to remember: one fact, message or note.")]
    metadata: Annotated[Metadata | None, Field(description=f"{_Note} Returned unchanged.")] = None
    time: Annotated[
        _Time | None, Field(description="When it was said, in RFC 3339 with a zone. Default: now.")
    ] = None


class Search(Arguments):
    """Arguments of search_memory."""

    query: Annotated[Text, Field(description="A question or words that describe what is wanted.")]
    limit: Annotated[
        TopK | None, Field(description="The most results. Default: set by the server.")
    ] = None
    filters: Annotated[
        Metadata | None, Field(description="Values that the metadata of a result must have.")
    ] = None


class Listing(Arguments):
    """Arguments of list_memories."""

    limit: Annotated[int, Field(ge=1, le=PAGE_MOST, description="The most results.")] = 100
    offset: Annotated[int, Field(ge=0, le=10**9, description="How many to skip.")] = 0


class One(Arguments):
    """Arguments of get_memory and delete_memory."""

    id: _MemoryId


class Update(One):
    """Arguments of update_memory."""

    text: Annotated[Text | None, Field(description="The new text. Default: unchanged.")] = None
    metadata: Annotated[
        Metadata | None, Field(description=f"{_Note} Replaces the former. Default: unchanged.")
    ] = None
    time: Annotated[
        _Time | None, Field(description="The new time, in RFC 3339. Default: unchanged.")
    ] = None


def _plain(field: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a field without the alternative null: leave the field out instead."""
    if "anyOf" not in field:
        return field
    (only,) = [one for one in field["anyOf"] if one.get("type") != "null"]
    rest = {key: value for key, value in field.items() if key not in ("anyOf", "default")}
    return {**only, **rest}
