from dataclasses import replace
from typing import Any

import pytest

from baselines.libraries.pipe import LibraryError
from tests.baselines.libraries.conftest import TALK, asking, ingested, needs, written_with
from tests.baselines.libraries.scripted import hipporag as triples
from tests.memsys.build import query
from tests.memsys.llm import faults
from tests.memsys.llm.server import Behaviour, FaultyServer

pytestmark = needs("hipporag")
LIKES = query("What does Ada like or love?")


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
                found = other.retrieve(LIKES).candidates
                assert {one.memory.turns for one in found} == {("D1:1",), ("D1:2",)}
            assert strategy.forget(["D1:1"]) == 1
            assert strategy.size()["nodes"] == 4  # D2:1 states the triple as well
            assert strategy.forget(["D2:1", "D9:9"]) == 1
            found = strategy.retrieve(LIKES).candidates
            assert {one.memory.turns for one in found} == {("D1:2",), ("D2:2",)}
            assert strategy.size()["nodes"] == 3
            assert strategy.forget(["D1:2", "D2:2"]) == 2
            assert strategy.size() == {"passages": 0, "nodes": 0, "edges": 0}
            assert written_with("pizza", strategy) == ["gpt-4o-mini_cache.sqlite"]  # its own
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
