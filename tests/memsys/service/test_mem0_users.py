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

# Operations and arguments as in mem0's documentation, about a film.
QUICK_START = """
from mem0 import Memory

m = Memory()

messages = [
    {"role": "user", "content": "Which film shall I watch tonight?"},
    {"role": "assistant", "content": "There is a new thriller."},
    {"role": "user", "content": "No thriller: I love science fiction."},
    {"role": "assistant", "content": "Then science fiction it is."},
]
result = m.add(messages, user_id="alice", metadata={"category": "movie_recommendations"})
run_result = m.add(
    messages, user_id="alice", agent_id="movie-assistant", run_id="session-001", metadata={"n": 1}
)
dict_result = m.add({"role": "user", "content": "I row on Sundays"}, user_id="bob", infer=False)

all_memories = m.get_all(user_id="alice")
memory_id = all_memories["results"][0]["id"]
specific_memory = m.get(memory_id)

related_memories = m.search(query="What films does Alice love?", user_id="alice", limit=3)
memories_str = "\\n".join(f"- {entry['memory']}" for entry in related_memories["results"])
older = [entry["memory"] for entry in m.search("science fiction", user_id="alice")]

updated = m.update(memory_id=memory_id, data="I love India, it is my favourite country")
history = m.history(memory_id=memory_id)

m.delete(memory_id=memory_id)
after_delete = m.get_all(user_id="alice")
m.delete_all(user_id="alice")
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


def test_the_quick_start_runs_with_a_model(tmp_path, monkeypatch, model):
    (tmp_path / "memory.yaml").write_text(CONFIG + MODEL % model.base_url, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMSYS_CONFIG", "memory.yaml")
    monkeypatch.setenv("MEMSYS_TRUSTED", "tests.memsys.build")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-tests")
    ran: dict[str, Any] = {}
    exec(QUICK_START.replace("from mem0 import", "from memsys import"), ran)  # noqa: S102
    (added,) = ran["result"]["results"]
    assert (added["memory"], added["event"]) == ("Loves science fiction", "ADD")
    assert ran["result"]["relations"] == []
    assert [one["event"] for one in ran["run_result"]["results"]] == ["ADD"]
    assert [one["memory"] for one in ran["dict_result"]["results"]] == ["I row on Sundays"]
    everything = ran["all_memories"]
    assert everything.keys() == ("results", "relations")
    assert json.loads(json.dumps(dict(everything)))["results"][0]["id"] == added["id"]
    first, metadata = ran["specific_memory"], {"category": "movie_recommendations"}
    assert (first["id"], first["user_id"], first["metadata"]) == (added["id"], "alice", metadata)
    assert first["created_at"] == first["created"]
    assert ran["memories_str"].startswith("- Loves science fiction")
    assert len(ran["older"]) == len(everything["results"]) == 2
    assert 0 < ran["related_memories"]["results"][0]["score"] <= 1
    india = "I love India, it is my favourite country"
    assert ran["updated"]["memory"] == india
    keys, fiction = ("event", "old_memory", "new_memory"), "Loves science fiction"
    history = [tuple(one[key] for key in keys) for one in ran["history"]]
    assert history == [("ADD", None, fiction), ("UPDATE", fiction, india)]
    assert {one["memory_id"] for one in ran["history"]} == {added["id"]}
    assert len(ran["after_delete"]["results"]) == 1
    assert not list(tmp_path.rglob("calls.sqlite"))  # what users say is not recorded
    assert ran["m"].get_all(user_id="alice") == []
    assert len(ran["m"].get_all(user_id="bob")["results"]) == 1
    with pytest.raises(InputError, match="all=true for the memories of"):
        ran["m"].reset(user_id=None)  # an owner that is missing deletes nobody's memories
    ran["m"].reset()
    assert ran["m"].get_all(user_id="bob")["results"] == []
    ran["m"].close()


# Operations and arguments of mem0 2, whose searches have ids among the filters; run by AsyncMemory.
SCRIPT = """
from mem0 import Memory

m = Memory.from_config({
    "version": "v1.1",
    "llm": {
        "provider": "openai",
        "config": {"model": "gpt-4o", "max_tokens": 2000, "openai_base_url": "%s"},
    },
    "custom_fact_extraction_prompt": "Only food.",
    "custom_instructions": "Write in English.",
})
messages = [
    {"role": "user", "content": "No thriller: I love science fiction."},
    {"role": "assistant", "content": "Then science fiction it is."},
]
result = m.add(messages, user_id="alice", metadata={"category": "films"})
added = result["results"][0]
plain = m.add("I cook with saffron", user_id="bob", infer=False)
mine = {"user_id": "alice"}
found = m.search("What does Alice love?", filters=mine, top_k=5, threshold=0.1)
films = m.search("films", filters={**mine, "category": "films"})
listed = m.get_all(filters=mine, top_k=50)
one = m.get(added["id"])
m.update(added["id"], "Loves musicals")
m.update(memory_id=added["id"], data="Loves opera")
history = m.history(added["id"])
m.delete(memory_id=added["id"])
m.delete_all(user_id="bob")
left = [m.get_all(filters={"user_id": name}) for name in ("alice", "bob")]
m.add("I row", agent_id="guide", infer=False)
m.reset()
after = m.get_all(filters={"agent_id": "guide"})
"""


def test_a_script_of_mem0_2_runs_with_its_import_changed(tmp_path, monkeypatch, model):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-tests")
    ran: dict[str, Any] = {}
    script = re.sub(r"\bm\.(?=[a-z_]+\()", "await m.", SCRIPT % model.base_url)
    head, _, body = script.replace("Memory", "AsyncMemory").partition("\n\n")
    script = f"{head}\nasync def main():\n{indent(body, '    ')}\n    return locals()\n"
    exec(script.replace("from mem0 import", "from memsys import"), ran)  # noqa: S102
    ran = asyncio.run(ran["main"]())
    added = ran["added"]
    kept = "Loves science fiction"
    assert (added["memory"], added["data"], added["event"]) == (kept, kept, "ADD")
    assert ran["plain"]["results"][0]["memory"] == "I cook with saffron"
    rows = [ran[name]["results"] for name in ("found", "films", "listed")]
    for (row,) in (*rows, [ran["one"]]):
        assert (row["id"], row["metadata"]) == (added["id"], {"category": "films"})
    assert [(entry["event"], entry["new_memory"]) for entry in ran["history"]] == [
        *(("ADD", "Loves science fiction"), ("UPDATE", "Loves musicals"), ("UPDATE", "Loves opera"))
    ]
    assert [one["results"] for one in (*ran["left"], ran["after"])] == [[], [], []]
    extraction = model.bodies[0]
    assert (extraction["model"], extraction["max_tokens"]) == ("gpt-4o", 2000)
    system, user = (message["content"] for message in extraction["messages"])
    assert (system, user[:7]) == ("Only food.\n\nWrite in English.", "Input:\n")
    assert "1. user: No thriller" in user
    assert not any("two people" in str(body["messages"]) for body in model.bodies)
