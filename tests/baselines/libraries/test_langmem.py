"""The real langmem against a scripted server."""

from __future__ import annotations

import re
from typing import Any

from tests.baselines.libraries.real import asking, ingested, needs
from tests.memsys.build import query
from tests.memsys.llm.server import Behaviour, FaultyServer
from tests.memsys.llm.tool_calls import calls

pytestmark = needs("langmem")
LIKES = query("What does Ada like or love?")


def manager(body: dict[str, Any]) -> Behaviour:
    """Every message is a memory; the changed mind is patched into the memory that it is about."""
    text = "\n".join(str(message["content"]) for message in body["messages"])
    old = re.search(r"<instance id=(\w+)[^>]*>\n[^\n]*I like badminton", text)
    made: list[tuple[str, dict[str, Any]]] = []
    for said in re.findall(r"(Ada: .+)\.", text.rpartition("<session_")[2]):
        if "not like" in said and old:
            patch = {"op": "replace", "path": "/content", "value": said}
            given = {"json_doc_id": old[1], "planned_edits": "so it is", "patches": [patch]}
            made.append(("PatchDoc", given))
        else:
            made.append(("Memory", {"content": said}))
    return calls(*made)


def test_a_changed_mind_is_patched_and_both_foods_are_kept(parts, tmp_path):
    with (
        FaultyServer(manager) as server,
        ingested("langmem", asking(parts, server, tmp_path)) as strategy,
    ):
        first = strategy.retrieve(LIKES)
        assert {one.memory.content: one.memory.turns for one in first.candidates} == {
            "Ada: I do not like badminton any more": ("D1:1", "D1:2", "D2:1", "D2:2"),
            "Ada: I love pizza": ("D1:1", "D1:2"),
            "Ada: I also love burgers": ("D2:1", "D2:2"),
        }
        assert strategy.retrieve(LIKES) == first
        assert strategy.details["degraded"] == []
        assert server.requests == 2
