"""Adapter of Letta's agents and archival memory on PostgreSQL, without HTTP; run by serve.py."""

from __future__ import annotations

import asyncio
import os
import runpy
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ |= {
    "LETTA_PG_URI": f"postgresql://postgres@/postgres?user=postgres&host={Path.cwd()}/postgres",
    "LETTA_DISABLE_SQLALCHEMY_POOLING": "true",
    "LETTA_DISABLE_TRACING": "true",
}

from letta.agents.agent_loop import AgentLoop
from letta.helpers import datetime_helpers
from letta.orm import Base
from letta.schemas.agent import CreateAgent
from letta.schemas.message import MessageCreate
from letta.schemas.run import Run
from letta.server.db import engine
from letta.server.server import SyncServer
from sqlalchemy import text

_DATABASE = runpy.run_path(str(Path(__file__).with_name("servers.py")))["PostgresServer"]
_NUMBERS = "CREATE SEQUENCE message_numbers"  # the package does not include its migrations
_NUMBERED = "ALTER TABLE messages ALTER sequence_id SET DEFAULT nextval('message_numbers')"
_IDS = "SELECT id FROM archival_passages"
_BLOCKS = "SELECT value FROM block WHERE value <> ''"
_SIZE = "SELECT pg_total_relation_size('archival_passages')"


class Adapter:
    """Stores one conversation in the archive of one agent, which reads it with `infer`."""

    library, version = "letta", version("letta")

    def __init__(self, options: dict[str, Any]) -> None:
        """`options`: base_url, key, model, embedder, dimensions, infer, settings (of the agent, as
        in Letta's API).
        """
        self._infer = options["infer"]
        self.about: dict[str, dict[str, Any]] = {}
        os.environ["OPENAI_API_KEY"] = options["key"]
        llm = {"model_endpoint_type": "openai", "model_endpoint": options["base_url"]}
        embedder = {"embedding_endpoint_type": "openai", "embedding_endpoint": options["base_url"]}
        embedder |= {"embedding_model": options["embedder"], "embedding_dim": options["dimensions"]}
        settings = {
            "agent_type": "letta_v1_agent",
            "llm_config": {"model": options["model"], "context_window": 32_000, **llm},
            "embedding_config": embedder,
            "memory_blocks": [{"label": "human", "value": ""}],
            "tools": ["archival_memory_insert", "archival_memory_search"],
            "timezone": "UTC",
        }
        self._run = asyncio.new_event_loop().run_until_complete
        self._database = _DATABASE()
        self._run(self._start({**settings, **options["settings"]}))

    async def _start(self, settings: dict[str, Any]) -> None:
        async with engine.begin() as connection:
            await connection.execute(text("CREATE EXTENSION vector"))
            await connection.run_sync(Base.metadata.create_all)
            await connection.execute(text(_NUMBERS))
            await connection.execute(text(_NUMBERED))
        server = SyncServer()
        await server.init_async()
        self._user, self._agents = server.default_user, server.agent_manager
        self._passages, self._runs = server.passage_manager, server.run_manager
        self._agent = await server.create_agent_async(CreateAgent(**settings), self._user)

    def degraded(self) -> list[str]:
        """Return the features that are missing without a warning by the library."""
        missing = ["no keyword search: only the hosted Turbopuffer has it, so cosine alone ranks"]
        return missing if self._infer else [*missing, "no agent: its archival memory alone"]

    def add(self, item: dict[str, Any]) -> int:
        """Insert messages, or let the agent read an exchange; return the number of passages. Raises
        RuntimeError if the agent fails.
        """
        # The agent's clock: or relative dates would be resolved from the day of the run.
        now = datetime.fromisoformat(item["about"]["time"])
        fixed = {"now": classmethod(lambda _, tz=None: now.replace(tzinfo=tz))}
        datetime_helpers.datetime = type("Clock", (datetime,), fixed)
        if self._infer:
            self._run(self._say(item["text"]))
        else:
            for message in item["messages"]:
                self._run(self._passages.insert_passage(self._agent, message["text"], self._user))
        new = [id_ for id_ in self._select(_IDS) if id_ not in self.about]
        self.about |= dict.fromkeys(new, item["about"])
        return len(new)

    async def _say(self, words: str) -> None:
        loop = AgentLoop.load(
            await self._agents.get_agent_by_id_async(self._agent.id, self._user), self._user
        )
        run = await self._runs.create_run(Run(agent_id=self._agent.id), self._user)
        reply = await loop.step([MessageCreate(role="user", content=words)], run_id=run.id)
        if (why := reply.stop_reason.stop_reason.value) not in ("end_turn", "max_steps"):
            raise RuntimeError(f"the agent ended with {why}")

    def search(self, query: str, k: int) -> list[dict[str, Any]]:
        """Return the k best passages, which have a rank and no score, and the agent's blocks."""
        asked = {"actor": self._user, "agent_id": self._agent.id, "query_text": query, "limit": k}
        asked |= {"embed_query": True, "embedding_config": self._agent.embedding_config}
        passages = self._run(self._agents.query_agent_passages_async(**asked))
        rows = [{"id": row.id, "text": row.text, "of": row.id} for row, *_ in passages]
        return rows + [{"id": block, "text": block} for block in self._select(_BLOCKS)]

    def delete(self, ids: list[str]) -> int | None:
        """Delete passages; None with an agent, whose messages contain them too."""
        if self._infer:
            return None
        for name in ids:
            self._run(self._passages.delete_agent_passage_by_id_async(name, self._user))
        return len(ids)

    def size(self) -> dict[str, int]:
        """Return the number of passages, and the bytes of their table with its indexes."""
        return {"memories": len(self.about), "bytes": self._select(_SIZE)[0]}

    def _select(self, sql: str) -> list[Any]:
        """Return the first column of a query to the database."""

        async def ask() -> list[Any]:
            async with engine.connect() as connection:
                return list((await connection.execute(text(sql))).scalars())

        return self._run(ask())

    def close(self) -> None:
        """Stop the database."""
        self._database.close()
