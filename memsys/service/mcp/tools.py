"""The tools: name, description, arguments, and the memory operation behind each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from memsys.core.errors import InputError, first_problem
from memsys.service.mcp.arguments import Add, Arguments, Listing, One, Search, Update
from memsys.service.memory import Memory
from memsys.service.records import MemoryRecord
from memsys.service.rest.page import page

Reply = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. `reads`: it changes nothing; `destroys`: it may overwrite or delete."""

    description: str
    arguments: type[Arguments]
    call: Callable[[Memory, Any], Reply]
    reads: bool = False
    destroys: bool = False


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


def _add(memory: Memory, given: Add) -> Reply:
    added = memory.add(
        given.text, user_id=given.user_id, metadata=given.metadata, time=given.time
    ).as_json()
    results = []
    for change in added["results"]:
        record = memory.get(change["id"])  # None: deleted by this add, or since
        row = {"id": change["id"], "text": change["memory"]} if record is None else _row(record)
        results.append({**row, "event": change["event"]})
    return {"results": results, "faults": added["faults"]}


def _search(memory: Memory, given: Search) -> Reply:
    found = memory.search(
        given.query, user_id=given.user_id, filters=given.filters, top_k=given.limit
    )
    page(found, "limit")
    reply: Reply = {"results": [{**_row(one.record), "score": one.score} for one in found]}
    if memory.enable_graph:
        reply["relations"] = [one.as_json() for one in found.relations]
    return reply


def _list(memory: Memory, given: Listing) -> Reply:
    found = memory.get_all(user_id=given.user_id, limit=given.limit, offset=given.offset)
    page(found, "limit")
    return {"results": [_row(one) for one in found]}


def _get(memory: Memory, given: One) -> Reply:
    return _row(_of_user(memory, given))


def _update(memory: Memory, given: Update) -> Reply:
    _of_user(memory, given)
    memory.update(given.id, given.text, metadata=given.metadata, time=given.time)
    return _row(_of_user(memory, given))


def _delete(memory: Memory, given: One) -> Reply:
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


TOOLS: Mapping[str, Tool] = {
    "add_memory": Tool(
        "Store something worth remembering about a user: a fact, a preference, a decision or a "
        "message. Returns the memories that were stored, with their ids.",
        Add,
        _add,
    ),
    "search_memory": Tool(
        "Find what is remembered about a user. Returns id, text, score, time and metadata of the "
        "memories that fit the query, best first. Search before you answer a question that may "
        "depend on an earlier conversation.",
        Search,
        _search,
        reads=True,
    ),
    "list_memories": Tool(
        "List the memories of a user, oldest first: id, text, time and metadata.",
        Listing,
        _list,
        reads=True,
    ),
    "get_memory": Tool("Read one memory by its id.", One, _get, reads=True),
    "update_memory": Tool(
        "Replace text, metadata or time of one memory, for example if it is no longer true.",
        Update,
        _update,
        destroys=True,
    ),
    "delete_memory": Tool(
        "Delete one memory, for example if the user asks to forget it.",
        One,
        _delete,
        destroys=True,
    ),
}
