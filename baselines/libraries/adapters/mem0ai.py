"""Adapter of mem0ai 2, with facts or messages in a faiss index; run by serve.py."""

from __future__ import annotations

import os
from datetime import datetime
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": "./mem0"}

from mem0 import Memory
from mem0.configs import prompts
from mem0.vector_stores.base import VectorStoreBase

_USER = "conversation"


class Adapter:
    """Stores one conversation as one user of the library."""

    library, version, on_disk = "mem0ai", version("mem0ai"), True

    def __init__(self, options: dict[str, Any]) -> None:
        """`options`: base_url, key, model, embedder, dimensions, infer, settings."""
        self._infer = options["infer"]
        self._memory = Memory.from_config(configuration(options))

    @property
    def about(self) -> dict[str, dict[str, Any]]:
        """The metadata of the memories by id."""
        stored = self._memory.get_all(filters={"user_id": _USER}, top_k=10**6)["results"]
        return {memory["id"]: memory["metadata"] for memory in stored}

    def degraded(self) -> list[str]:
        """Return the features that are missing without a warning by the library."""
        missing = []
        if type(self._memory.vector_store).keyword_search is VectorStoreBase.keyword_search:
            missing.append("no keyword search: faiss has none, so the score is the cosine alone")
        if find_spec("spacy") is None:
            missing.append("no entities and no lemmas: spaCy and en_core_web_sm are not installed")
        return missing

    def add(self, item: dict[str, Any]) -> int:
        """Add an exchange, or a message unchanged; return the number of new memories."""
        messages = [{"role": "user", "content": message["text"]} for message in item["messages"]]
        # The library's "today": or relative dates would be resolved from the day of the run.
        prompts.datetime = _clock(item["about"]["time"])
        about = {**item["about"], "created_at": item["about"]["time"]}
        added = self._memory.add(messages, user_id=_USER, infer=self._infer, metadata=about)
        return len(added["results"])

    def search(self, query: str, k: int) -> list[dict[str, Any]]:
        """Return the k best memories with their metadata."""
        results = self._memory.search(query, filters={"user_id": _USER}, top_k=k)["results"]
        return [{**result, **result["metadata"], "text": result["memory"]} for result in results]

    def delete(self, ids: list[str]) -> int:
        """Delete memories; return their number."""
        return len([self._memory.delete(id_) for id_ in ids])

    def size(self) -> dict[str, int]:
        """Return the number of memories."""
        return {"memories": len(self._memory.vector_store.docstore)}


def configuration(options: dict[str, Any]) -> dict[str, Any]:
    """Return the library's configuration; `mem0ai_graph` uses it as well."""
    server = {"api_key": options["key"], "openai_base_url": options["base_url"]}
    index = {"path": "./faiss", "collection_name": "memories"}
    index |= {"embedding_model_dims": options["dimensions"], "distance_strategy": "cosine"}
    embedder = {"model": options["embedder"], "embedding_dims": options["dimensions"], **server}
    return {
        "llm": {"provider": "openai", "config": {"model": options["model"], **server}},
        "embedder": {"provider": "openai", "config": embedder},
        "vector_store": {"provider": "faiss", "config": index},
        "history_db_path": "history.db",
        **options["settings"],
    }


def _clock(time: str) -> type[datetime]:
    now = datetime.fromisoformat(time)
    return type(
        "Clock", (datetime,), {"now": classmethod(lambda _, tz=None: now.replace(tzinfo=tz))}
    )
