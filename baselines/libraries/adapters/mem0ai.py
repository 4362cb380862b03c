"""mem0ai 2: facts or messages in a faiss index. Runs in the library's own venv, by serve.py."""

from __future__ import annotations

import os
from datetime import datetime
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": "./mem0"}

from mem0 import Memory
from mem0.configs import prompts
from mem0.vector_stores.base import VectorStoreBase

_USER = "conversation"


class Adapter:
    """One conversation is one user of the library."""

    library, version = "mem0ai", version("mem0ai")

    def __init__(self, told: dict[str, Any]) -> None:
        """`told`: base_url, key, model, embedder, dimensions, infer, settings."""
        self._infer = told["infer"]
        server = {"api_key": told["key"], "openai_base_url": told["base_url"]}
        index = {"path": "./faiss", "collection_name": "memories"}
        index |= {"embedding_model_dims": told["dimensions"], "distance_strategy": "cosine"}
        embedder = {"model": told["embedder"], "embedding_dims": told["dimensions"], **server}
        self._memory = Memory.from_config(
            {
                "llm": {"provider": "openai", "config": {"model": told["model"], **server}},
                "embedder": {"provider": "openai", "config": embedder},
                "vector_store": {"provider": "faiss", "config": index},
                "history_db_path": "history.db",
                **told["settings"],
            }
        )

    def degraded(self) -> list[str]:
        """What the library leaves out without a word to whoever calls it."""
        found = []
        if type(self._memory.vector_store).keyword_search is VectorStoreBase.keyword_search:
            found.append("no keyword search: faiss has none, so the score is the cosine alone")
        if find_spec("spacy") is None:
            found.append("no entities and no lemmas: spaCy and en_core_web_sm are not installed")
        return found

    def add(self, item: dict[str, Any]) -> int:
        """One exchange, or one message as it is; how many memories that made."""
        said = [{"role": "user", "content": message["text"]} for message in item["messages"]]
        # The library's "today": relative dates would else be counted from the day of the run.
        prompts.datetime = _clock(item["about"]["time"])
        about = {**item["about"], "created_at": item["about"]["time"]}
        made = self._memory.add(said, user_id=_USER, infer=self._infer, metadata=about)
        return len(made["results"])

    def search(self, query: str, k: int) -> list[dict[str, Any]]:
        """The k best memories, each with what was kept with it; none for a blank query."""
        if not query.strip():
            return []
        found = self._memory.search(query, filters={"user_id": _USER}, top_k=k)["results"]
        return [{**one, **one["metadata"], "text": one["memory"]} for one in found]

    def size(self) -> dict[str, int]:
        """Memories, and the bytes of all files of the library's folder."""
        files = (path.stat().st_size for path in Path().rglob("*") if path.is_file())
        return {"memories": len(self._memory.vector_store.docstore), "bytes": sum(files)}


def _clock(time: str) -> type[datetime]:
    now = datetime.fromisoformat(time)
    return type(
        "Clock", (datetime,), {"now": classmethod(lambda _, tz=None: now.replace(tzinfo=tz))}
    )
