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
        self._infer, self._last = options["infer"], ""
        self._about: dict[str, dict[str, Any]] = {}
        self._server = _SERVER(options)

    def degraded(self) -> list[str]:
        """Return the features that are missing without a warning by the library."""
        missing = ["no keyword search: only the hosted Turbopuffer has it, so cosine alone ranks"]
        return missing if self._infer else [*missing, "no agent: its archival memory alone"]

    def add(self, item: dict[str, Any]) -> int:
        """Insert messages, or let the agent read an exchange; return the number of passages."""
        self._last = item["about"]["time"]
        self._server.set_time(self._last)
        said = [message["text"] for message in item["messages"]]
        if self._infer:
            self._server.say("\n".join(said))
        else:
            for one in said:
                self._server.insert(one)
        new = [one for one in self._server.select(_IDS) if one not in self._about]
        self._about |= dict.fromkeys(new, item["about"])
        return len(new)

    def search(self, query: str, k: int) -> list[dict[str, Any]]:
        """Return the k best passages, which have a rank and no score, and the agent's blocks."""
        if not query.strip():
            return []
        rows = [
            {"id": one.id, "text": one.text, "score": 1 / rank, **self._about[one.id]}
            for rank, one in enumerate(self._server.search(query, k), 1)
        ]
        bare = {"score": 0.0, "turns": [], "time": self._last, "origin": "expanded"}
        return rows + [{"id": one, "text": one, **bare} for one in self._server.select(_BLOCKS)]

    def forget(self, turns: set[str]) -> int | None:
        """Delete the passages of `turns`; None with an agent, whose messages contain them too."""
        if self._infer:
            return None
        gone = [name for name, one in self._about.items() if turns.intersection(one["turns"])]
        for name in gone:
            self._server.delete(name)
            del self._about[name]
        return len(gone)

    def size(self) -> dict[str, int]:
        """Return the number of passages, and the bytes of their table with its indexes."""
        return {"memories": len(self._about), "bytes": self._server.select(_SIZE)[0]}

    def close(self) -> None:
        """Stop the database."""
        self._server.close()
