"""Adapter of graphiti-core with a FalkorDB server; serve.py runs it in the library's venv."""

from __future__ import annotations

import asyncio
import os
import runpy
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ["GRAPHITI_TELEMETRY_ENABLED"] = "false"

from graphiti_core import Graphiti
from graphiti_core.driver.falkordb_driver import FalkorDriver
from graphiti_core.embedder.openai import OpenAIEmbedder, OpenAIEmbedderConfig
from graphiti_core.llm_client.config import LLMConfig
from graphiti_core.llm_client.openai_generic_client import OpenAIGenericClient
from graphiti_core.search.search_config_recipes import EDGE_HYBRID_SEARCH_RRF as DEFAULT

_SERVER = runpy.run_path(str(Path(__file__).with_name("servers.py")))["FalkorDBServer"]


class Adapter:
    """Stores an exchange as an episode; returns facts by the library's default search."""

    library, version = "graphiti-core", version("graphiti-core")

    def __init__(self, options: dict[str, Any]) -> None:
        if not options["infer"]:
            raise ValueError("graphiti stores nothing without a model; use strategy.infer=true")
        self._run = asyncio.new_event_loop().run_until_complete
        self.about: dict[str, dict[str, Any]] = {}  # by episode, in order
        self._server = _SERVER(options["key"])
        os.environ |= {"OPENAI_API_KEY": options["key"], "OPENAI_BASE_URL": options["base_url"]}
        config = LLMConfig(model=options["model"], small_model=options["model"])
        model = {"embedding_model": options["embedder"], "embedding_dim": options["dimensions"]}
        self._driver = FalkorDriver("127.0.0.1", self._server.port, password=options["key"])
        self._graph = Graphiti(
            graph_driver=self._driver,
            llm_client=OpenAIGenericClient(config, **options["settings"]),
            embedder=OpenAIEmbedder(OpenAIEmbedderConfig(**model)),
        )
        self._run(self._graph.build_indices_and_constraints())

    def add(self, item: dict[str, Any]) -> int:
        """Return how many facts are new or changed."""
        at = datetime.fromisoformat(item["about"]["time"]).replace(tzinfo=UTC)
        name, text = item["about"]["turns"][0], item["text"]
        result = self._run(self._graph.add_episode(name, text, "chat", at))
        self.about[result.episode.uuid] = item["about"]
        return len(result.edges)

    def search(self, query: str, k: int) -> list[dict[str, Any]]:
        """Return the k best facts, with the turns of their episodes and the time of the first."""
        results = self._run(self._graph.search_(query, DEFAULT.model_copy(update={"limit": k})))
        return [*map(self._row, results.edges, results.edge_reranker_scores)]

    def _row(self, edge: Any, score: float) -> dict[str, Any]:
        items = [self.about[uuid] for uuid in edge.episodes if uuid in self.about]
        turns = [turn for item in items for turn in item["turns"]]
        until = f" (until {edge.invalid_at:%d %B %Y})" if edge.invalid_at else ""
        row = {"id": edge.uuid, "text": edge.fact + until, "score": score, "turns": turns}
        return row | {"time": min(item["time"] for item in items)}

    def delete(self, ids: list[str]) -> int:
        """Delete episodes; return how many facts the library deletes."""
        before = self.size()["edges"]
        for uuid in ids:
            self._run(self._graph.remove_episode(uuid))
        return before - self.size()["edges"]

    def size(self) -> dict[str, int]:
        """Return the numbers of entities (nodes) and facts (edges)."""
        nodes = "MATCH (n:Entity) RETURN count(n) AS nodes"
        edges = "MATCH ()-[e:RELATES_TO]->() RETURN count(e) AS edges"
        rows = [self._run(self._driver.execute_query(query))[0][0] for query in (nodes, edges)]
        return {**rows[0], **rows[1]}

    def close(self) -> None:
        """Stop the server."""
        self._server.close()
