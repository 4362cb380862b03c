"""The operations over HTTP: what is asked is done, and what is wrong is said in one form."""

import json
import sqlite3
from contextlib import closing
from typing import Any

import pytest

from memsys.context.writers import Layered
from tests.memsys.knowledge.facts.models import fact
from tests.memsys.left import files_with
from tests.memsys.service.made import memory, said
from tests.memsys.service.rest.conftest import Served, ask
from tests.memsys.service.test_relations import model, opened

NOBODY = "0" * 32
IMAGE = {"type": "image_url", "image_url": {"url": "https://x.example/a.png", "detail": "auto"}}


def added(server: Served, **own: Any) -> str:
    answer = server.ask("POST", "/memories", {"messages": "The kiln", "user_id": "mara", **own})
    assert answer.status == 201, answer.body
    (change,) = answer.body["results"]
    return str(change["id"])


def failed(answer: Any, status: int, kind: str, words: str = "") -> None:
    """One form for every failure, and nothing of what stands behind it."""
    error = answer.body["error"]
    assert (answer.status, error["status"], error["type"]) == (status, status, kind)
    assert words in json.dumps(error)
    assert set(error) == {"status", "type", "message", "details"}
    assert "Traceback" not in json.dumps(answer.body)
    assert "site-packages" not in json.dumps(answer.body)


def test_a_memory_s_life(server):
    id_ = added(server, metadata={"a": 1}, time="2024-05-08T15:56:00+02:00", agent_id="cook")
    one, time = server.ask("GET", f"/memories/{id_}").body, "2024-05-08T13:56:00Z"
    assert (one["memory"], one["metadata"], one["time"]) == ("The kiln", {"a": 1}, time)
    search = {"query": "kiln", "user_id": "mara", "filters": {"a": 1}, "top_k": 3}
    (found,) = server.ask("POST", "/search", search).body["results"]
    assert (found["id"], found["score"], found["agent_id"]) == (id_, pytest.approx(1), "cook")
    changes = ({"event_time": "2024-05"}, "2024-05"), ({"text": "The bowl", "title": "Pots"}, None)
    for body, date in changes:
        assert server.ask("PUT", f"/memories/{id_}", body).body["event"] == "UPDATE"
        assert server.ask("GET", f"/memories/{id_}").body["event_time"] == date
    (listed,) = server.ask("GET", "/memories?user_id=mara&limit=1").body["results"]
    assert (listed["id"], listed["title"]) == (id_, "Pots")
    assert server.ask("DELETE", f"/memories/{id_}").body["old"] == "The bowl"
    history = server.ask("GET", f"/memories/{id_}/history").body
    assert [one["event"] for one in history] == ["ADD", "UPDATE", "UPDATE", "DELETE"]
    failed(server.ask("GET", f"/memories/{id_}"), 404, "not_found")


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_an_unknown_id_is_404(server, method):
    body = {"text": "x"} if method == "PUT" else None
    failed(server.ask(method, f"/memories/{NOBODY}", body), 404, "not_found")
    failed(server.ask("GET", f"/memories/{NOBODY}/history"), 404, "not_found")
    failed(server.ask(method, "/memories/../etc/passwd", body), 404, "not_found")
    failed(server.ask(method, "/memories/short", body), 422, "invalid_input", "path.id")


def at(place: str) -> str:
    """The place of an error in the messages, as it is answered."""
    return f'"place": "body.messages.{place}"'


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"messages": "x"}, "owner: give at least one"),
        ({"messages": "", "user_id": "m"}, "body.messages"),
        ({"messages": "x" * 20_001, "user_id": "m"}, "20000"),
        ({"messages": [{"role": "user"}], "user_id": "m"}, at("0")),
        ({"messages": {"role": "user", "content": [{"type": "x"}]}, "user_id": "m"}, "image_url"),
        (
            {"messages": [{"role": "user", "content": [{"type": "text"}]}], "user_id": "m"},
            at("0.content.0.text"),
        ),
        ({"messages": 7, "user_id": "m"}, "use a text, a message, or a list of messages"),
        ({"messages": "x", "user_id": 7}, "body.user_id"),
        ({"messages": "x", "user_id": "m", "time": "yesterday"}, "RFC 3339"),
        ({"messages": "x", "user_id": "m", "metadata": {str(i): 1 for i in range(51)}}, "50"),
        (b'{"messages": "x", "user_id": "m", "metadata": {"a": "\\ud800"}}', "not a JSON"),
        (b'{"messages": "x", "user_id": "m", "metadata": {"a": NaN}}', "JSON"),
        (b"\xff\xfe", ""),
    ],
)
def test_what_is_not_as_the_document_says_is_422(server, body, words):
    answer = server.ask("POST", "/memories", body)
    if body == b"\xff\xfe":  # not even text
        assert answer.status in {400, 422}
        failed(answer, answer.status, answer.body["error"]["type"])
    else:
        failed(answer, 422, "invalid_input", words)
    assert server.ask("GET", "/memories?user_id=m").body["results"] == []


MARA = {"user_id": "mara"}
OWNERS = {"mara": MARA, "cook": {**MARA, "agent_id": "cook"}, "theo": {"user_id": "theo"}}


def owners(server: Served) -> dict[str, str]:
    """A memory of each of three owners, the second of whom is part of the first; their ids."""
    return {name: added(server, **owner) for name, owner in OWNERS.items()}


def left(server: Served, ids: dict[str, str]) -> dict[str, int]:
    """The owners whose memory is there, and the number of changes in its history."""
    places = {name: f"/memories/{id_}" for name, id_ in ids.items()}
    there = {n: at for n, at in places.items() if server.ask("GET", at).status == 200}
    return {n: len(server.ask("GET", f"{at}/history").body) for n, at in there.items()}


def test_a_reset_is_of_its_owner(server):
    ids = owners(server)
    answer = server.ask("POST", "/reset", OWNERS["cook"])
    of = "everything of user_id=mara, agent_id=cook is deleted"
    assert (answer.status, answer.body) == (200, {"message": of})
    assert left(server, ids) == {"mara": 1, "theo": 1}
    failed(server.ask("GET", f"/memories/{ids['cook']}/history"), 404, "not_found")
    assert server.ask("POST", "/reset", {"user_id": "mara", "all": False}).status == 200
    assert left(server, ids) == {"theo": 1}
    search = {"query": "kiln", "user_id": "mara"}
    assert server.ask("POST", "/search", search).body["results"] == []
    for body in ({"all": True}, None):  # without a body as mem0's server does
        ids = owners(server)
        answer = server.ask("POST", "/reset", body)
        assert (answer.status, answer.body) == (200, {"message": "everything is deleted"})
        assert left(server, ids) == {}
    ids = owners(server)
    deleted = server.ask("DELETE", "/memories?all=true").body["results"]
    assert [one["id"] for one in deleted] == list(ids.values())
    assert left(server, ids) == {}
    assert server.ask("GET", f"/memories/{ids['theo']}/history").status == 200


BAD_REQUESTS = [
    ("POST /reset", {}, "all=true"),
    ("POST /reset", {"user_id": None}, "all=true"),
    ("POST /reset", {"all": False}, "all=true"),
    ("POST /reset", {"all": True, **MARA}, "not both"),
    ("DELETE /memories", None, "all=true"),
    ("DELETE /memories?all=true&user_id=mara", None, "not both"),
]
INVALID_INPUTS = [
    ("POST /reset", {"all": 1}, "body.all"),
    ("POST /reset", {"agent": "cook", **MARA}, "body.agent"),
    ("POST /reset?user_id=mara", None, "query.user_id"),
    ("DELETE /memories?user_id=mara&agent=cook", None, "query.agent: there is no such"),
    ("DELETE /memories?user_id=mara&agent_id=", None, "query.agent_id"),
    ("DELETE /memories?user_id=theo&user_id=mara", None, "query.user_id: is given twice"),
    ("DELETE /memories?user_id=mara", {"agent_id": "cook"}, "reads no body"),
    ("POST /search", {"query": "x", **MARA, "limit": 1, "top_k": 1}, "top_k: give it or limit"),
    ("POST /search", {"query": "x", **MARA, "top_k": 201}, "top_k"),
    ("POST /search", {"query": "x", **MARA, "top_k": 1.5}, "top_k"),
    ("POST /search", {"query": "x" * 20_001, **MARA}, "query"),
    ("GET /memories?user_id=m&limit=1001", None, "limit"),
    ("GET /memories", None, "owner: give at least one of"),
    ("GET /memories/{id}?user_id=mara", None, "query.user_id"),
    ("PUT /memories/{id}", {"text": "x", "user_id": "theo"}, "body.user_id"),
]


@pytest.mark.parametrize(
    ("status", "kind", "requests"),
    [(400, "bad_request", BAD_REQUESTS), (422, "invalid_input", INVALID_INPUTS)],
)
def test_what_would_be_ignored_is_refused_and_nothing_changes(server, status, kind, requests):
    ids = owners(server)
    for request, body, words in requests:
        answer = server.ask(*request.format(id=ids["theo"]).split(" "), body)
        failed(answer, status, kind, words)
        assert left(server, ids) == {"mara": 1, "cook": 1, "theo": 1}, request


def nested(depth: int) -> str:
    """A JSON object nested `depth` deep, of lists and objects."""
    return '{"a":[' * (depth // 2) + "1" + "]}" * (depth // 2)


def test_metadata_nested_too_deep_or_too_large_are_refused(server):
    for fits in (json.loads(nested(20)), {"a": "x" * 60_000}):
        id_ = added(server, metadata=fits)
        assert server.ask("GET", f"/memories/{id_}").body["metadata"] == fits
    for method, path, body in (
        ("POST", "/memories", '{"messages": "x", "user_id": "zoe", "metadata": %s}'),
        ("PUT", f"/memories/{id_}", '{"metadata": %s}'),
        ("POST", "/search", '{"query": "x", "user_id": "mara", "filters": %s}'),
    ):
        for wrong in (*map(nested, (22, 980, 100_000)), json.dumps({"a": "x" * 65_536})):
            answer = server.ask(method, path, (body % wrong).encode())
            assert answer.status in {400, 422}
            failed(answer, answer.status, answer.body["error"]["type"])
    assert server.ask("GET", "/memories?user_id=zoe").body["results"] == []
    assert server.ask("GET", f"/memories/{id_}").body["metadata"] == fits


def test_a_page_that_is_too_large_asks_for_a_smaller_one(server):
    talk = [{"role": "user", "content": "kiln"}] * 200
    body = {"messages": talk, **MARA, "metadata": {"a": "x" * 60_000}}
    for _ in range(2):
        assert server.ask("POST", "/memories", body).status == 201
    failed(server.ask("GET", "/memories?user_id=mara&limit=400"), 422, "invalid_input", "limit")
    assert len(server.ask("GET", "/memories?user_id=mara&limit=200").body["results"]) == 200


def test_a_broken_store_is_500_and_tells_nothing(store, tmp_path):
    with closing(sqlite3.connect(tmp_path / "memories.sqlite")) as db:
        db.execute("DROP TABLE dialogues")
        db.execute("DROP TABLE memories")
    answer = ask(store, "POST", "/search", {"query": "kiln", "agent_id": "mara"})
    failed(answer, 500, "error", "internal error")
    assert "sqlite" not in json.dumps(answer.body)
    assert ask(store, "GET", "/openapi.json").status == 200


def test_what_needs_a_model_is_409_without_one(server):
    seen = {"messages": {"role": "user", "content": [IMAGE]}}
    procedure = {"memory_type": "procedural_memory"}
    for more in ({"infer": True}, {"prompt": "In short."}, procedure, seen):
        body = {"messages": "kiln", "user_id": "alice", **more}
        failed(server.ask("POST", "/memories", body), 409, "no_model")
    question = {"query": "kiln", "user_id": "mara", "enable_graph": True}
    failed(server.ask("POST", "/search", question), 409, "no_model", "strategy=mem0_graph")
    many = [{"role": "user", "content": [IMAGE] * 26}] * 2
    answer = server.ask("POST", "/memories", {"messages": many, "user_id": "alice"})
    failed(answer, 422, "invalid_input", "over 50 images")
    assert server.ask("GET", "/memories?user_id=alice").body["results"] == []


def test_a_memory_without_history_is_in_no_file(server, folder):
    id_ = added(server, messages="The zebra is ill")
    assert files_with(folder, "The zebra is ill")
    assert server.ask("DELETE", f"/memories/{id_}?history=false").body["event"] == "DELETE"
    failed(server.ask("GET", f"/memories/{id_}/history"), 404, "not_found")
    answer = server.ask("POST", "/compact")
    assert (answer.status, answer.body) == (200, {"message": "all files are written anew"})
    assert not files_with(folder, "The zebra is ill")


def test_relations_are_written_searched_and_deleted(tmp_path):
    with opened(tmp_path, model(facts=[[fact("Mara owns a kiln", "Mara", 1)]])) as store:
        added = ask(store, "POST", "/memories", {**MARA, "messages": said("Mara - owns - kiln")})
        assert added.status == 201
        named = {"source": "Mara", "relationship": "owns", "destination": "kiln"}
        assert added.body["relations"] == [{"event": "ADD", **named}]
        question = {"query": "kiln", "user_id": "mara"}
        (one,) = ask(store, "POST", "/search", question).body["relations"]
        assert one == store.search("kiln", user_id="mara").relations[0].as_json()
        for more in ({"enable_graph": False}, {"run_id": "r1"}):
            assert ask(store, "POST", "/search", question | more).body["relations"] == []
        assert ask(store, "DELETE", "/memories?user_id=mara").status == 200
        assert ask(store, "POST", "/search", question).body["relations"] == []


def test_a_context_is_in_the_layout_of_the_configuration(tmp_path):
    with memory(tmp_path, context=Layered("layered")) as store:
        store.add("a kiln", **MARA)
        asked = {"query": "kiln", "filters": {"user_id": "mara"}}
        written = ask(store, "POST", "/context", {**asked, "budget": 60}).body
        assert written["text"].startswith("<memory_context>\n<direct_matches>\n")
        same = store.context("kiln", user_id="mara", budget=60)
        assert (written["text"], written["tokens"]) == (same.text, same.tokens)
        assert [one["id"] for one in written["results"]] == [one.id for one in same.results]
        for wrong in ({"budget": 0}, {"limit": 3}, {"user_id": "mara"}, {"filters": {}}):
            assert ask(store, "POST", "/context", asked | wrong).status == 422
