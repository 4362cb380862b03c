"""Adapter of Letta's agents and archival memory; run by serve.py."""

from __future__ import annotations

import runpy
from importlib.metadata import version
from pathlib import Path
from typing import Any

_SERVER = runpy.run_path(str(Path(__file__).with_name("letta_server.py")))["LettaServer"]
_IDS = "SELECT id FROM archival_passages"
_BLOCKS = "SELECT value FROM block WHERE value <> ''"
_SIZE = "SELECT pg_total_relation_size('archival_passages')"


class Adapter:
    """Stores one conversation in the archive of one agent, which reads it with `infer`."""

    library, version = "letta", version("letta")

    def __init__(self, options: dict[str, Any]) -> None:
        """`options`: base_url, key, model, embedder, dimensions, infer, settings."""
        self._infer = options["infer"]
        self.about: dict[str, dict[str, Any]] = {}
        self._server = _SERVER(options)

    def degraded(self) -> list[str]:
        """Return the features that are missing without a warning by the library."""
        missing = ["no keyword search: only the hosted Turbopuffer has it, so cosine alone ranks"]
        return missing if self._infer else [*missing, "no agent: its archival memory alone"]

    def add(self, item: dict[str, Any]) -> int:
        """Insert messages, or let the agent read an exchange; return the number of passages."""
        self._server.set_time(item["about"]["time"])
        if self._infer:
            self._server.say(item["text"])
        else:
            for message in item["messages"]:
                self._server.insert(message["text"])
        new = [one for one in self._server.select(_IDS) if one not in self.about]
        self.about |= dict.fromkeys(new, item["about"])
        return len(new)

    def search(self, query: str, k: int) -> list[dict[str, Any]]:
        """Return the k best passages, which have a rank and no score, and the agent's blocks."""
        passages = self._server.search(query, k)
        rows = [{"id": one.id, "text": one.text, "of": one.id} for one in passages]
        return rows + [{"id": one, "text": one} for one in self._server.select(_BLOCKS)]

    def delete(self, ids: list[str]) -> int | None:
        """Delete passages; None with an agent, whose messages contain them too."""
        if self._infer:
            return None
        return len([self._server.delete(name) for name in ids])

    def size(self) -> dict[str, int]:
        """Return the number of passages, and the bytes of their table with its indexes."""
        return {"memories": len(self.about), "bytes": self._server.select(_SIZE)[0]}

    def close(self) -> None:
        """Stop the database."""
        self._server.close()
