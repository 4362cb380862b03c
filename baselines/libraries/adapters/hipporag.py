"""Adapter of HippoRAG 2: passages ranked by PageRank over a graph of triples; run by serve.py.

The package imports all of its back ends. Those of local models and of Bedrock are not installed:
their modules are empty here. The one use of torch by a hosted model is the search for the nearest
entities, `retrieve_knn`; it is computed by NumPy.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import numpy as np

_ABSENT = ("torch", "torch.cuda", "transformers", "vllm", "gritlm", "litellm", "boto3", "botocore")


def retrieve_knn(
    query_ids: list[str], key_ids: list[str], query_vecs: Any, key_vecs: Any, k: int, **_: int
) -> dict[str, tuple[list[str], list[float]]]:
    """Return the `k` nearest keys of each query, best first, and their cosines."""
    if len(key_vecs) == 0:
        return {}
    both = (np.asarray(vectors, np.float32) for vectors in (query_vecs, key_vecs))
    queries, keys = (v / np.linalg.norm(v, axis=1, keepdims=True).clip(1e-12) for v in both)
    cosines = queries @ keys.T
    best = np.argsort(-cosines, axis=1, kind="stable")[:, :k]
    zipped = zip(query_ids, best, cosines, strict=True)
    return {name: ([key_ids[i] for i in row], scores[row].tolist()) for name, row, scores in zipped}


for _name in (*_ABSENT, "botocore.exceptions"):
    sys.modules[_name] = MagicMock(Tensor=type("Tensor", (), {}))
_MODULE: Any = import_module("hipporag.HippoRAG")
_MODULE.retrieve_knn = retrieve_knn


class Library:
    """HippoRAG that raises RuntimeError for a call of the model without a reply; it would go on
    with passages without triples, or rank by vectors alone.
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        """`settings`: those of BaseConfig."""
        config = _MODULE.BaseConfig(**settings, force_index_from_scratch=True)
        self.rag = _MODULE.HippoRAG(config)
        self._infer, self._fault = self.rag.llm_model.infer, ""
        self.rag.llm_model.infer = self.rag.rerank_filter.llm_infer_fn = self._ask

    def index(self, passages: list[str]) -> None:
        """Add passages and build the graph of all: the library would add the edges between the
        entities of former passages once more, and search the former vectors.
        """
        self.rag.graph, self.rag.ready_to_retrieve = self.rag.initialize_graph(), False
        self._checked_result(lambda: self.rag.index(passages))

    def delete(self, passages: list[str]) -> None:
        """Delete passages and what only they state, and build the graph of the others."""
        self.rag.delete(passages)
        if not self.rag.chunk_embedding_store.get_all_ids():
            Path(self.rag.openie_results_path).unlink(missing_ok=True)  # it would not be emptied
        self.index([])

    def retrieve(self, query: str, k: int) -> list[tuple[str, float]]:
        """Return the texts of the `k` best passages and their scores."""
        (solution,) = self._checked_result(lambda: self.rag.retrieve([query], num_to_retrieve=k))
        return list(zip(solution.docs, solution.doc_scores.tolist(), strict=True))

    def _ask(self, *arguments: Any, **options: Any) -> Any:
        try:
            return self._infer(*arguments, **options)
        except Exception as error:
            self._fault = f"{error.__cause__ or error}"
            raise

    def _checked_result(self, call: Callable[[], Any]) -> Any:
        self._fault = ""
        result = call()
        if self._fault:
            raise RuntimeError(self._fault)
        return result


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
        self._library = Library({**names, **servers, **own})
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
