"""Letta's server and one agent on PostgreSQL, in this process and without HTTP, for letta.py."""

from __future__ import annotations

import asyncio
import os
import runpy
from datetime import datetime
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


class LettaServer:
    """Serves from construction until `close`. `settings`: of the agent, as in Letta's API."""

    def __init__(self, options: dict[str, Any]) -> None:
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

    def set_time(self, time: str) -> None:
        """Set the agent's clock: or relative dates would be resolved from the day of the run."""
        now = datetime.fromisoformat(time)
        fixed = {"now": classmethod(lambda _, tz=None: now.replace(tzinfo=tz))}
        datetime_helpers.datetime = type("Clock", (datetime,), fixed)

    def say(self, words: str) -> None:
        """Let the agent read a message. Raises RuntimeError if it fails."""
        self._run(self._say(words))

    async def _say(self, words: str) -> None:
        loop = AgentLoop.load(
            await self._agents.get_agent_by_id_async(self._agent.id, self._user), self._user
        )
        run = await self._runs.create_run(Run(agent_id=self._agent.id), self._user)
        reply = await loop.step([MessageCreate(role="user", content=words)], run_id=run.id)
        if (why := reply.stop_reason.stop_reason.value) not in ("end_turn", "max_steps"):
            raise RuntimeError(f"the agent ended with {why}")

    def insert(self, words: str) -> None:
        """Insert a passage into the agent's archival memory."""
        self._run(self._passages.insert_passage(self._agent, words, self._user))

    def delete(self, name: str) -> None:
        """Delete the passage with the id `name`."""
        self._run(self._passages.delete_agent_passage_by_id_async(name, self._user))

    def search(self, query: str, k: int) -> list[Any]:
        """Return the k best passages of the agent's archival memory, best first."""
        asked = {"actor": self._user, "agent_id": self._agent.id, "query_text": query, "limit": k}
        asked |= {"embed_query": True, "embedding_config": self._agent.embedding_config}
        return [one for one, *_ in self._run(self._agents.query_agent_passages_async(**asked))]

    def select(self, sql: str) -> list[Any]:
        """Return the first column of a query to the database."""
        return self._run(self._select(sql))

    async def _select(self, sql: str) -> list[Any]:
        async with engine.connect() as connection:
            return list((await connection.execute(text(sql))).scalars())

    def close(self) -> None:
        """Stop the database."""
        self._database.close()
