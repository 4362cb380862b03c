"""Adapter of cognee with its default stores (SQLite, LanceDB, Ladybug), without network, telemetry
or further processes; run by serve.py.
"""

from __future__ import annotations

import asyncio
import os
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

_PLACE = "conversation"
_FRAME = ("contains", "is_a")  # edges from chunks to entities, and to types of entities
_FOLDERS = {"SYSTEM_ROOT_DIRECTORY": "system", "DATA_ROOT_DIRECTORY": "data"}
_FOLDERS |= {"CACHE_ROOT_DIRECTORY": "cache", "COGNEE_LOGS_DIR": "logs"}
os.environ |= {name: str(Path(folder).resolve()) for name, folder in _FOLDERS.items()}
os.environ |= {"TELEMETRY_DISABLED": "1", "COGNEE_SKIP_CONNECTION_TEST": "true"}
os.environ |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "HF_HUB_OFFLINE": "1", "CACHING": "false"}
os.environ |= {"ENABLE_BACKEND_ACCESS_CONTROL": "false", "VECTOR_DB_SUBPROCESS_ENABLED": "false"}
os.environ |= {"GRAPH_DATABASE_SUBPROCESS_ENABLED": "false"}
# The encoding that tiktoken would download is part of this package.
_FOUND = find_spec("litellm")
_LITELLM = Path((_FOUND and _FOUND.origin) or "litellm").parent
os.environ["TIKTOKEN_CACHE_DIR"] = str(_LITELLM / "litellm_core_utils" / "tokenizers")


class Adapter:
    """Stores an exchange, or a message, as a document of one dataset."""

    library, version, on_disk = "cognee", version("cognee"), True

    def __init__(self, options: dict[str, Any]) -> None:
        """`options`: base_url, key, model, embedder, dimensions, infer, settings (environment)."""
        self._infer = options["infer"]
        self.about: dict[str, dict[str, Any]] = {}
        self._run = asyncio.new_event_loop().run_until_complete
        models = {"LLM": f"openai/{options['model']}", "EMBEDDING": options["embedder"]}
        for kind, model in models.items():
            os.environ |= {f"{kind}_MODEL": model, f"{kind}_ENDPOINT": options["base_url"]}
            os.environ[f"{kind}_API_KEY"] = options["key"]
        os.environ |= {"LLM_PROVIDER": "custom", "EMBEDDING_PROVIDER": "openai_compatible"}
        os.environ["EMBEDDING_DIMENSIONS"] = str(options["dimensions"])
        os.environ |= {name.upper(): str(value) for name, value in options["settings"].items()}
        # Imported now, as the library reads its settings from the environment.
        self._cognee = import_module("cognee")
        self._cognify = import_module("cognee.api.v1.cognify.cognify")
        self._retrieval = import_module("cognee.modules.retrieval.hybrid_retriever")
        self._items = import_module("cognee.tasks.ingestion.data_item")

    def degraded(self) -> list[str]:
        """Return the features that are missing without a warning by the library."""
        return [] if self._infer else ["no graph and no summaries: only a model writes them"]

    def add(self, item: dict[str, Any]) -> int:
        """Add an exchange, or a message unchanged, and process it; return 1, a document."""
        name = uuid4()
        self._run(self._add(self._items.DataItem(item["text"], data_id=name, literal_text=True)))
        self.about[str(name)] = item["about"]
        return 1

    async def _add(self, document: Any) -> None:
        self._dataset = (await self._cognee.add(document, dataset_name=_PLACE)).dataset_id
        if self._infer:
            await self._cognee.cognify(datasets=[_PLACE])
        else:
            tasks = [task for task in await self._cognify.get_default_tasks() if not task.needs_llm]
            only_new = {"incremental_loading": True, "data_cache": True}
            await self._cognee.run_custom_pipeline(tasks, dataset=_PLACE, **only_new)

    def search(self, query: str, k: int) -> list[dict[str, Any]]:
        """Return what the default search finds: the k best chunks, which have a rank, and the facts
        of the best entities, which have no turns.
        """
        retriever = self._retrieval.HybridRetriever(chunks_top_k=k)
        objects = self._run(retriever.get_retrieved_objects(query))
        rows = [
            {"id": str(chunk.id), "text": chunk.payload["text"], "of": chunk.payload["document_id"]}
            for chunk in objects["chunks"]
        ]
        edges = (edge for entity in objects["entities"] for edge in entity["edges"])
        facts = dict.fromkeys(edge["text"] for edge in edges if edge["relationship"] not in _FRAME)
        return rows + [{"id": fact, "text": fact} for fact in facts]

    def delete(self, ids: list[str]) -> int:
        """Delete documents; return their number."""
        for name in ids:
            self._run(self._cognee.datasets.delete_data(self._dataset, UUID(name)))
        return len(ids)

    def size(self) -> dict[str, int]:
        """Return the number of documents."""
        return {"memories": len(self.about)}
