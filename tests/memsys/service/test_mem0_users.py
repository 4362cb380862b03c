"""Code that was written for mem0 runs with the import changed, as its quick start does."""

import asyncio
import json
import re
from collections.abc import Iterator
from textwrap import indent
from typing import Any

import pytest

from memsys.core.errors import InputError
from tests.memsys.knowledge.facts.models import fact, facts
from tests.memsys.llm import faults
from tests.memsys.llm.answers import Body
from tests.memsys.llm.server import Behaviour, FaultyServer

CONFIG = "embedder: {_target_: tests.memsys.build.BagOfWords}\n"
MODEL = """strategy: mem0
llm:
  _target_: memsys.llm.client.ChatSettings
  model: scripted
  retries: 0
  base_url: "%s"
"""

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


def script(body: Body) -> Behaviour | None:
    """Facts for an extraction; a summary; for a decision, the first tool (ADD)."""
    if "response_format" in body:
        return faults.says(facts(fact("Loves science fiction", "user", 1)))
    return None if "tools" in body else faults.says("They choose a film.")


@pytest.fixture
def model() -> Iterator[FaultyServer]:
    with FaultyServer(script) as server:
        yield server


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
    assert len(ran["after_delete"]["results"]) == 1
    assert [len(one["results"]) for one in (*ran["left"], ran["after"])] == [0, 1, 0]
    assert not list(tmp_path.rglob("calls.sqlite"))  # what users say is not recorded
    if not awaited:
        with pytest.raises(InputError, match="all=true for the memories of"):
            ran["m"].reset(user_id=None)  # an owner that is missing deletes nobody's memories
        ran["m"].close()
        return
    extraction = model.bodies[0]
    assert (extraction["model"], extraction["max_tokens"]) == ("gpt-4o", 2000)
    system, user = (message["content"] for message in extraction["messages"])
    assert (system, user[:7]) == ("Only food.\n\nWrite in English.", "Input:\n")
    assert "1. user: Which film" in user
    assert not any("two people" in str(body["messages"]) for body in model.bodies)
