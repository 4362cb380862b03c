"""Adapter of cognee with its default stores: SQLite, LanceDB, Ladybug; run by serve.py."""

from __future__ import annotations

import asyncio
import runpy
from importlib.metadata import version
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

_LIBRARY = runpy.run_path(str(Path(__file__).with_name("cognee_library.py")))["opened"]
_PLACE = "conversation"
_FRAME = ("contains", "is_a")  # edges from chunks to entities, and to types of entities


class Adapter:
    """Stores an exchange, or a message, as a document of one dataset."""

    library, version, on_disk = "cognee", version("cognee"), True

    def __init__(self, options: dict[str, Any]) -> None:
        """`options`: base_url, key, model, embedder, dimensions, infer, settings (environment)."""
        self._infer = options["infer"]
        self.about: dict[str, dict[str, Any]] = {}
        self._run = asyncio.new_event_loop().run_until_complete
        self._library = _LIBRARY(options)

    def degraded(self) -> list[str]:
        """Return the features that are missing without a warning by the library."""
        return [] if self._infer else ["no graph and no summaries: only a model writes them"]

    def add(self, item: dict[str, Any]) -> int:
        """Add an exchange, or a message unchanged, and process it; return 1, a document."""
        name = uuid4()
        self._run(self._add(self._library.DataItem(item["text"], data_id=name, literal_text=True)))
        self.about[str(name)] = item["about"]
        return 1

    async def _add(self, document: Any) -> None:
        self._dataset = (await self._library.cognee.add(document, dataset_name=_PLACE)).dataset_id
        if self._infer:
            await self._library.cognee.cognify(datasets=[_PLACE])
        else:
            tasks = [one for one in await self._library.get_default_tasks() if not one.needs_llm]
            only_new = {"incremental_loading": True, "data_cache": True}
            await self._library.cognee.run_custom_pipeline(tasks, dataset=_PLACE, **only_new)

    def search(self, query: str, k: int) -> list[dict[str, Any]]:
        """Return what the default search finds: the k best chunks, which have a rank, and the facts
        of the best entities, which have no turns.
        """
        retriever = self._library.HybridRetriever(chunks_top_k=k)
        found = self._run(retriever.get_retrieved_objects(query))
        rows = [
            {"id": str(one.id), "text": one.payload["text"], "of": one.payload["document_id"]}
            for one in found["chunks"]
        ]
        edges = (one for entity in found["entities"] for one in entity["edges"])
        facts = dict.fromkeys(one["text"] for one in edges if one["relationship"] not in _FRAME)
        return rows + [{"id": one, "text": one} for one in facts]

    def delete(self, ids: list[str]) -> int:
        """Delete documents; return their number."""
        for name in ids:
            self._run(self._library.cognee.datasets.delete_data(self._dataset, UUID(name)))
        return len(ids)

    def size(self) -> dict[str, int]:
        """Return the number of documents."""
        return {"memories": len(self.about)}
