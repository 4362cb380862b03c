"""The tools: name, description, arguments as JSON Schema that an agent reads, and the memory
operation behind each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memsys.core.errors import InputError, first_problem
from memsys.service.memory import Memory
from memsys.service.rest.schemas import (
    PAGE_MOST,
    Budget,
    Metadata,
    ShortText,
    Text,
    Time,
    TopK,
    page,
)
from memsys.service.results import MemoryRecord

Reply = dict[str, Any]
_MemoryId = Annotated[ShortText, Field(description="The id of a memory, as other tools return it.")]
_Time = Annotated[Time, Field(description="RFC 3339 with a zone, such as 2026-05-08T13:56:00Z.")]
_Note = "An object of your own values, such as a source or the ids of messages."


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


class Context(Search):
    """Arguments of memory_context."""

    budget: Annotated[
        Budget | None, Field(description="The most tokens of the text. Default: set by the server.")
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


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. `reads`: it changes nothing; `destroys`: it may overwrite or delete."""

    description: str
    arguments: type[Arguments]
    call: Callable[[Memory, Any], Reply]
    reads: bool
    destroys: bool


TOOLS: dict[str, Tool] = {}
_Call = Callable[[Memory, Any], Reply]


def _tool(
    arguments: type[Arguments], *, reads: bool = False, destroys: bool = False
) -> Callable[[_Call], _Call]:
    """Return the decorator that makes a function the tool of its name; its docstring is the
    description that an agent reads.
    """

    def register(call: _Call) -> _Call:
        description = " ".join(str(call.__doc__).split())
        TOOLS[call.__name__] = Tool(description, arguments, call, reads, destroys)
        return call

    return register


def call_tool(
    memory: Memory, name: str, arguments: Mapping[str, Any], user: str | None = None
) -> Reply:
    """Return the reply of the tool `name`, as JSON values. `user`: user_id if it is left out.

    Raises InputError on an unknown tool, invalid arguments, or an id of no memory of the user, and
    as Memory does.
    """
    tool = TOOLS.get(name)
    if tool is None:
        raise InputError(f"tool: {name!r:.60} is none of {', '.join(TOOLS)}")
    given = dict(arguments) if user is None else {"user_id": user, **arguments}
    try:
        checked = tool.arguments.model_validate(given)
    except ValidationError as error:
        raise InputError(f"{name}: {first_problem(error)}") from None
    return tool.call(memory, checked)


@_tool(Add)
def add_memory(memory: Memory, given: Add) -> Reply:
    """Store something worth remembering about a user: a fact, a preference, a decision or a
    message. Returns the memories that were stored, with their ids.
    """
    added = memory.add(
        given.text, user_id=given.user_id, metadata=given.metadata, time=given.time
    ).as_json()
    results = []
    for change in added["results"]:
        record = memory.get(change["id"])  # None: deleted by this add, or since
        row = {"id": change["id"], "text": change["memory"]} if record is None else _row(record)
        results.append({**row, "event": change["event"]})
    return {"results": results, "faults": added["faults"]}


@_tool(Search, reads=True)
def search_memory(memory: Memory, given: Search) -> Reply:
    """Find what is remembered about a user. Returns id, text, score, time and metadata of the
    memories that fit the query, best first. Search before you answer a question that may depend on
    an earlier conversation.
    """
    found = memory.search(
        given.query, user_id=given.user_id, filters=given.filters, top_k=given.limit
    )
    page(found, "limit")
    reply: Reply = {"results": [{**_row(one), "score": one.score} for one in found]}
    if memory.enable_graph:
        reply["relations"] = [one.as_json() for one in found.relations]
    return reply


@_tool(Context, reads=True)
def memory_context(memory: Memory, given: Context) -> Reply:
    """Get what is remembered about a user as one text, ready to be read before an answer: the
    memories that fit the query and what they are related to. Returns the text, its tokens and the
    ids of its memories.
    """
    written = memory.context(
        given.query,
        user_id=given.user_id,
        filters=given.filters,
        top_k=given.limit,
        budget=given.budget,
    )
    ids = [one.id for one in written.results]
    return {"text": written.text, "tokens": written.tokens, "ids": ids}


@_tool(Listing, reads=True)
def list_memories(memory: Memory, given: Listing) -> Reply:
    """List the memories of a user, oldest first: id, text, time and metadata."""
    found = memory.get_all(user_id=given.user_id, limit=given.limit, offset=given.offset)
    page(found, "limit")
    return {"results": [_row(one) for one in found]}


@_tool(One, reads=True)
def get_memory(memory: Memory, given: One) -> Reply:
    """Read one memory by its id."""
    return _row(_of_user(memory, given))


@_tool(Update, destroys=True)
def update_memory(memory: Memory, given: Update) -> Reply:
    """Replace text, metadata or time of one memory, for example if it is no longer true."""
    _of_user(memory, given)
    memory.update(given.id, given.text, metadata=given.metadata, time=given.time)
    return _row(_of_user(memory, given))


@_tool(One, destroys=True)
def delete_memory(memory: Memory, given: One) -> Reply:
    """Delete one memory, for example if the user asks to forget it."""
    _of_user(memory, given)
    memory.delete(given.id)
    return {"id": given.id, "event": "DELETE"}


def _of_user(memory: Memory, given: One) -> MemoryRecord:
    """Return the memory `given.id`. Raises InputError if the user has none of this id."""
    record = memory.get(given.id)
    if record is None or record.owner.user_id != given.user_id:
        raise InputError(f"id: {given.id!r:.60}: this user has no such memory; use an id from list")
    return record


def _row(record: MemoryRecord) -> Reply:
    row = record.as_json()
    return {
        "id": row["id"],
        "text": row["memory"],
        "time": row["time"],
        "metadata": row["metadata"],
    }


def _plain(field: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a field without the alternative null: leave the field out instead."""
    if "anyOf" not in field:
        return field
    (only,) = [one for one in field["anyOf"] if one.get("type") != "null"]
    rest = {key: value for key, value in field.items() if key not in ("anyOf", "default")}
    return {**only, **rest}
