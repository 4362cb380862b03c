"""graphiti-core on a FalkorDB of its own. Runs in the library's own venv, by serve.py."""

from __future__ import annotations

import asyncio
import os
import runpy
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

os.environ["GRAPHITI_TELEMETRY_ENABLED"] = "false"

from graphiti_core import Graphiti
from graphiti_core.driver.falkordb_driver import FalkorDriver
from graphiti_core.embedder.openai import OpenAIEmbedder, OpenAIEmbedderConfig
from graphiti_core.llm_client.config import LLMConfig
from graphiti_core.llm_client.openai_generic_client import OpenAIGenericClient
from graphiti_core.search.search_config_recipes import EDGE_HYBRID_SEARCH_RRF as DEFAULT

_SERVER = runpy.run_path(__file__.replace("graphiti", "falkordb_server"))["FalkorDBServer"]


class Adapter:
    """An exchange is an episode; what is found are facts, by the library's default search."""

    library, version = "graphiti-core", version("graphiti-core")

    def __init__(self, told: dict[str, Any]) -> None:
        if not told["infer"]:
            raise ValueError("graphiti keeps nothing without a model; use strategy.infer=true")
        self._run = asyncio.new_event_loop().run_until_complete
        self._episodes: dict[str, dict[str, Any]] = {}  # in order
        self._server = _SERVER(told["key"])
        os.environ |= {"OPENAI_API_KEY": told["key"], "OPENAI_BASE_URL": told["base_url"]}
        config = LLMConfig(model=told["model"], small_model=told["model"])
        model = {"embedding_model": told["embedder"], "embedding_dim": told["dimensions"]}
        self._driver = FalkorDriver("127.0.0.1", self._server.port, password=told["key"])
        self._graph = Graphiti(
            graph_driver=self._driver,
            llm_client=OpenAIGenericClient(config, **told["settings"]),
            embedder=OpenAIEmbedder(OpenAIEmbedderConfig(**model)),
        )
        self._run(self._graph.build_indices_and_constraints())

    def degraded(self) -> list[str]:
        """Nothing: communities and a cross-encoder are no defaults of the library."""
        return []

    def add(self, item: dict[str, Any]) -> int:
        """How many facts are new or changed."""
        said = "\n".join(message["text"] for message in item["messages"])
        at = datetime.fromisoformat(item["about"]["time"]).replace(tzinfo=UTC)
        made = self._run(self._graph.add_episode(item["about"]["turns"][0], said, "chat", at))
        self._episodes[made.episode.uuid] = item["about"]
        return len(made.edges)

    def search(self, query: str, k: int) -> list[dict[str, Any]]:
        """The k best facts, each of the turns of its episodes and the time of the first."""
        found = self._run(self._graph.search_(query, DEFAULT.model_copy(update={"limit": k})))
        return [*map(self._told, found.edges, found.edge_reranker_scores)]

    def _told(self, edge: Any, score: float) -> dict[str, Any]:
        items = [self._episodes[uuid] for uuid in edge.episodes]
        turns = [turn for item in items for turn in item["turns"]]
        until = f" (until {edge.invalid_at:%d %B %Y})" if edge.invalid_at else ""
        row = {"id": edge.uuid, "text": edge.fact + until, "score": score, "turns": turns}
        return row | {"time": min(item["time"] for item in items)}

    def size(self) -> dict[str, int]:
        """Entities are nodes, facts are edges."""
        nodes = "MATCH (n:Entity) RETURN count(n) AS nodes"
        edges = "MATCH ()-[e:RELATES_TO]->() RETURN count(e) AS edges"
        rows = [self._run(self._driver.execute_query(one))[0][0] for one in (nodes, edges)]
        return {**rows[0], **rows[1]}

    def close(self) -> None:
        """Stop the server."""
        self._server.close()
