"""The real cognee against a scripted server."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from baselines.libraries.pipe import LibraryError
from tests.baselines.libraries.real import MADE, TALK, asking, ingested, needs
from tests.memsys.build import SESSIONS, query
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


def test_messages_are_found_with_their_turns_and_forgotten_without_a_model(parts):
    own = {"infer": False, "timeout_s": SLOW_START}
    with ingested("cognee", parts(), SESSIONS, k=3, **own) as strategy:
        asked = query("sold a bowl at the Lantern market")
        first = strategy.retrieve(asked)
        assert first.candidates[0].memory.turns == ("D3:1",)
        assert first.candidates[0].memory.time == SESSIONS[2].time
        assert len(first.candidates) == 3
        strategy.retrieve(query("Who will drain the field?"))
        assert strategy.retrieve(asked) == first
        assert strategy.retrieve(query("")).candidates == ()
        assert strategy.size()["memories"] == 10
        assert strategy.details["version"] == MADE["cognee"]
        assert "blocked" not in strategy.details
        assert strategy.events == []
        assert strategy.forget(["D3:1"]) == 1
        assert ("D3:1",) not in {one.memory.turns for one in strategy.retrieve(asked).candidates}
        assert strategy.size()["memories"] == 9


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


def test_a_graph_that_is_not_written_is_an_error_of_the_session(parts, tmp_path):
    with (
        FaultyServer(lambda _: faults.status(400)) as server,
        pytest.raises(LibraryError, match="cognee"),
        ingested("cognee", asking(parts, server, tmp_path), TALK[:1], timeout_s=SLOW_START),
    ):
        pass
