"""The real LightRAG against the scripted model of the generated conversations."""

from __future__ import annotations

import re
from typing import Any

from tests.baselines.libraries.real import asking, ingested, needs, written_with
from tests.memsys.build import query
from tests.memsys.llm import faults
from tests.memsys.llm.server import Behaviour, FaultyServer

pytestmark = needs("lightrag")
LIKES = query("What does Ada like or love?")


def graph(body: dict[str, Any]) -> Behaviour:
    """Ada and the last word of each message; their relation is described by the message."""
    prompt = body["messages"][-1]["content"]
    if "keyword extractor" in prompt:
        return faults.says('{"high_level_keywords": ["tastes"], "low_level_keywords": ["Ada"]}')
    said = re.search(r"```\nAda: (.+?) (\w+)( any more)?\.\n```", prompt)
    if said is None:  # whether something was missed
        return faults.says("<|COMPLETE|>")
    row = f"Ada: {said[1]} {said[2]}{said[3] or ''}"
    rows = [("entity", "Ada", "person", row), ("entity", said[2], "thing", row)]
    rows += [("relation", "Ada", said[2], "taste", row)]
    return faults.says("\n".join([*("<|#|>".join(one) for one in rows), "<|COMPLETE|>"]))


def test_passages_have_their_turns_and_the_graph_has_none(parts, tmp_path):
    texts = []
    with FaultyServer(graph) as server:
        for mode in ("auto", "replay"):
            given = asking(parts, server, tmp_path, mode)
            with ingested("lightrag", given, exchange=1) as strategy:
                found = strategy.retrieve(LIKES).candidates
                assert strategy.size() == {"documents": 4, "nodes": 4, "edges": 3}
            texts.append([(one.memory.content, one.score) for one in found])
            if mode == "auto":
                live = server.requests
        assert server.requests == live
    assert texts[0] == texts[1]
    passages = {one.memory.content: one.memory.turns for one in found if one.origin == "direct"}
    assert passages == {
        "Ada: I like badminton.": ("D1:1",),
        "Ada: I love pizza.": ("D1:2",),
        "Ada: I do not like badminton any more.": ("D2:1",),
        "Ada: I also love burgers.": ("D2:2",),
    }
    others = [one for one in found if one.origin == "expanded"]
    assert {one.memory.turns for one in others} == {()}


def test_what_is_forgotten_is_in_no_description_and_in_no_file(parts, tmp_path):
    with FaultyServer(graph) as server:
        given = asking(parts, server, tmp_path)
        with ingested("lightrag", given, exchange=1) as strategy:
            assert strategy.forget(["D1:1", "D2:1"]) == 2
            shown = strategy.retrieve(LIKES).context
            assert "badminton" not in shown
            assert "pizza" in shown
            assert strategy.size() == {"documents": 2, "nodes": 3, "edges": 2}
            assert written_with("badminton", strategy) == []
            assert written_with("pizza", strategy)
