"""The memory operations as tools of the Model Context Protocol (extra `mcp`): name, description and
arguments of each, as an agent reads them, and the server that offers them.
"""

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from inspect import signature
from typing import Annotated, Any, TypeVar

import anyio
import mcp_types as types
from mcp.server.lowlevel.server import Server
from pydantic import BaseModel, Field, create_model

from memsys.core.errors import InputError, check_choice, problems
from memsys.llm.base import LLMError
from memsys.llm.budget import BudgetReached
from memsys.service.memory import Memory
from memsys.service.rest.schemas import (
    PAGE_MOST,
    Budget,
    Metadata,
    ShortText,
    Strict,
    Text,
    Time,
    TopK,
    check_size,
)
from memsys.service.results import MemoryRecord

_ABOUT = (
    "A long-term memory. Search it before you answer what an earlier conversation may have "
    "settled; add what is worth remembering."
)
_MESSAGE_MOST = 500  # characters
_log = logging.getLogger(__name__)
Reply = dict[str, Any]
_User = Annotated[
    ShortText, Field(description="Whose memories: only those of this user are seen or changed.")
]
_MemoryId = Annotated[ShortText, Field(description="The id of a memory, as other tools return it.")]
_Query = Annotated[Text, Field(description="A question or words that describe what is wanted.")]
_Limit = Annotated[TopK | None, Field(description="The most results. Default: set by the server.")]
_Filters = Annotated[
    Metadata | None, Field(description="Values that the metadata of a result must have.")
]
_NOTE = "An object of your own values, such as a source or the ids of messages."


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: its `description`, the model of its `arguments`, and what it does; `reads`: it
    changes nothing; `destroys`: it may overwrite or delete.
    """

    description: str
    arguments: type[BaseModel]
    call: Callable[..., Reply]
    reads: bool
    destroys: bool

    def schema_for(self, user: str | None) -> dict[str, Any]:
        """Return the JSON Schema of the arguments, without titles, and without null where a field
        may be left out. `user`: the value of user_id if it is left out, None: it must be given.
        """
        schema = self.arguments.model_json_schema()
        fields, required = {}, list(schema["required"])
        for name, field in schema["properties"].items():
            for kind in field.pop("anyOf", ()):
                if kind.get("type") != "null":
                    field = kind | field  # noqa: PLW2901
                    del field["default"]
            fields[name] = {key: value for key, value in field.items() if key != "title"}
        if user is not None:
            fields["user_id"]["default"] = user
            required.remove("user_id")
        return {
            "type": "object",
            "properties": fields,
            "required": required,
            "additionalProperties": False,
        }


TOOLS: dict[str, Tool] = {}
_Call = TypeVar("_Call", bound=Callable[..., Reply])


def _tool(*, reads: bool = False, destroys: bool = False) -> Callable[[_Call], _Call]:
    """Return the decorator that makes a function the tool of its name. An agent reads its docstring
    as the description, and its parameters after the memory as the arguments. Unknown arguments are
    refused: a misspelt one would widen what is found.
    """

    def register(call: _Call) -> _Call:
        _, *parameters = signature(call, eval_str=True).parameters.values()
        fields: dict[str, Any] = {
            param.name: (param.annotation, ... if param.default is param.empty else param.default)
            for param in parameters
        }
        arguments = create_model(call.__name__, __base__=Strict, __doc__="", **fields)
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
    check_choice("tool", name, list(TOOLS))
    tool = TOOLS[name]
    with problems(name):
        given = {"user_id": user} if user is not None else {}
        checked = tool.arguments.model_validate(given | dict(arguments))
    return tool.call(memory, **dict(checked))


@_tool()
def add_memory(
    memory: Memory,
    user_id: _User,
    text: Annotated[Text, Field(description="What to remember: one fact, message or note.")],
    metadata: Annotated[Metadata | None, Field(description=f"{_NOTE} Returned unchanged.")] = None,
    time: Annotated[
        Time | None, Field(description="When it was said, in RFC 3339 with a zone. Default: now.")
    ] = None,
) -> Reply:
    """Store something worth remembering about a user: a fact, a preference, a decision or a
    message. Returns the memories that were stored, with their ids.
    """
    added = memory.add(text, user_id=user_id, metadata=metadata, time=time).as_json()
    results = []
    for change in added["results"]:
        record = memory.get(change["id"])  # None: deleted by this add, or since
        row = {"id": change["id"], "text": change["memory"]} if record is None else _row(record)
        results.append({**row, "event": change["event"]})
    return {"results": results, "faults": added["faults"]}


@_tool(reads=True)
def search_memory(
    memory: Memory, user_id: _User, query: _Query, limit: _Limit = None, filters: _Filters = None
) -> Reply:
    """Find what is remembered about a user. Returns id, text, score, time and metadata of the
    memories that fit the query, best first. Search before you answer a question that may depend on
    an earlier conversation.
    """
    results = memory.search(query, user_id=user_id, filters=filters, top_k=limit)
    check_size(results, "limit")
    reply: Reply = {"results": [{**_row(result), "score": result.score} for result in results]}
    if memory.enable_graph:
        reply["relations"] = [relation.as_json() for relation in results.relations]
    return reply


@_tool(reads=True)
def memory_context(
    memory: Memory,
    user_id: _User,
    query: _Query,
    limit: _Limit = None,
    filters: _Filters = None,
    budget: Annotated[
        Budget | None, Field(description="The most tokens of the text. Default: set by the server.")
    ] = None,
) -> Reply:
    """Get what is remembered about a user as one text, ready to be read before an answer: the
    memories that fit the query and what they are related to. Returns the text, its tokens and the
    ids of its memories.
    """
    written = memory.context(query, user_id=user_id, filters=filters, top_k=limit, budget=budget)
    ids = [result.id for result in written.results]
    return {"text": written.text, "tokens": written.tokens, "ids": ids}


@_tool(reads=True)
def list_memories(
    memory: Memory,
    user_id: _User,
    limit: Annotated[int, Field(ge=1, le=PAGE_MOST, description="The most results.")] = 100,
    offset: Annotated[int, Field(ge=0, le=10**9, description="How many to skip.")] = 0,
) -> Reply:
    """List the memories of a user, oldest first: id, text, time and metadata."""
    records = memory.get_all(user_id=user_id, limit=limit, offset=offset)
    check_size(records, "limit")
    return {"results": [_row(record) for record in records]}


@_tool(reads=True)
def get_memory(memory: Memory, user_id: _User, id: _MemoryId) -> Reply:  # noqa: A002 - as the tool
    """Read one memory by its id."""
    return _row(_record_of_user(memory, user_id, id))


@_tool(destroys=True)
def update_memory(
    memory: Memory,
    user_id: _User,
    id: _MemoryId,  # noqa: A002
    text: Annotated[Text | None, Field(description="The new text. Default: unchanged.")] = None,
    metadata: Annotated[
        Metadata | None, Field(description=f"{_NOTE} Replaces the former. Default: unchanged.")
    ] = None,
    time: Annotated[
        Time | None, Field(description="The new time, in RFC 3339. Default: unchanged.")
    ] = None,
) -> Reply:
    """Replace text, metadata or time of one memory, for example if it is no longer true."""
    _record_of_user(memory, user_id, id)
    memory.update(id, text, metadata=metadata, time=time)
    return _row(_record_of_user(memory, user_id, id))


@_tool(destroys=True)
def delete_memory(memory: Memory, user_id: _User, id: _MemoryId) -> Reply:  # noqa: A002
    """Delete one memory, for example if the user asks to forget it."""
    _record_of_user(memory, user_id, id)
    memory.delete(id)
    return {"id": id, "event": "DELETE"}


def _record_of_user(memory: Memory, user_id: str, id_: str) -> MemoryRecord:
    """Return the memory `id_`. Raises InputError if the user has none of this id."""
    record = memory.get(id_)
    if record is None or record.owner.user_id != user_id:
        raise InputError(f"id: {id_!r:.60}: this user has no such memory; use an id from list")
    return record


def _row(record: MemoryRecord) -> Reply:
    row = record.as_json()
    return {
        "id": row["id"],
        "text": row["memory"],
        "time": row["time"],
        "metadata": row["metadata"],
    }


def make_server(memory: Memory, user: str | None = None) -> Server[Any]:
    """Return the server of `memory`. `user`: the user_id of calls that name none; None: each must
    name one.
    """
    tools = [
        types.Tool(
            name=name,
            description=tool.description,
            input_schema=tool.schema_for(user),
            annotations=types.ToolAnnotations(
                read_only_hint=tool.reads, destructive_hint=tool.destroys, open_world_hint=False
            ),
        )
        for name, tool in TOOLS.items()
    ]

    async def list_tools(*_: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools)

    async def call(_: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        ask = partial(call_tool, memory, params.name, params.arguments or {}, user)
        try:
            reply = await anyio.to_thread.run_sync(ask)
        except (InputError, LLMError, BudgetReached) as error:
            return _error_result(str(error))
        except Exception:
            _log.exception("the tool %.60s failed", params.name)
            return _error_result("internal error; see the server's log")
        text = json.dumps(reply, ensure_ascii=False)
        content: list[types.ContentBlock] = [types.TextContent(type="text", text=text)]
        return types.CallToolResult(content=content, structured_content=reply)

    return Server(
        "memsys",
        version=version("memsys"),
        instructions=_ABOUT,
        on_list_tools=list_tools,
        on_call_tool=call,
    )


def _error_result(message: str) -> types.CallToolResult:
    """Return an error of a tool: one line, encodable as UTF-8."""
    line = " ".join(message.split())[:_MESSAGE_MOST].encode("utf-8", "replace").decode()
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=f"error: {line}")]
    return types.CallToolResult(content=content, is_error=True)
