"""Adapter of mem0ai 1, the last with a graph: facts in faiss, relations in kuzu."""

from __future__ import annotations

import os
import runpy
from datetime import date, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": "./mem0"}

from mem0 import Memory
from mem0.memory import utils

_CONFIGURATION = runpy.run_path(str(Path(__file__).with_name("mem0ai.py")))["configuration"]
_USER = "conversation"
_PROMPT, _TODAY = utils.USER_MEMORY_EXTRACTION_PROMPT, f"{date.today()}"


class Adapter:
    """Stores one conversation as one user of the library; without a model there is no graph."""

    library, version, on_disk = "mem0ai", version("mem0ai"), True

    def __init__(self, options: dict[str, Any]) -> None:
        """`options`: base_url, key, model, embedder, dimensions, infer, settings."""
        self._infer = options["infer"]
        graph = {"graph_store": {"provider": "kuzu", "config": {"db": "./kuzu"}}}
        own = graph if self._infer else {}
        self._memory = Memory.from_config({**own, **_CONFIGURATION(options)})

    @property
    def about(self) -> dict[str, dict[str, Any]]:
        """The metadata of the memories by id."""
        return {memory["id"]: memory["metadata"] for memory in self._stored_memories()["results"]}

    def _stored_memories(self) -> dict[str, Any]:
        stored: dict[str, Any] = self._memory.get_all(user_id=_USER, limit=10**6)
        return stored

    def degraded(self) -> list[str]:
        """Return the features that are missing without a warning by the library."""
        return [] if self._memory.enable_graph else ["no graph: only a model writes relations"]

    def add(self, item: dict[str, Any]) -> int:
        """Return the growth of the number of memories."""
        messages = [{"role": "user", "content": message["text"]} for message in item["messages"]]
        # The library's "today": or relative dates would be resolved from the day of the run.
        about = item["about"]
        day = f"{datetime.fromisoformat(about['time']).date()}"
        utils.USER_MEMORY_EXTRACTION_PROMPT = _PROMPT.replace(_TODAY, day)
        added = self._memory.add(messages, user_id=_USER, infer=self._infer, metadata=about)
        return sum({"ADD": 1, "DELETE": -1}.get(result["event"], 0) for result in added["results"])

    def search(self, query: str, k: int) -> list[dict[str, Any]]:
        """Return the k best memories, then the relations that the library found, which have no
        score, turns or time.
        """
        results = self._memory.search(query, user_id=_USER, limit=k)
        rows = [{**row, **row["metadata"], "text": row["memory"]} for row in results["results"]]
        for edge in results.get("relations", ()):
            text = f"{edge['source']} -- {edge['relationship']} -- {edge['destination']}"
            rows.append({"id": text, "text": text})
        return rows

    def delete(self, ids: list[str]) -> int:
        """Delete memories; return their number. The library asks the model which relations to
        delete with each.
        """
        return len([self._memory.delete(id_) for id_ in ids])

    def size(self) -> dict[str, int]:
        """Return the numbers of memories and relations."""
        stored = self._stored_memories()
        return {"memories": len(stored["results"]), "edges": len(stored.get("relations", ()))}
