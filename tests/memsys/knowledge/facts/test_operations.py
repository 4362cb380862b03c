"""How a model's choice is read: each operation by itself, by tool call or by schema."""

from __future__ import annotations

import json

import pytest

from memsys.core.types import Usage
from memsys.knowledge.facts.fact_writer import Operation, read_operations, schema
from memsys.llm.base import Completion, ToolCall
from memsys.llm.reply import violation
from tests.memsys.knowledge.facts.models import call, operation, operations


def by_tools(*calls: tuple[str, str]) -> Completion:
    made = tuple(ToolCall(str(n), name, text) for n, (name, text) in enumerate(calls))
    return Completion("", Usage(), "m", "tool_calls", made)


def by_text(text: str) -> Completion:
    return Completion(text, Usage(), "m", "stop")


def test_tools_and_schema_say_the_same():
    update = call("UPDATE", id=2, content="Mara  swims")
    calls = call("ADD"), update, call("DELETE", id=1), call("NOOP")
    kept = [("ADD", 0, ""), ("UPDATE", 2, "Mara swims"), ("DELETE", 1, ""), ("NOOP", 0, "")]
    given = [*kept[:2], ("DELETE", 1, "left over"), kept[3]]
    rows = operations(*(operation(*one) for one in given))
    assert violation(json.loads(rows), schema(2)) is None
    expected = [Operation(*one, "so it is") for one in kept]
    assert list(read_operations(by_tools(*calls))) == expected
    assert list(read_operations(by_text(rows))) == expected


@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        (("ADD", '{"why": "cut o'), "broken_json"),
        (("MERGE", '{"why": "x"}'), "unknown_operation"),
        (("", "{}"), "unknown_operation"),
        (call("UPDATE", id=1), "bad_argument"),
        (call("UPDATE", id=1, content="  "), "bad_argument"),
        (call("DELETE"), "bad_argument"),
        (call("DELETE", id="one"), "bad_argument"),
        (call("DELETE", id=True), "bad_argument"),
        (("NOOP", "[]"), "bad_argument"),
        (("NOOP", "null"), "bad_argument"),
    ],
)
def test_a_tool_call_that_cannot_be_used_costs_itself_alone(bad, fault):
    first, second, third = read_operations(by_tools(call("ADD"), bad, call("NOOP")))
    assert isinstance(first, Operation)
    assert isinstance(third, Operation)
    assert (second["step"], second["fault"]) == ("decide", fault)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        *(
            (text, "no_operation")
            for text in ("I would add it.", "", "[]", "null", '{"facts": []}')
        ),
        ('{"operations": [3]}', "unknown_operation"),
        ('{"operations": "ADD"}', "unknown_operation"),
    ],
)
def test_a_text_without_operations_is_one_fault(text, fault):
    (event,) = read_operations(by_text(text))
    assert event["fault"] == fault
