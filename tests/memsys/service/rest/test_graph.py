"""Every strategy over HTTP: the ranking of a graph, and relations beside the memories."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from memsys.service.memory import Memory
from memsys.service.rest.access import AccessPolicy
from memsys.service.rest.app import make_app
from tests.memsys.facts.models import fact
from tests.memsys.service.made import memory
from tests.memsys.service.test_relations import model, opened
from tests.memsys.service.test_strategies import opened as ranked_by


def client(store: Memory) -> TestClient:
    return TestClient(make_app(store, AccessPolicy(None, None)))


def said(text: str, **owner: str) -> dict[str, Any]:
    message = {"role": "user", "name": "Mara", "content": text, "id": "m1"}
    return {"messages": [message], **(owner or {"user_id": "mara"})}


def test_relations_are_written_searched_and_deleted(tmp_path: Path) -> None:
    with opened(tmp_path, model(facts=[[fact("Mara owns a kiln", "Mara", 1)]])) as store:
        server = client(store)
        added = server.post("/memories", json=said("Mara - owns - kiln"))
        assert added.status_code == 201
        named = {"source": "Mara", "relationship": "owns", "destination": "kiln"}
        assert added.json()["relations"] == [{"event": "ADD", **named}]
        question = {"query": "kiln", "user_id": "mara"}
        found = server.post("/search", json=question).json()
        assert [one["memory"] for one in found["results"]] == ["Mara owns a kiln"]
        (one,) = found["relations"]
        assert (one["turns"], one["ended"], one["mentions"]) == (["m1"], None, 1)
        assert named.items() <= one.items()
        for more in ({"enable_graph": False}, {"run_id": "r1"}):
            assert server.post("/search", json={**question, **more}).json()["relations"] == []
        assert server.request("DELETE", "/memories?user_id=mara").status_code == 200
        assert server.post("/search", json=question).json()["relations"] == []


def test_a_server_without_relations_refuses_to_search_them(tmp_path: Path) -> None:
    with memory(tmp_path) as store:
        question = {"query": "kiln", "user_id": "mara"}
        asked = client(store).post("/search", json={**question, "enable_graph": True})
        assert asked.status_code == 409
        assert "a run of strategy=mem0_graph" in asked.json()["error"]["message"]
        assert client(store).post("/search", json=question).json()["relations"] == []


@pytest.fixture(autouse=True)
def trusting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMSYS_TRUSTED", "tests.memsys.build")


@pytest.mark.parametrize("strategy", ["graph_expand", "graph_walk", "full_context"])
def test_a_server_ranks_by_a_strategy(tmp_path: Path, strategy: str) -> None:
    with ranked_by(tmp_path, strategy) as store:
        server = client(store)
        for text in ("the kiln of Mara Lind", "a bowl of Mara Lind", "tomato seedlings"):
            assert server.post("/memories", json=said(text)).status_code == 201
        question = {"query": "kiln", "user_id": "mara"}
        found = server.post("/search", json=question).json()["results"]
        expected = store.search("kiln", user_id="mara")
        assert [one["id"] for one in found] == [one.record.id for one in expected]
        assert found
