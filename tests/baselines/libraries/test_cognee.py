"""The real cognee against a scripted server."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.baselines.libraries.real import asking, ingested, needs
from tests.memsys.build import query
from tests.memsys.llm import faults
from tests.memsys.llm.server import Behaviour, FaultyServer

pytestmark = needs("cognee")
LIKES = query("What does Ada like or love?")
THINGS = ("badminton", "pizza", "burgers")
SLOW_START = 600.0  # seconds: the library's imports


def graph(body: dict[str, Any]) -> Behaviour:
    """Ada and each thing that a message names; a fact is the message."""
    if body["response_format"]["json_schema"]["name"] == "SummarizedContent":
        return faults.says(json.dumps({"summary": "What Ada likes.", "description": ""}))
    said = re.findall(r"(Ada: .+)\.", body["messages"][-1]["content"])
    named = [(thing, line) for line in said for thing in THINGS if thing in line]
    nodes = [{"id": one, "name": one, "type": "Thing", "description": one} for one, _ in named]
    edges = [
        {"source_node_id": "ada", "target_node_id": thing, "relationship_name": f"says_{i}"}
        | {"description": line}
        for i, (thing, line) in enumerate(named)
    ]
    ada = {"id": "ada", "name": "Ada", "type": "Person", "description": "Ada"}
    return faults.says(json.dumps({"nodes": [ada, *nodes], "edges": edges}))


def test_passages_have_the_turns_of_their_exchange_and_facts_have_none(parts, tmp_path):
    texts = []
    with FaultyServer(graph) as server:
        for mode in ("auto", "replay"):
            given = asking(parts, server, tmp_path, mode)
            with ingested("cognee", given, timeout_s=SLOW_START) as strategy:
                found = strategy.retrieve(LIKES).candidates
                texts.append({one.memory.content: one.memory.turns for one in found})
        assert server.requests == 4, "a graph and a summary for each exchange, never asked again"
    assert texts[0] == texts[1]
    assert texts[0] == {
        "Ada: I like badminton.\nAda: I love pizza.": ("D1:1", "D1:2"),
        "Ada: I do not like badminton any more.\nAda: I also love burgers.": ("D2:1", "D2:2"),
        "Ada: I like badminton": (),
        "Ada: I love pizza": (),
        "Ada: I do not like badminton any more": (),
        "Ada: I also love burgers": (),
    }
