"""Which tools are chosen, and the items and turns that their results are read as."""

from typing import Any

import pytest

from baselines.libraries.pipe import LibraryError
from baselines.mcp.arguments import fill
from baselines.mcp.results import Item, Stored, items_of
from baselines.mcp.tools import PROCESS, Tool, Wanted, choose
from memsys.core.errors import InputError
from memsys.core.types import UNDATED
from tests.memsys.build import NOON, memory


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


def test_a_required_text_is_filled_before_an_optional_one():
    tools = [tool("add_memory", "text_", "content"), tool("find", "query")]
    assert choose(tools, Wanted()).add.arguments == {"content": "{text}"}


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


def items(structured: Any = None, *texts: str) -> list[Item]:
    return items_of({"structured": structured, "texts": list(texts)})


def stored(*texts: str) -> Stored:
    made = Stored()
    for number, text in enumerate(texts, 1):
        made.add(memory(f"D1:{number}", text), {})
    return made


@pytest.mark.parametrize(
    ("structured", "texts"),
    [
        ({"results": [{"memory": "a"}, {"memory": "b"}]}, ()),
        ({"result": [{"text": "a"}, {"text": "b"}]}, ()),
        ({"result": '["a", "b"]'}, ()),
        (None, ('{"memories": [{"content": "a"}, {"content": "b"}]}',)),
        (None, ('{"content": "a"}', '{"content": "b"}')),
        ({"data": {"items": [{"memory": {"content": "a"}}, {"fact": "b"}]}}, ()),
        ({"entities": [{"name": "x", "observations": ["a"]}, {"observations": ["b"]}]}, ()),
    ],
)
def test_the_layouts_of_servers_are_items_in_their_order(structured, texts):
    assert [one.text for one in items(structured, *texts)] == ["a", "b"]


@pytest.mark.parametrize("structured", [{"results": []}, {"entities": [], "relations": []}, {}])
def test_nothing_found_is_no_item(structured):
    assert items(structured) == []


@pytest.mark.parametrize(
    ("structured", "text"),
    [
        (None, "Error searching memories: no storage"),
        ({"error": "no storage"}, ""),
        ({"success": False, "message": "no storage"}, ""),
    ],
)
def test_an_error_that_is_not_marked_is_an_error(structured, text):
    with pytest.raises(LibraryError, match="no storage"):
        items(structured, text)


def test_a_stored_text_is_its_memory_and_a_score_is_the_servers():
    rows = items({"results": [{"text": "Bo: I moved to Rome", "score": 0.7}]})
    (found,) = stored("Ada: Hi", "Bo: I moved  to Rome").candidates(rows)
    assert (found.memory.turns, found.memory.time, found.score) == (("D1:2",), NOON, 0.7)


def test_each_of_two_results_with_one_text_is_evidence_of_one_turn():
    of = stored("Ada: Thanks!", "Bo: Why?", "Ada: Thanks!")
    found = of.candidates(items({"result": ["Ada: Thanks!", "Ada: Thanks!", "Ada: Thanks!"]}))
    assert [one.memory.turns for one in found] == [("D1:1",), ("D1:3",)]
    named = {"text": "Ada: Thanks!", "metadata": {"turns": ["D1:3"]}}
    assert of.candidates(items({"results": [named]}))[0].memory.turns == ("D1:3",)


def test_plain_text_is_divided_at_stored_texts_the_longest_first():
    of = stored("Ada: I moved", "Ada: I moved to Rome", "Bo: Why did you?")
    text = "Found 2:\n1. Bo: Why did\nyou? (score 0.9)\n2. Ada: I moved to Rome (score 0.1)"
    found = of.candidates(items(None, text))
    assert [one.memory.turns for one in found] == [("D1:3",), ("D1:2",)]
    assert [one.score for one in found] == [1, 1 / 2]


def test_parts_of_a_cut_text_are_evidence_and_all_that_is_shown():
    of = stored(
        "Ada: I moved to Rome in May with my two old dogs", "Bo: I moved to Rome in May too"
    )
    text = (
        '<results> <item id="7">...d to Rome in May with my two old...</item> '
        "<item>Ada: I moved...</item> <item>I moved to Rome in May...</item></results>"
    )
    (found,) = of.candidates(items(None, text))
    assert found.memory.turns == ("D1:1",)
    assert found.memory.content == "d to Rome in May with my two old"


def test_a_rewritten_text_has_the_turns_that_it_names_and_no_others():
    of = stored("Ada: I moved to Rome", "Bo: Why?")
    rows = [
        {"text": "Ada lives in Rome", "turns": ["D1:1", "D9:9"]},
        {"text": "Somebody asked why", "turns": ["D9:9"]},
    ]
    first, second = of.candidates(items({"results": rows}))
    assert (first.memory.turns, first.memory.time) == (("D1:1",), NOON)
    assert (second.memory.turns, second.memory.time) == ((), UNDATED)
    assert second.memory.content == "Somebody asked why"
