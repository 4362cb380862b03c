"""Relations and contexts over HTTP."""

from __future__ import annotations

from typing import Any

from memsys.context.writers import Layered
from tests.memsys.knowledge.facts.models import fact
from tests.memsys.service.made import memory
from tests.memsys.service.rest.in_process import ask
from tests.memsys.service.test_relations import model, opened


def said(text: str, **owner: str) -> dict[str, Any]:
    message = {"role": "user", "name": "Mara", "content": text, "id": "m1"}
    return {"messages": [message], **(owner or {"user_id": "mara"})}


def test_relations_are_written_searched_and_deleted(tmp_path):
    with opened(tmp_path, model(facts=[[fact("Mara owns a kiln", "Mara", 1)]])) as store:
        added = ask(store, "POST", "/memories", said("Mara - owns - kiln"))
        assert added.status == 201
        named = {"source": "Mara", "relationship": "owns", "destination": "kiln"}
        assert added.body["relations"] == [{"event": "ADD", **named}]
        question = {"query": "kiln", "user_id": "mara"}
        found = ask(store, "POST", "/search", question).body
        assert [one["memory"] for one in found["results"]] == ["Mara owns a kiln"]
        (one,) = found["relations"]
        assert (one["turns"], one["ended"], one["mentions"]) == (["m1"], None, 1)
        assert named.items() <= one.items()
        for more in ({"enable_graph": False}, {"run_id": "r1"}):
            assert ask(store, "POST", "/search", question | more).body["relations"] == []
        assert ask(store, "DELETE", "/memories?user_id=mara").status == 200
        assert ask(store, "POST", "/search", question).body["relations"] == []


def test_a_server_without_relations_refuses_to_search_them(tmp_path):
    with memory(tmp_path) as store:
        question = {"query": "kiln", "user_id": "mara"}
        asked = ask(store, "POST", "/search", {**question, "enable_graph": True})
        assert asked.status == 409
        assert "a run of strategy=mem0_graph" in asked.body["error"]["message"]
        assert ask(store, "POST", "/search", question).body["relations"] == []


def test_a_context_is_in_the_layout_of_the_configuration(tmp_path):
    with memory(tmp_path, context=Layered("layered")) as store:
        ask(store, "POST", "/memories", said("a kiln"))
        asked = {"query": "kiln", "filters": {"user_id": "mara"}}
        written = ask(store, "POST", "/context", {**asked, "budget": 60}).body
        assert written["text"].startswith("<memory_context>\n<direct_matches>\n")
        same = store.context("kiln", user_id="mara", budget=60)
        assert (written["text"], written["tokens"]) == (same.text, same.tokens)
        assert [one["id"] for one in written["results"]] == [one.id for one in same.results]
        for wrong in ({"budget": 0}, {"limit": 3}, {"user_id": "mara"}, {"filters": {}}):
            assert ask(store, "POST", "/context", asked | wrong).status == 422
