"""Adapter of langmem's memory manager on langgraph's in-memory store, run by serve.py."""

from __future__ import annotations

import os
from importlib.metadata import version
from typing import Any
from uuid import uuid4

os.environ |= {"LANGSMITH_TRACING": "false", "LANGCHAIN_TRACING_V2": "false"}

from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from langgraph.store.memory import InMemoryStore
from langmem import create_memory_store_manager

_PLACE = ("memories",)


class Adapter:
    """Stores turns and times of the memories itself, as the library has no place for them."""

    library, version = "langmem", version("langmem")

    def __init__(self, options: dict[str, Any]) -> None:
        """`options`: base_url, key, model, embedder, dimensions, infer, settings."""
        server = {"api_key": options["key"], "base_url": options["base_url"], "max_retries": 0}
        embed = OpenAIEmbeddings(
            model=options["embedder"],
            check_embedding_ctx_length=False,  # or it sends the token numbers of another model
            **server,
        )
        index = {"dims": options["dimensions"], "embed": embed, "fields": ["content.content"]}
        self._store = InMemoryStore(index=index)
        self.about: dict[str, dict[str, Any]] = {}
        self._manager = None
        if options["infer"]:
            self._manager = create_memory_store_manager(
                ChatOpenAI(model=options["model"], **server),
                namespace=_PLACE,
                store=self._store,
                **options["settings"],
            )

    def degraded(self) -> list[str]:
        """Return the features that are missing without a warning by the library."""
        return [] if self._manager else ["no memory manager: the store of langgraph alone"]

    def add(self, item: dict[str, Any]) -> int:
        """Return how many memories are new."""
        before = len(self.about)
        if self._manager is None:
            for message in item["messages"]:
                value = {"kind": "Memory", "content": {"content": message["text"]}}
                self._store.put(_PLACE, key := str(uuid4()), value)
                self.about[key] = item["about"]
            return len(self.about) - before
        messages = [{"role": "user", "content": message["text"]} for message in item["messages"]]
        for put in self._manager.invoke({"messages": messages, "max_steps": 1}):
            old = self.about.get(put["key"], {"turns": []})["turns"]
            turns = [*old, *item["about"]["turns"]]
            self.about[put["key"]] = {**item["about"], "turns": turns}
        return len(self.about) - before

    def search(self, query: str, k: int) -> list[dict[str, Any]]:
        """Return the k best memories by cosine."""
        return [
            {"id": item.key, "text": item.value["content"]["content"]}
            | {"score": item.score, "of": item.key}
            for item in self._store.search(_PLACE, query=query, limit=k)
        ]

    def delete(self, ids: list[str]) -> int:
        """Delete memories; return their number."""
        return len([self._store.delete(_PLACE, key) for key in ids])

    def size(self) -> dict[str, int]:
        """Return the number of memories."""
        return {"memories": len(self._store.search(_PLACE, limit=10**6))}
