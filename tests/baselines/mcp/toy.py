"""A toy memory server over the official library: good, or with one fault (`python toy.py KIND`)."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

SHARED: list[dict[str, Any]] = []  # what all toys of the kind `elsewhere` write to


class Toy:
    """`owned` takes a user_id; `mixing` does too, but ignores it. The others are for one owner:
    `plain`, `elsewhere` (all of them have one store), `silent` (finds nothing), `ambiguous`,
    `lying` (its search is plain, and its tool that deletes does nothing).
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.rows: list[dict[str, Any]] = SHARED if kind == "elsewhere" else []
        self.server = MCPServer("toy", version="1.2")
        tools = [self.add_memory, self.search_memory, self.delete_memory]
        if kind not in {"owned", "mixing"}:
            tools = [self.remember, self.recall]
        if kind == "lying":
            tools = [self.insert, self.recall, self.remove]
        if kind == "ambiguous":
            tools.append(self.store)
        for tool in tools:
            self.server.add_tool(tool)

    async def add_memory(self, text: str, user_id: str, metadata: dict[str, Any]) -> dict[str, Any]:
        return self._store({"text": text, "user": user_id, "metadata": metadata})

    async def search_memory(self, query: str, user_id: str, limit: int = 3) -> dict[str, Any]:
        rows = self._found(query, limit)
        if self.kind == "owned":
            rows = [row for row in rows if row["user"] == user_id]
        return {"results": rows}

    async def delete_memory(self, memory_id: str, user_id: str) -> str:
        self.rows[:] = [r for r in self.rows if (r["id"], r["user"]) != (memory_id, user_id)]
        return "deleted"

    async def remember(self, content: str) -> str:
        await _misbehave(content)
        return f"stored as {self._store({'text': content})['id']}"

    async def recall(self, query: str, max_results: int = 3) -> str:
        await _misbehave(query)
        rows = [] if self.kind == "silent" else self._found(query, max_results)
        if not rows:
            return f"No memories found for '{query}'"
        return "\n".join(f"{i}. {row['text']}\n   id {row['id']}" for i, row in enumerate(rows, 1))

    async def insert(self, content: str) -> dict[str, Any]:
        return {**self._store({"text": content}), "text": content}

    async def remove(self, memory_id: str) -> str:
        return f"deleted {memory_id}"

    async def store(self, content: str) -> str:
        return content

    def _store(self, row: dict[str, Any]) -> dict[str, Any]:
        row["id"] = f"m{len(self.rows)}"
        self.rows.append(row)
        return {"id": row["id"]}

    def _found(self, query: str, limit: int) -> list[dict[str, Any]]:
        words = set(query.lower().split())
        scored = [
            {**row, "score": len(words & set(row["text"].lower().split()))} for row in self.rows
        ]
        fit = [row for row in scored if row["score"]]
        return sorted(fit, key=lambda row: -row["score"])[:limit]


async def _misbehave(text: str) -> None:
    if "hang" in text:
        await asyncio.sleep(600)
    if "crash" in text:
        print("the toy is broken", file=sys.stderr, flush=True)
        os._exit(3)
    if "refuse" in text:
        raise ToolError("the toy refuses this")
    if "twin" in text:
        raise ToolError("this already exists")


if __name__ == "__main__":
    if pids := os.environ.get("TOY_PIDS"):
        with Path(pids).open("a", encoding="utf-8") as out:
            out.write(f"{os.getpid()}\n")
    Toy(sys.argv[1]).server.run("stdio")
