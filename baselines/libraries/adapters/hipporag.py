"""Adapter of HippoRAG 2: passages ranked by PageRank over a graph of triples; run by serve.py."""

from __future__ import annotations

import os
import runpy
from importlib.metadata import version
from pathlib import Path
from typing import Any

_LIBRARY = runpy.run_path(str(Path(__file__).with_name("hipporag_library.py")))["Library"]


class Adapter:
    """Stores each item as a passage; the passages of a session are indexed together."""

    library, version = "hipporag", version("hipporag")

    def __init__(self, options: dict[str, Any]) -> None:
        if not options["infer"]:
            raise ValueError("hipporag builds no graph without a model; use strategy.infer=true")
        os.environ["OPENAI_API_KEY"] = options["key"]
        names = {"llm_name": options["model"], "embedding_model_name": "text-embedding"}
        servers = dict.fromkeys(("llm_base_url", "embedding_base_url"), options["base_url"])
        own = {"save_dir": "hipporag", **options["settings"]}
        self._library = _LIBRARY({**names, **servers, **own})
        self.about, self._new = dict[str, dict[str, Any]](), list[str]()  # by text

    def degraded(self) -> list[str]:
        """Return the features that are missing without a warning by the library."""
        return [
            "no local models and no Bedrock: torch, transformers, vllm, gritlm, litellm and boto3 "
            "are not installed; NumPy finds the nearest entities in place of torch",
            "no instruction before an embedded query: the library has it for local models only",
        ]

    def add(self, item: dict[str, Any]) -> int:
        """Take a passage for `flush`; return 1, or 0 if its text is known."""
        text = item["text"]
        if text in self.about:
            self.about[text]["turns"] += item["about"]["turns"]
            return 0
        self.about[text] = item["about"]
        self._new.append(text)
        return 1

    def flush(self) -> None:
        """Index the new passages."""
        passages, self._new = self._new, []
        self._library.index(passages)

    def search(self, query: str, k: int) -> list[dict[str, Any]]:
        """Return the k best passages with the library's score."""
        rows = self._library.retrieve(query, k) if self.about else []
        return [{"id": text, "text": text, "score": s, "of": text} for text, s in rows]

    def delete(self, ids: list[str]) -> int:
        """Delete passages, and what only they state; return their number."""
        self._library.delete(ids)
        return len(ids)

    def size(self) -> dict[str, int]:
        """Return the numbers of passages, entities and edges."""
        passages, graph = len(self.about), self._library.rag.graph
        return {"passages": passages, "nodes": graph.vcount() - passages, "edges": graph.ecount()}
