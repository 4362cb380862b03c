"""What was written for mem0 runs here: code with the import changed, as its quick start does, and
requests to its REST server (create, retrieve, search, update, delete and reset).
"""

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

from memsys.core.errors import InputError
from tests.memsys.knowledge.facts.models import fact, facts
from tests.memsys.llm import faults
from tests.memsys.llm.answers import Body
from tests.memsys.llm.server import Behaviour, FaultyServer
from tests.memsys.service.rest.conftest import CONFIG, Answer, Served, serving
from tests.memsys.service.rest.test_server import IMAGE, failed
from tests.memsys.service.test_messages import STEPS

MODEL = """strategy: mem0
llm:
  _target_: memsys.llm.client.ChatSettings
  model: scripted
  retries: 0
  base_url: "%s"
"""
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


@pytest.fixture(scope="module")
def model() -> Iterator[FaultyServer]:
    with FaultyServer(script) as server:
        yield server


# Operations and arguments as in mem0's documentation, and of mem0 2, whose searches have ids among
# the filters.
SCRIPT = """
from mem0 import Memory

m = Memory.from_config(CONFIG) if CONFIG else Memory()
messages = [
    {"role": "user", "content": "Which film shall I watch tonight?"},
    {"role": "assistant", "content": "There is a new thriller."},
    {"role": "user", "content": "No thriller: I love science fiction."},
    {"role": "assistant", "content": "Then science fiction it is."},
]
result = m.add(messages, user_id="alice", metadata={"category": "films"})
run_result = m.add(
    messages, user_id="alice", agent_id="movie-assistant", run_id="session-001", metadata={"n": 1}
)
plain = m.add({"role": "user", "content": "I row on Sundays"}, user_id="bob", infer=False)
all_memories = m.get_all(user_id="alice")
memory_id = all_memories["results"][0]["id"]
one = m.get(memory_id)
related = m.search(query="What films does Alice love?", user_id="alice", limit=3)
memories_str = "\\n".join(f"- {entry['memory']}" for entry in related["results"])
older = [entry["memory"] for entry in m.search("science fiction", user_id="alice")]
mine = {"user_id": "alice"}
found = m.search("What does Alice love?", filters=mine, top_k=5, threshold=0.1)
films = m.search("films", filters={**mine, "category": "films"})
listed = m.get_all(filters=mine, top_k=50)
m.update(memory_id, "Loves musicals")
updated = m.update(memory_id=memory_id, data="Loves opera")
history = m.history(memory_id=memory_id)
m.delete(memory_id=memory_id)
after_delete = m.get_all(user_id="alice")
m.delete_all(user_id="alice")
left = [m.get_all(user_id="alice"), m.get_all(filters={"user_id": "bob"})]
m.reset()
after = m.get_all(filters={"user_id": "bob"})
"""


def run(script: str, config: Any, awaited: bool) -> dict[str, Any]:
    """The names that `script` has set, with Memory or with AsyncMemory."""
    ran: dict[str, Any] = {"CONFIG": config}
    script = script.replace("from mem0 import", "from memsys import")
    if not awaited:
        exec(script, ran)  # noqa: S102
        return ran
    script = re.sub(r"\bm\.(?=[a-z_]+\()", "await m.", script.replace("Memory", "AsyncMemory"))
    head, _, body = script.partition("\n\n")
    exec(f"{head}\nasync def main():\n{indent(body, '    ')}\n    return locals()\n", ran)  # noqa: S102
    return asyncio.run(ran["main"]())


@pytest.mark.parametrize("awaited", [False, True])
def test_a_script_of_mem0_runs_with_its_import_changed(tmp_path, monkeypatch, model, awaited):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-tests")
    (tmp_path / "memory.yaml").write_text(CONFIG + MODEL % model.base_url, encoding="utf-8")
    monkeypatch.setenv("MEMSYS_CONFIG", "memory.yaml")
    monkeypatch.setenv("MEMSYS_TRUSTED", "tests.memsys.build")
    chat = {"model": "gpt-4o", "max_tokens": 2000, "openai_base_url": model.base_url}
    prompts = {"custom_fact_extraction_prompt": "Only food."}
    prompts["custom_instructions"] = "Write in English."
    config = {"version": "v1.1", "llm": {"provider": "openai", "config": chat}, **prompts}
    before = len(model.bodies)
    ran = run(SCRIPT, config if awaited else None, awaited)
    (added,), fiction = ran["result"]["results"], "Loves science fiction"
    assert (added["memory"], added["data"], added["event"]) == (fiction, fiction, "ADD")
    assert ran["result"]["relations"] == []
    assert [one["event"] for one in ran["run_result"]["results"]] == ["ADD"]
    assert [one["memory"] for one in ran["plain"]["results"]] == ["I row on Sundays"]
    everything = ran["all_memories"]
    assert everything.keys() == ("results", "relations")
    assert json.loads(json.dumps(dict(everything)))["results"][0]["id"] == added["id"]
    one, metadata = ran["one"], {"category": "films"}
    assert (one["id"], one["user_id"], one["metadata"]) == (added["id"], "alice", metadata)
    assert one["created_at"] == one["created"]
    assert ran["memories_str"].startswith("- Loves science fiction")
    assert 0 < ran["related"]["results"][0]["score"] <= 1
    counts = {name: len(ran[name]["results"]) for name in ("all_memories", "found", "listed")}
    assert {*counts.values(), len(ran["older"])} == {2}
    assert [(row["id"], row["metadata"]) for row in ran["films"]] == [(added["id"], metadata)]
    assert ran["updated"]["memory"] == "Loves opera"
    history = [tuple(row[key] for key in ("event", "old_memory")) for row in ran["history"]]
    assert history == [("ADD", None), ("UPDATE", fiction), ("UPDATE", "Loves musicals")]
    assert ran["history"][-1]["new_memory"] == "Loves opera"
    assert {row["memory_id"] for row in ran["history"]} == {added["id"]}
    assert all(row["created_at"] == row["time"] for row in ran["history"])
    assert len(ran["after_delete"]["results"]) == 1
    assert [len(one["results"]) for one in (*ran["left"], ran["after"])] == [0, 1, 0]
    assert not list(tmp_path.rglob("calls.sqlite"))  # what users say is not recorded
    if not awaited:
        with pytest.raises(InputError, match="all=true for the memories of"):
            ran["m"].reset(user_id=None)  # an owner that is missing deletes nobody's memories
        ran["m"].close()
        return
    extraction = model.bodies[before]
    assert (extraction["model"], extraction["max_tokens"]) == ("gpt-4o", 2000)
    system, user = (message["content"] for message in extraction["messages"])
    assert (system, user[:7]) == ("Only food.\n\nWrite in English.", "Input:\n")
    assert "1. user: Which film" in user
    assert not any("two people" in str(body["messages"]) for body in model.bodies[before:])


CHAT = [
    {"role": "system", "content": "Be polite."},
    {"role": "user", "content": "I love science fiction."},
    {"role": "assistant", "content": "Noted."},
]
Ask = Callable[..., Any]
OWNER = {"user_id": "alice"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mem0")


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
    assert [len(add(messages, infer=False)["results"]) for messages in (CHAT[1], "I row")] == [1, 1]
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
