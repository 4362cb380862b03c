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

    library, version = "cognee", version("cognee")

    def __init__(self, options: dict[str, Any]) -> None:
        """`options`: base_url, key, model, embedder, dimensions, infer, settings (environment)."""
        self._infer, self._last = options["infer"], ""
        self._about: dict[str, dict[str, Any]] = {}
        self._run = asyncio.new_event_loop().run_until_complete
        self._library = _LIBRARY(options)

    def degraded(self) -> list[str]:
        """Return the features that are missing without a warning by the library."""
        return [] if self._infer else ["no graph and no summaries: only a model writes them"]

    def add(self, item: dict[str, Any]) -> int:
        """Add an exchange, or a message unchanged, and process it; return 1, a document."""
        self._last, name = item["about"]["time"], uuid4()
        said = "\n".join(message["text"] for message in item["messages"])
        self._run(self._add(self._library.DataItem(said, data_id=name, literal_text=True)))
        self._about[str(name)] = item["about"]
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
        if not query.strip():
            return []
        retriever = self._library.HybridRetriever(chunks_top_k=k)
        found = self._run(retriever.get_retrieved_objects(query))
        rows = [
            {"id": str(one.id), "text": one.payload["text"], "score": 1 / rank}
            | self._about[one.payload["document_id"]]
            for rank, one in enumerate(found["chunks"], 1)
        ]
        bare = {"score": 0.0, "turns": [], "time": self._last, "origin": "expanded"}
        edges = (one for entity in found["entities"] for one in entity["edges"])
        facts = dict.fromkeys(one["text"] for one in edges if one["relationship"] not in _FRAME)
        return rows + [{"id": one, "text": one, **bare} for one in facts]

    def forget(self, turns: set[str]) -> int:
        """Delete the documents among whose turns is one of `turns`; return their number."""
        gone = [name for name, one in self._about.items() if turns.intersection(one["turns"])]
        for name in gone:
            self._run(self._library.cognee.datasets.delete_data(self._dataset, UUID(name)))
            del self._about[name]
        return len(gone)

    def size(self) -> dict[str, int]:
        """Return the number of documents, and the bytes of all files of the library."""
        files = (path.stat().st_size for path in Path().rglob("*") if path.is_file())
        return {"memories": len(self._about), "bytes": sum(files)}
