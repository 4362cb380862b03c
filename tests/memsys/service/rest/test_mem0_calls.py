"""The operations of mem0's REST server: create, retrieve, search, update, delete and reset."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.memsys.knowledge.facts.models import fact, facts
from tests.memsys.llm import faults
from tests.memsys.llm.answers import Body
from tests.memsys.llm.server import Behaviour, FaultyServer
from tests.memsys.service.rest.serving import CONFIG, Answer, Served, serving
from tests.memsys.service.rest.test_server import IMAGE, failed
from tests.memsys.service.test_mem0_users import MODEL
from tests.memsys.service.test_messages import STEPS

CHAT = [
    {"role": "system", "content": "Be polite."},
    {"role": "user", "content": "I love science fiction."},
    {"role": "assistant", "content": "Noted."},
]
REFUSED, DOWN = "Its key is refused.", "The model is down."


def script(body: Body) -> Behaviour | None:
    for words, status in ((REFUSED, 401), (DOWN, 500)):
        if words in str(body["messages"]):
            return faults.status(status)
    if isinstance(body["messages"][-1]["content"], list):
        return faults.says("A kiln of brick.")
    if "tools" in body:
        return None  # the first: ADD
    if "response_format" not in body:
        return faults.says("They greet each other.")
    steps = "steps" in body["response_format"]["json_schema"]["schema"]["properties"]
    film = facts(fact("Loves science fiction", "user", 1))
    return faults.says(json.dumps(STEPS) if steps else film)


Ask = Callable[..., Any]
OWNER = {"user_id": "alice"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mem0")


@pytest.fixture(scope="module")
def model() -> Iterator[FaultyServer]:
    with FaultyServer(script) as server:
        yield server


@pytest.fixture(scope="module")
def running(folder: Path, model: FaultyServer) -> Iterator[Served]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "sk-of-the-tests")
        with serving(folder, config=CONFIG + MODEL % model.base_url) as server:
            yield server


@pytest.fixture(scope="module")
def ask(running: Served) -> Ask:
    """`ask(status, method, path, body)` returns the answer's body, of this status."""

    def answer(status: int, method: str, path: str, body: Any = None) -> Any:
        reply = running.ask(method, path, body)
        assert reply.status == status, reply.body
        return reply.body

    return answer


def test_create(ask):
    def add(messages: Any, **more: Any) -> Any:
        return ask(201, "POST", "/memories", {"messages": messages, **OWNER, **more})

    added = add(CHAT, metadata={"category": "films"}, infer=True, prompt="In short.")
    assert added["relations"] == added["faults"] == []
    (first,) = added["results"]
    assert (first["memory"], first["event"]) == ("Loves science fiction", "ADD")
    raw = add(CHAT, agent_id="guide", run_id="r1", infer=False, version="v1.1")
    assert [one["memory"] for one in raw["results"]] == [*("I love science fiction.", "Noted.")]
    assert [one["run_id"] for one in raw["results"]] == ["r1", "r1"]
    assert [len(add(said, infer=False)["results"]) for said in (CHAT[1], "I row")] == [1, 1]
    procedure = add(CHAT, agent_id="guide", memory_type="procedural_memory")
    assert procedure["results"][0]["memory"].startswith("Objective: Fire a bowl\n")
    shown = "[image: A kiln of brick.]"
    seen = add([{"role": "user", "content": IMAGE}], infer=False)
    assert seen["results"][0]["memory"] == shown
    parts = [{"type": "text", "text": "Mine"}, IMAGE, IMAGE]
    seen = add({"role": "user", "content": parts}, infer=False)
    assert seen["results"][0]["memory"] == f"Mine {shown} {shown}"
    films = {"query": "films", "limit": 2, "filters": {**OWNER, "category": "films"}}
    (found,) = ask(200, "POST", "/search", films | {"version": "v1.1"})["results"]
    assert {"memory", "created_at", "updated_at", "title"} < set(found)
    body = {"data": "Loves musicals", "title": "Music"}
    changed = ask(200, "PUT", f"/memories/{found['id']}", body)
    assert (changed["old_memory"], changed["memory"]) == (first["memory"], "Loves musicals")


def test_the_key_of_a_model_that_fails_is_told_to_nobody(ask, folder):
    for words, status, kind in ((REFUSED, 422, "invalid_input"), (DOWN, 502, "model_failed")):
        asked = {"messages": words, "user_id": "zoe", "infer": True}
        body = ask(status, "POST", "/memories", asked)
        failed(Answer(status, {}, body), status, kind)
        assert "sk-of-the-tests" not in json.dumps(body)
    assert "sk-of-the-tests" not in (folder / "server.log").read_text()


BOOK = {"id": "c1", "function": {"name": "book", "arguments": '{"ferry": 14}'}}
RUN = [
    {"role": "user", "content": "Book a seat on ferry 14."},
    {"role": "assistant", "tool_calls": [BOOK]},
    {"role": "tool", "tool_call_id": "c1", "content": "seat 3A"},
]


def test_tool_calls_and_their_results_are_recorded(ask, model):
    """By a procedure as calls, of the whole run; elsewhere as text."""
    body = {"messages": RUN, "agent_id": "clerk", "memory_type": "procedural_memory"}
    (added,) = ask(201, "POST", "/memories", body)["results"]
    assert added["memory"].startswith("Objective: Fire a bowl\n")
    sent = model.bodies[-1]
    assert sent["max_tokens"] == 8192
    roles = [one["role"] for one in sent["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "user"]
    (called,) = sent["messages"][2]["tool_calls"]
    assert called == {"type": "function", **BOOK}
    empty = [RUN[0], {**RUN[1], "content": ""}, RUN[2]]  # as some clients send them
    again = {**body, "messages": empty, "memory_type": None, "infer": False}
    plain = ask(201, "POST", "/memories", again)["results"]
    stored = [RUN[0]["content"], 'calls book({"ferry": 14})', "seat 3A"]
    assert [one["memory"] for one in plain] == stored
    for wrong in ({"role": "assistant"}, {**RUN[1], "tool_calls": []}, {**RUN[1], "content": 3}):
        ask(422, "POST", "/memories", {**body, "messages": [wrong]})
