"""The real HippoRAG 2 against a scripted server."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from baselines.libraries.pipe import LibraryError
from tests.baselines.libraries.real import MADE, TALK, asking, ingested, needs, written_with
from tests.memsys.build import query
from tests.memsys.llm import faults
from tests.memsys.llm.server import Behaviour, FaultyServer

pytestmark = needs("hipporag")
LIKES = query("What does Ada like or love?")
PASSAGES = {
    "Ada: I like badminton.": ("D1:1",),
    "Ada: I love pizza.": ("D1:2",),
    "Ada: I do not like badminton any more.": ("D2:1",),
    "Ada: I also love burgers.": ("D2:2",),
}


def triples(body: dict[str, Any]) -> Behaviour:
    """Each message relates Ada to a thing; a question needs the fact about pizza."""
    system, last = (body["messages"][i]["content"] for i in (0, -1))
    if system.startswith("Your input fields"):
        before = last.partition("fact_before_filter ## ]]\n")[2].partition("\n")[0]
        facts = [fact for fact in json.loads(before)["fact"] if "pizza" in fact]
        chosen = json.dumps({"fact": facts})
        return faults.says(f"[[ ## fact_after_filter ## ]]\n{chosen}\n\n[[ ## completed ## ]]")
    things = re.findall(r"badminton|pizza|burgers", last)
    if "RDF" in system:
        return faults.says(json.dumps({"triples": [["Ada", "likes", one] for one in things[:1]]}))
    return faults.says(json.dumps({"named_entities": ["Ada", *things]}))


def test_passages_are_ranked_with_their_turns_and_again_without_a_server(parts, tmp_path):
    ranked = []
    with FaultyServer(triples) as server:
        for mode in ("auto", "replay"):
            given = asking(parts, server, tmp_path, mode)
            with ingested("hipporag", given, exchange=1) as strategy:
                first = strategy.retrieve(LIKES)
                if mode == "auto":
                    assert {one.memory.content: one.memory.turns for one in first.candidates} == (
                        PASSAGES
                    )
                    assert {one.memory.time for one in first.candidates} == {
                        one.time for one in TALK
                    }
                    strategy.retrieve(query("Who plays badminton?"))
                    assert strategy.retrieve(LIKES) == first
                    assert strategy.retrieve(query("")).candidates == ()
                    assert strategy.details["version"] == MADE["hipporag"]
                    assert len(strategy.details["degraded"]) == 2
                    assert "blocked" not in strategy.details
            ranked.append([(one.memory.content, one.score) for one in first.candidates])
    assert ranked[0] == ranked[1]


def test_the_graph_is_the_same_whether_passages_come_at_once_or_not(parts, tmp_path):
    """The library adds the edges of former passages again at each index()."""
    found = []
    whole = (replace(TALK[0], turns=(*TALK[0].turns, *TALK[1].turns)),)
    with FaultyServer(triples) as server:
        for sessions in (TALK, whole):
            given = asking(parts, server, tmp_path)
            with ingested("hipporag", given, sessions, exchange=1) as strategy:
                ranked = strategy.retrieve(LIKES).candidates
                scores = {one.memory.content: round(one.score, 9) for one in ranked}
                found.append((strategy.size(), scores))
    assert found[0] == found[1]
    assert found[0][0]["nodes"] == 4


def test_what_is_forgotten_is_not_found_and_what_others_state_remains(parts, tmp_path):
    with FaultyServer(triples) as server:
        given = asking(parts, server, tmp_path)
        with ingested("hipporag", given, exchange=1) as strategy:
            with ingested("hipporag", given, TALK[:1], exchange=1) as other:
                assert {one.memory.turns for one in other.retrieve(LIKES).candidates} == {
                    ("D1:1",),
                    ("D1:2",),
                }
            assert strategy.forget(["D1:1"]) == 1
            assert strategy.size()["nodes"] == 4  # D2:1 states the triple as well
            assert strategy.forget(["D2:1", "D9:9"]) == 1
            found = strategy.retrieve(LIKES).candidates
            assert {one.memory.turns for one in found} == {("D1:2",), ("D2:2",)}
            assert strategy.size()["nodes"] == 3
            assert strategy.forget(["D1:2", "D2:2"]) == 2
            assert strategy.size() == {"passages": 0, "nodes": 0, "edges": 0}
            left = written_with("pizza", strategy)
            assert left == ["gpt-4o-mini_cache.sqlite"], "its own cache"
            strategy.ingest(TALK[1])
            assert len(strategy.retrieve(LIKES).candidates) == 2


@pytest.mark.parametrize("step", ["entities", "facts"])
def test_an_unanswered_call_is_an_error(parts, tmp_path, step):
    def fails(body: dict[str, Any]) -> Behaviour:
        wanted = "Your input fields" if step == "facts" else "Your task is to extract"
        if body["messages"][0]["content"].startswith(wanted):
            return faults.status(400, "no such model")
        return triples(body)

    with FaultyServer(fails) as server:
        given = asking(parts, server, tmp_path)
        library = ingested("hipporag", given, TALK[:1], exchange=1)
        with pytest.raises(LibraryError, match="no such model"), library as strategy:
            strategy.retrieve(LIKES)
