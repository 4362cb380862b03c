"""Which tools are chosen, from the schemas of real servers and of awkward ones."""

from __future__ import annotations

from typing import Any

import pytest

from baselines.mcp.arguments import fill
from baselines.mcp.tools import PROCESS, Tool, Wanted, choose
from memsys.core.errors import InputError


def tool(name: str, *required: str, **properties: Any) -> Tool:
    """A tool with text arguments, unless `properties` say otherwise; a `_` ends an optional one."""
    texts = {name.rstrip("_"): TEXT for name in required}
    needed = [name for name in required if not name.endswith("_")]
    return Tool(name, {"properties": {**texts, **properties}, "required": needed})


TEXT = {"type": "string"}
STRINGS = {"type": "array", "items": TEXT}
ENTITY = {
    "type": "object",
    "properties": {"name": TEXT, "entityType": TEXT, "observations": STRINGS},
    "required": ["name", "entityType", "observations"],
}
ENTITIES = {
    "properties": {"entities": {"type": "array", "items": {"$ref": "#/$defs/Entity"}}},
    "required": ["entities"],
    "$defs": {"Entity": ENTITY},
}
GRAPH = [
    Tool("create_entities", ENTITIES),
    tool("add_relation", "from", "to"),
    tool("add_observations", "entityName", contents=STRINGS),
    tool("search_nodes", "query", limit={"type": "number", "maximum": 50}),
    Tool("delete_entities", {"properties": {"entityNames": STRINGS}, "required": ["entityNames"]}),
]
OWNED = [tool("add_memory", "text", "user_id"), tool("search_memory", "query", "user_id")]


def test_nested_entities_are_filled_and_what_needs_an_entity_is_passed_over():
    chosen = choose(GRAPH, Wanted())
    assert chosen.add.tool.name == "create_entities"
    assert chosen.add.arguments == {
        "entities": [{"name": "{turn}", "entityType": "memory", "observations": ["{text}"]}]
    }
    assert chosen.search.arguments == {"query": "{query}", "limit": "{k}"}
    assert chosen.delete is not None
    assert chosen.delete.arguments == {"entityNames": ["{id}"]}
    assert chosen.owners == PROCESS


def test_messages_with_roles_are_filled():
    message = {
        "type": "object",
        "properties": {"role": {**TEXT, "enum": ["user", "assistant"]}, "content": TEXT},
        "required": ["role", "content"],
    }
    properties = {
        "messages": {"anyOf": [{"type": "null"}, {"type": "array", "items": message}]},
        "userId": TEXT,
        "metadata": {"type": "object"},
        "timestamp": {"type": ["string", "null"]},
    }
    add = Tool("add_memories", {"properties": properties, "required": ["messages"]})
    chosen = choose([add, tool("search_memories", "query", "user_id_")], Wanted())
    assert chosen.add.arguments == {
        "messages": [{"role": "user", "content": "{text}"}],
        "userId": "{owner}",
        "metadata": {"turns": "{turns}"},
        "timestamp": "{time}",
    }
    assert chosen.owners == "user_id"


def test_lists_are_filled_seven_deep_and_no_deeper():
    def nested(depth: int) -> Tool:
        schema: dict[str, Any] = {"properties": {"text": TEXT}, "required": ["text"]}
        for _ in range(depth):
            items = {"type": "array", "items": schema}
            schema = {"properties": {"memories": items}, "required": ["memories"]}
        return Tool("add_memories", schema)

    expected: dict[str, Any] = {"text": "{text}"}
    for _ in range(7):
        expected = {"memories": [expected]}
    assert choose([nested(7), tool("find", "query")], Wanted()).add.arguments == expected
    with pytest.raises(InputError, match="add_tool"):
        choose([nested(8), tool("find", "query")], Wanted())


def test_words_of_a_name_that_say_something_else_cost_points():
    tools = [tool(name, "content") for name in ("memory_store", "memory_store_session")]
    tools += [tool(name, "query") for name in ("memory_search", "mistake_note_search")]
    chosen = choose(tools, Wanted())
    assert (chosen.add.tool.name, chosen.search.tool.name) == ("memory_store", "memory_search")
    assert chosen.add.why == "4 points: store +3, memory +1"
    assert chosen.delete is None
    # One text argument is filled, the best known one.
    add = tool("save", "summary_", "content_", "text_", "title_")
    chosen = choose([add, tool("find", "query")], Wanted())
    assert chosen.add.arguments == {"text": "{text}"}


@pytest.mark.parametrize(
    ("tools", "wanted", "words"),
    [
        ([*OWNED, tool("store_fact", "text")], {}, "add_tool: add_memory and store_fact fit equal"),
        (OWNED[1:], {}, "add_tool: no tool that adds a memory was found; name one of: search_m"),
        (OWNED, {"search_tool": "find"}, "search_tool: the server has no tool 'find'; name one of"),
        (GRAPH, {"add_tool": "add_relation"}, "no rule fills its required from, to; set strategy"),
        (OWNED, {"add_arguments": {"text": "{txt}"}}, "=add_memory: no placeholder {txt}; use"),
        (OWNED, {"add_arguments": {"text": "x"}}, "no argument has text; set strategy.add_arg"),
        (OWNED, {"owners": "project"}, "owners: add_memory does not have the argument 'project'"),
    ],
)
def test_what_is_unclear_names_the_tools_and_the_setting(tools, wanted, words):
    with pytest.raises(InputError) as raised:
        choose(tools, Wanted(**wanted))
    assert words in str(raised.value)


def test_everything_can_be_set():
    arguments = {"from": "{speaker}", "to": "{text} ({time})"}
    wanted = Wanted("add_relation", "search_memory", add_arguments=arguments, owners=PROCESS)
    chosen = choose([*GRAPH, *OWNED], wanted)
    assert chosen.add.why == "set by strategy.add_tool; arguments set"
    assert chosen.owners == PROCESS
    filled = fill(chosen.add.arguments, {"speaker": "Ada", "text": "Hi {name}", "time": "noon"})
    assert filled == {"from": "Ada", "to": "Hi {name} (noon)"}
    # A placeholder alone is of the type of its value.
    assert fill({"n": "{k}", "all": ["{turns}"]}, {"k": 5, "turns": []}) == {"n": 5, "all": [[]]}
