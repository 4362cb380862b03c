"""Adapter of mem0ai 1, the last with a graph: facts in faiss, relations in kuzu."""

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
    """Stores one conversation as one user of the library; without a model there is no graph."""

    library, version = "mem0ai", version("mem0ai")

    def __init__(self, options: dict[str, Any]) -> None:
        """`options`: base_url, key, model, embedder, dimensions, infer, settings."""
        self._infer, self._last = options["infer"], ""
        server = {"api_key": options["key"], "openai_base_url": options["base_url"]}
        index = {"path": "./faiss", "collection_name": "memories"}
        index |= {"embedding_model_dims": options["dimensions"], "distance_strategy": "cosine"}
        embedder = {"model": options["embedder"], "embedding_dims": options["dimensions"], **server}
        graph = {"graph_store": {"provider": "kuzu", "config": {"db": "./kuzu"}}}
        self._memory = Memory.from_config(
            {
                "llm": {"provider": "openai", "config": {"model": options["model"], **server}},
                "embedder": {"provider": "openai", "config": embedder},
                "vector_store": {"provider": "faiss", "config": index},
                "history_db_path": "history.db",
                **(graph if self._infer else {}),
                **options["settings"],
            }
        )

    def degraded(self) -> list[str]:
        """Return the features that are missing without a warning by the library."""
        return [] if self._memory.enable_graph else ["no graph: only a model writes relations"]

    def add(self, item: dict[str, Any]) -> int:
        """Return the growth of the number of memories."""
        said = [{"role": "user", "content": message["text"]} for message in item["messages"]]
        # The library's "today": or relative dates would be resolved from the day of the run.
        about, self._last = item["about"], item["about"]["time"]
        day = f"{datetime.fromisoformat(self._last).date()}"
        utils.USER_MEMORY_EXTRACTION_PROMPT = _PROMPT.replace(_TODAY, day)
        added = self._memory.add(said, user_id=_USER, infer=self._infer, metadata=about)
        return sum({"ADD": 1, "DELETE": -1}.get(one["event"], 0) for one in added["results"])

    def search(self, query: str, k: int) -> list[dict[str, Any]]:
        """Return the k best memories, then the relations that the library found, which have no
        score, turns or time.
        """
        if not query.strip():
            return []
        results = self._memory.search(query, user_id=_USER, limit=k)
        rows = [{**one, **one["metadata"], "text": one["memory"]} for one in results["results"]]
        bare = {"score": 0.0, "turns": [], "time": self._last, "origin": "expanded"}
        for one in results.get("relations", ()):
            text = f"{one['source']} -- {one['relationship']} -- {one['destination']}"
            rows.append({"id": text, "text": text, **bare})
        return rows

    def forget(self, turns: set[str]) -> int:
        """Delete the memories of messages among which is one of `turns`; return their number. The
        library asks the model which relations to delete with each.
        """
        stored = self._memory.get_all(user_id=_USER, limit=10**6)["results"]
        gone = [one["id"] for one in stored if turns.intersection(one["metadata"]["turns"])]
        return len([self._memory.delete(id_) for id_ in gone])

    def size(self) -> dict[str, int]:
        """Return the numbers of memories and relations, and the bytes of the library's files."""
        stored = self._memory.get_all(user_id=_USER, limit=10**6)
        files = (path.stat().st_size for path in Path().rglob("*") if path.is_file())
        counts = {"memories": len(stored["results"]), "edges": len(stored.get("relations", ()))}
        return {**counts, "bytes": sum(files)}
