"""The real graphiti-core on a real FalkorDB, against a scripted server."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.baselines.libraries.real import MADE, TALK, asking, ingested, needs
from tests.memsys.build import query
from tests.memsys.llm import faults
from tests.memsys.llm.server import Behaviour, FaultyServer

pytestmark = needs("graphiti")
LIKES = query("What does Ada like or love?")
THINGS = ("badminton", "pizza", "burgers")


def section(text: str, name: str) -> str:
    return text.partition(f"<{name}>")[2].partition(f"</{name}>")[0]


def graph(body: dict[str, Any]) -> Behaviour:
    """Ada and each thing that a message names; a fact is the message; "not" contradicts."""
    form = body["response_format"]["json_schema"]["name"]
    text = body["messages"][-1]["content"]
    said = section(text, "CURRENT MESSAGE") or section(text, "CURRENT_MESSAGE")
    lines = re.findall(r"Ada: ([^\"\n]+)\.", said)
    named = [(thing, line) for line in lines for thing in THINGS if thing in line]
    answers: dict[str, Any] = {
        "ExtractedEntities": {
            "extracted_entities": [
                {"name": name, "entity_type_id": 0} for name in ("Ada", *(t for t, _ in named))
            ]
        },
        "ExtractedEdges": {
            "edges": [
                {"source_entity_name": "Ada", "target_entity_name": thing}
                | {"relation_type": f"SAYS_{i}", "fact": f"Ada: {line}"}
                for i, (thing, line) in enumerate(named)
            ]
        },
        "EdgeDuplicate": {"duplicate_facts": [], "contradicted_facts": contradicted(text)},
        "NodeResolutions": {"entity_resolutions": []},
        "SummarizedEntities": {"summaries": []},
        "EdgeTimestamps": {"valid_at": reference(text), "invalid_at": None},
        "BatchEdgeTimestamps": {"timestamps": []},
    }
    return faults.says(json.dumps(answers[form]))


def reference(text: str) -> str | None:
    found = re.search(
        r"(20\d\d-\d\d-\d\d)[T ]",
        section(text, "REFERENCE TIME") or section(text, "REFERENCE_TIME"),
    )
    return f"{found[1]}T00:00:00Z" if found else None


def contradicted(text: str) -> list[int]:
    if "not like badminton" not in section(text, "NEW FACT"):
        return []
    known = section(text, "EXISTING FACTS") + section(text, "FACT INVALIDATION CANDIDATES")
    return [int(i) for i in re.findall(r"idx\W+(\d+)[^}]*?I like badminton", known)]


def test_a_changed_mind_ends_the_old_fact_and_both_foods_are_kept(parts, tmp_path):
    with (
        FaultyServer(graph) as server,
        ingested("graphiti", asking(parts, server, tmp_path)) as strategy,
    ):
        first = strategy.retrieve(LIKES)
        found = [one.memory for one in first.candidates]
        assert {one.content: one.turns for one in found} == {
            "Ada: I like badminton (until 20 May 2023)": ("D1:1", "D1:2"),
            "Ada: I love pizza": ("D1:1", "D1:2"),
            "Ada: I do not like badminton any more": ("D2:1", "D2:2"),
            "Ada: I also love burgers": ("D2:1", "D2:2"),
        }
        assert {one.time for one in found} == {one.time for one in TALK}
        strategy.retrieve(query("Who plays badminton?"))
        again = strategy.retrieve(LIKES)
        assert again == first
        assert strategy.retrieve(query("")).candidates == ()
        assert strategy.size() == {"nodes": 4, "edges": 4}
        assert strategy.details["version"] == MADE["graphiti"]
        assert "blocked" not in strategy.details
        assert "2023-05-20" in str(server.bodies[-1]), "relative dates are the session's"
