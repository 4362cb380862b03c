"""What the real libraries leave of a forgotten message, and whether they can be replayed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from baselines.libraries.memory import LibraryMemory
from tests.baselines.libraries import test_graphiti, test_langmem, test_mem0ai, test_mem0ai_graph
from tests.baselines.libraries.real import asking, ingested, needs
from tests.memsys.build import MakeParts, query
from tests.memsys.left import files_with
from tests.memsys.llm.server import FaultyServer
from tests.memsys.llm.tool_calls import calls


def mem0ai_graph(body: dict[str, Any]) -> Any:
    """Answers as in test_mem0ai_graph, and names the relation of a memory that is deleted, which
    is a fact without the full stop of a message.
    """
    text = body["messages"][-1]["content"]
    tools = {tool["function"]["name"] for tool in body.get("tools", ())}
    if "establish_relationships" in tools and text.endswith("love pizza"):
        row = {"source": "ada", "relationship": "says", "destination": "pizza"}
        return calls(("establish_relationships", {"entities": [row]}))
    return test_mem0ai_graph.memory(body)


MODELS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "mem0ai": test_mem0ai.facts,
    "mem0ai_graph": mem0ai_graph,
    "langmem": test_langmem.manager,
    "graphiti": test_graphiti.graph,
}
# Files of the working folder that contain a message before and after it is forgotten.
FILES: dict[str, tuple[set[str], set[str]]] = {
    "mem0ai": ({"faiss/memories.json", "history.db"}, {"history.db"}),
    # The entity remains without its relation.
    "mem0ai_graph": ({"faiss/memories.pkl", "history.db", "kuzu.wal"}, {"history.db", "kuzu.wal"}),
    "langmem": (set(), set()),  # in memory only
    "graphiti": (set(), set()),  # its server writes no file here
}
NAMES = [pytest.param(name, marks=needs(name)) for name in MODELS]


@contextmanager
def opened(name: str, parts: MakeParts, folder: Path) -> Iterator[LibraryMemory]:
    with (
        FaultyServer(MODELS[name]) as server,
        ingested(name, asking(parts, server, folder), exchange=1) as strategy,
    ):
        yield strategy


@pytest.mark.parametrize("name", NAMES)
def test_a_forgotten_message_is_not_found(name, parts, tmp_path):
    with opened(name, parts, tmp_path / "calls") as strategy:
        asked = query("Does Ada love pizza or burgers?")
        folder = Path(strategy._open[2].name)  # type: ignore[index]
        assert "pizza" in strategy.retrieve(asked).context
        assert set(files_with(folder, "pizza")) == FILES[name][0]
        assert strategy.forget(["D1:2"]) == 1
        assert set(files_with(folder, "pizza")) == FILES[name][1]
        context = strategy.retrieve(asked).context
        assert "pizza" not in context
        assert "burgers" in context
        assert strategy.forget(["D1:2"]) == 0


@pytest.mark.parametrize("name", [one for one in NAMES if one.values[0] != "mem0ai_graph"])
def test_a_recorded_memory_is_written_again_without_a_server(name, parts, tmp_path):
    ranked, requests = [], []
    with FaultyServer(MODELS[name]) as server:
        for mode in ("auto", "replay"):
            with ingested(name, asking(parts, server, tmp_path, mode)) as strategy:
                found = strategy.retrieve(query("What does Ada like or love?")).candidates
            ranked.append({one.memory.content for one in found})
            requests.append(server.requests)
    assert requests[0] == requests[1] > 0
    assert ranked[0] == ranked[1]
    assert ranked[0]
