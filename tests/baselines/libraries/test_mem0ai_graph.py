"""The real mem0ai 1 with its graph in kuzu, against a scripted server."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

from tests.baselines.libraries.real import MADE, TALK, asking, ingested, needs
from tests.memsys.build import query
from tests.memsys.llm import faults
from tests.memsys.llm.server import Behaviour, FaultyServer
from tests.memsys.llm.tool_calls import calls

pytestmark = needs("mem0ai_graph")
LIKES = query("Does Ada like badminton, pizza or burgers?")
THINGS = ("badminton", "pizza", "burgers")


def memory(body: dict[str, Any]) -> Behaviour:
    """Every message is a fact; Ada is bound to what she names; "not" ends both kinds of memory."""
    text = body["messages"][-1]["content"]
    tools = {tool["function"]["name"] for tool in body.get("tools", ())}
    said = re.findall(r"Ada: ([^\"'\n]+)\.", text.rpartition("New Information:")[2])
    named = [(thing, line) for line in said for thing in THINGS if thing in line]
    if "extract_entities" in tools:
        names = ["Ada", *(thing for thing in THINGS if thing in text)]
        rows = [{"entity": name, "entity_type": "thing"} for name in names]
        return calls(("extract_entities", {"entities": rows}))
    if "establish_relationships" in tools:
        rows = [
            {"source": "ada", "relationship": "says", "destination": thing}
            for thing, line in named
            if "not" not in line
        ]
        return calls(("establish_relationships", {"entities": rows}))
    if "delete_graph_memory" in tools:
        old = {"source": "ada", "relationship": "says", "destination": "badminton"}
        gone = any("not like" in line for line in said)
        return calls(("delete_graph_memory", old)) if gone else faults.says("Nothing to delete.")
    if len(body["messages"]) == 2:
        return faults.says(json.dumps({"facts": [f"Ada: {line}" for line in said]}))
    return faults.says(json.dumps({"memory": changes(text)}))


def changes(text: str) -> list[dict[str, str]]:
    """ADD each fact; one that is not so any more takes the place of the old."""
    lists = re.findall(r"```\s*(\[.*?\])\s*```", text, re.DOTALL)
    new, old = lists[-1], lists[-2] if "Current memory is empty" not in text else "[]"
    known = {row["text"]: row["id"] for row in ast.literal_eval(old)}
    rows = []
    for fact in ast.literal_eval(new):
        before = "Ada: I like badminton"
        if "not like" in fact and before in known:
            rows.append(
                {"id": known[before], "text": fact, "event": "UPDATE", "old_memory": before}
            )
        else:
            rows.append({"id": "new", "text": fact, "event": "ADD"})
    return rows


def test_a_changed_mind_replaces_the_old_and_both_foods_are_kept(parts, tmp_path):
    with (
        FaultyServer(memory) as server,
        ingested("mem0ai_graph", asking(parts, server, tmp_path)) as strategy,
    ):
        first = strategy.retrieve(LIKES)
        direct = [one.memory for one in first.candidates if one.origin == "direct"]
        assert {one.content: one.turns for one in direct} == {
            "Ada: I do not like badminton any more": ("D2:1", "D2:2"),
            "Ada: I love pizza": ("D1:1", "D1:2"),
            "Ada: I also love burgers": ("D2:1", "D2:2"),
        }
        expanded = [one.memory for one in first.candidates if one.origin == "expanded"]
        assert {one.content for one in expanded} == {
            "ada -- says -- pizza",
            "ada -- says -- burgers",
        }
        assert {one.turns for one in expanded} == {()}
        assert strategy.retrieve(LIKES) == first
        size = dict(strategy.size())
        assert size.pop("bytes") > 0
        assert size == {"memories": 3, "edges": 2}
        assert strategy.details["version"] == MADE["mem0ai_graph"]
        assert "blocked" not in strategy.details
        days = re.findall(r"Today's date is (\S+)\.", json.dumps(server.bodies))
        assert days == [str(one.time.date()) for one in TALK]
