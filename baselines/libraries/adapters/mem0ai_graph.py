"""mem0ai 1, the last with a graph: facts in faiss, relations in kuzu. Runs in its own venv."""

from __future__ import annotations

import os
from datetime import date, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": "./mem0"}

from mem0 import Memory
from mem0.memory import utils

_USER = "conversation"
_PROMPT, _TODAY = utils.USER_MEMORY_EXTRACTION_PROMPT, f"{date.today()}"


class Adapter:
    """One conversation is one user of the library. Without a model there is no graph."""

    library, version = "mem0ai", version("mem0ai")

    def __init__(self, told: dict[str, Any]) -> None:
        """`told`: base_url, key, model, embedder, dimensions, infer, settings."""
        self._infer, self._last = told["infer"], ""
        server = {"api_key": told["key"], "openai_base_url": told["base_url"]}
        index = {"path": "./faiss", "collection_name": "memories"}
        index |= {"embedding_model_dims": told["dimensions"], "distance_strategy": "cosine"}
        embedder = {"model": told["embedder"], "embedding_dims": told["dimensions"], **server}
        graph = {"graph_store": {"provider": "kuzu", "config": {"db": "./kuzu"}}}
        self._memory = Memory.from_config(
            {
                "llm": {"provider": "openai", "config": {"model": told["model"], **server}},
                "embedder": {"provider": "openai", "config": embedder},
                "vector_store": {"provider": "faiss", "config": index},
                "history_db_path": "history.db",
                **(graph if self._infer else {}),
                **told["settings"],
            }
        )

    def degraded(self) -> list[str]:
        """What is not there without a word of the library's."""
        return [] if self._memory.enable_graph else ["no graph: only a model writes relations"]

    def add(self, item: dict[str, Any]) -> int:
        """By how many the memories grew."""
        said = [{"role": "user", "content": message["text"]} for message in item["messages"]]
        # The library's "today": relative dates would else be counted from the day of the run.
        about, self._last = item["about"], item["about"]["time"]
        day = f"{datetime.fromisoformat(self._last).date()}"
        utils.USER_MEMORY_EXTRACTION_PROMPT = _PROMPT.replace(_TODAY, day)
        made = self._memory.add(said, user_id=_USER, infer=self._infer, metadata=about)["results"]
        return sum({"ADD": 1, "DELETE": -1}.get(one["event"], 0) for one in made)

    def search(self, query: str, k: int) -> list[dict[str, Any]]:
        """The k best memories; then the relations that the library found, which have no score, no
        turns and no time of their own.
        """
        if not query.strip():
            return []
        found = self._memory.search(query, user_id=_USER, limit=k)
        rows = [{**one, **one["metadata"], "text": one["memory"]} for one in found["results"]]
        bare = {"score": 0.0, "turns": [], "time": self._last, "origin": "expanded"}
        for one in found.get("relations", ()):
            text = f"{one['source']} -- {one['relationship']} -- {one['destination']}"
            rows.append({"id": text, "text": text, **bare})
        return rows

    def size(self) -> dict[str, int]:
        """Memories, the relations between entities, and the bytes of the library's folder."""
        held = self._memory.get_all(user_id=_USER, limit=10**6)
        files = (path.stat().st_size for path in Path().rglob("*") if path.is_file())
        found = {"memories": len(held["results"]), "edges": len(held.get("relations", ()))}
        return {**found, "bytes": sum(files)}
