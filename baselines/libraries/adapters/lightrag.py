"""Adapter of LightRAG with its default stores of files; run by serve.py."""

import asyncio
import re
from functools import partial
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any

from lightrag import LightRAG, QueryParam
from lightrag.llm.openai import openai_complete_if_cache, openai_embed
from lightrag.utils import EmbeddingFunc, Tokenizer

# A token, as the library's own tokenizer would download a file.
_FOUR_CHARACTERS = SimpleNamespace(encode=re.compile(r"(?s).{1,4}").findall, decode="".join)


class Adapter:
    """Stores each item as a document; returns passages, then entities and relations."""

    library, version = "lightrag-hku", version("lightrag-hku")

    def __init__(self, options: dict[str, Any]) -> None:
        self._mode, self._steps = ("mix", "") if options["infer"] else ("naive", "!")  # !: no graph
        self.about = dict[str, dict[str, Any]]()  # by document
        server = {"base_url": options["base_url"], "api_key": options["key"]}
        chat = partial(openai_complete_if_cache, options["model"], **server)
        embed = EmbeddingFunc(options["dimensions"], partial(openai_embed.func, **server))
        tokens = Tokenizer("four characters", _FOUR_CHARACTERS)
        models = {"tokenizer": tokens, "llm_model_func": chat, "embedding_func": embed}
        self._rag = LightRAG(**models, **options["settings"])
        self._run = asyncio.new_event_loop().run_until_complete
        self._run(self._rag.initialize_storages())

    def degraded(self) -> list[str]:
        """Return the features that are missing without a warning by the library."""
        missing = ["no reranker: it is a further model", "a token is counted as four characters"]
        return [*missing, "no graph: only a model writes it"] if self._steps else missing

    def add(self, item: dict[str, Any]) -> int:
        """Add a document; return 1, or 0 if its text is known. Raises RuntimeError if it fails."""
        text = item["text"]
        if document := next((row for row in self.about.values() if row["said"] == text), None):
            document["turns"] += item["about"]["turns"]
            return 0
        name, rag = f"{item['about']['turns'][0]}.txt", self._rag
        self._run(rag.apipeline_enqueue_documents(text, name, name, process_options=self._steps))
        self._run(rag.apipeline_process_enqueue_documents())
        if (state := self._run(rag.doc_status.get_by_id(name)))["status"] != "processed":
            raise RuntimeError(f"{name}: {state['status']}; {state.get('error_msg')}")
        self.about[name] = {**item["about"], "said": text}
        return 1

    def search(self, query: str, k: int) -> list[dict[str, Any]]:
        """Return k passages in order, then k entities and k relations, which have no turns."""
        how = QueryParam(self._mode, top_k=k, chunk_top_k=k, enable_rerank=False)
        data = self._run(self._rag.aquery_data(query, how)).get("data", {})
        rows = [
            {"id": chunk["chunk_id"], "text": chunk["content"], "of": chunk["file_path"]}
            for chunk in data.get("chunks", ())
        ]
        for entry in [*data.get("entities", ()), *data.get("relationships", ())]:
            name = entry.get("entity_name") or f"{entry['src_id']} -- {entry['tgt_id']}"
            rows.append({"id": name, "text": f"{name}: {entry['description']}"})
        return rows

    def delete(self, ids: list[str]) -> int:
        """Delete documents; return their number. Raises RuntimeError if the library fails."""
        for name in ids:
            done = self._run(self._rag.adelete_by_doc_id(name, delete_llm_cache=True))
            if done.status != "success":
                raise RuntimeError(f"{name}: {done.message}")
        return len(ids)

    def size(self) -> dict[str, int]:
        """Return the numbers of documents, entities and relations."""
        graph = self._run(self._rag.chunk_entity_relation_graph._get_graph())
        return {"documents": len(self.about), "nodes": len(graph), "edges": graph.size()}
