"""The real mem0ai 2 against a scripted server."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.baselines.libraries.real import TALK, asking, ingested, needs
from tests.memsys.build import query
from tests.memsys.llm import faults
from tests.memsys.llm.server import Behaviour, FaultyServer

pytestmark = needs("mem0ai")
LIKES = query("What does Ada like or love?")


def facts(body: dict[str, Any]) -> Behaviour:
    """Every new message is a fact in its own words."""
    new = body["messages"][-1]["content"].partition("## New Messages")[2].partition("\n## ")[0]
    said = re.findall(r"(Ada: [^\"\n]+\.)", new)
    rows = [{"id": str(i), "text": one, "attributed_to": "user"} for i, one in enumerate(said)]
    return faults.says(json.dumps({"memory": rows}))


def test_a_changed_mind_stays_beside_the_old_one_and_both_foods_are_kept(parts, tmp_path):
    """The library has only added since version 2: the paper's UPDATE and DELETE are gone."""
    with (
        FaultyServer(facts) as server,
        ingested("mem0ai", asking(parts, server, tmp_path)) as strategy,
    ):
        found = strategy.retrieve(LIKES).candidates
        live = server.requests
        prompts = [body["messages"][-1]["content"] for body in server.bodies]
    assert {one.memory.content: one.memory.turns for one in found} == {
        "Ada: I like badminton.": ("D1:1", "D1:2"),
        "Ada: I love pizza.": ("D1:1", "D1:2"),
        "Ada: I do not like badminton any more.": ("D2:1", "D2:2"),
        "Ada: I also love burgers.": ("D2:1", "D2:2"),
    }
    assert {one.memory.time for one in found} == {one.time for one in TALK}
    assert live == 2
    for prompt, day in zip(prompts, ["2023-05-01", "2023-05-20"], strict=True):
        assert f"## Observation Date\n{day}" in prompt, "relative dates are the session's"


def test_a_reply_that_the_library_drops_is_logged(parts, tmp_path):
    with FaultyServer(lambda _: faults.says("Sorry, no JSON.")) as server:
        given = asking(parts, server, tmp_path)
        with ingested("mem0ai", given, TALK[:1]) as strategy:
            assert strategy.retrieve(LIKES).candidates == ()
            assert "Error parsing extraction response" in str(strategy.events)
