"""Serve the class `Adapter` of a script by lines of JSON, in a library's venv.

It is started as `python serve.py ADAPTER`. Nothing of memsys is imported. Only loopback is
reachable: other addresses are refused, and listed in the next reply as `blocked`. Warnings logged
by the library are listed as `warnings`. docs/libraries.md lists the members of an adapter.
"""

import json
import logging
import os
import random
import runpy
import sys
import uuid
from pathlib import Path
from typing import Any

_LOOPBACK = ("127.", "localhost", "::1", "0.0.0.0")  # noqa: S104 - compared with, not bound
_WATCHED = ("socket.connect", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname")
_blocked: set[str] = set()


class _Warnings(logging.Handler):
    """Collects log messages, each once, without line numbers or times."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.words: dict[str, None] = {}

    def emit(self, record: logging.LogRecord) -> None:
        self.words[f"{record.name}: {record.getMessage()}"[:300]] = None

    def take(self) -> list[str]:
        words, self.words = list(self.words), {}
        return words


def _guard(event: str, arguments: tuple[Any, ...]) -> None:
    """Audit hook that refuses any address but loopback."""
    if event not in _WATCHED:
        return
    asked = arguments[1] if event in ("socket.connect", "socket.sendto") else arguments[0]
    host = asked[0] if isinstance(asked, tuple) and asked else asked
    host = host.decode(errors="replace") if isinstance(host, bytes) else host
    if isinstance(host, str) and host and not host.startswith(("/", *_LOOPBACK)):
        _blocked.add(host)
        raise ConnectionRefusedError(f"{host}: only loopback is reachable from here")


def main() -> None:
    """Reply to each line on stdin, until it ends."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of a library must not mix with replies
    sys.addaudithook(_guard)
    del sys.path[0]  # this folder: an adapter must not hide the library of its name
    # Random ids are part of prompts: a recording would never be found again.
    generator = random.Random(0)  # noqa: S311 - no secret
    uuid.uuid4 = lambda: uuid.UUID(int=generator.getrandbits(128), version=4)
    warnings = _Warnings()
    logging.getLogger().addHandler(warnings)
    library: _Library | None = None
    try:
        for line in sys.stdin.buffer:
            asked = json.loads(line)
            reply: dict[str, Any] = {"id": asked["id"]}
            try:
                if library is None:
                    library = _Library(runpy.run_path(sys.argv[1])["Adapter"](asked))
                    names = {
                        name: getattr(library.adapter, name) for name in ("library", "version")
                    }
                    missing: list[str] = getattr(library.adapter, "degraded", list)()
                    reply |= {**names, "degraded": missing}
                else:
                    reply |= library.answer(asked)
            except Exception as error:
                reply["error"] = f"{type(error).__name__}: {error}"
            reply |= {"warnings": warnings.take(), "blocked": sorted(_blocked)}
            out.write(json.dumps(reply).encode() + b"\n")
            out.flush()
    finally:  # also if no process reads the replies
        if library is not None and hasattr(library.adapter, "close"):
            library.adapter.close()


class _Library:
    """An adapter, with what all adapters have in common."""

    def __init__(self, adapter: Any) -> None:
        self.adapter, self._last = adapter, ""

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a request. Raises what the library raises."""
        match asked["op"]:
            case "add":
                count = sum(map(self._add, asked["items"]))
                if hasattr(self.adapter, "flush"):
                    self.adapter.flush()
                return {"made": count}
            case "search":  # some libraries refuse a blank query
                rows = (
                    self.adapter.search(asked["query"], asked["k"])
                    if asked["query"].strip()
                    else []
                )
                return {"found": [self._row(rank, row) for rank, row in enumerate(rows, 1)]}
            case "forget":
                can = hasattr(self.adapter, "delete")
                return {"deleted": self._forget(set(asked["turns"])) if can else None}
        files = (path.stat().st_size for path in Path().rglob("*") if path.is_file())
        on_disk = getattr(self.adapter, "on_disk", False)
        return {"size": self.adapter.size() | ({"bytes": sum(files)} if on_disk else {})}

    def _add(self, item: dict[str, Any]) -> int:
        self._last = item["about"]["time"]
        text = "\n".join(message["text"] for message in item["messages"])
        count: int = self.adapter.add({**item, "text": text})
        return count

    def _row(self, rank: int, row: dict[str, Any]) -> dict[str, Any]:
        """Add the metadata of the memory `of`, or of a row without turns, which was not ranked."""
        if "of" in row:
            return {"score": 1 / rank, **row, **self.adapter.about[row["of"]]}
        bare = {"score": 0.0, "turns": [], "time": self._last, "origin": "expanded"}
        return row if "turns" in row else {**bare, **row}

    def _forget(self, turns: set[str]) -> int | None:
        about = self.adapter.about
        gone = [name for name, metadata in about.items() if turns.intersection(metadata["turns"])]
        deleted: int | None = self.adapter.delete(gone)
        for name in gone if deleted is not None else ():
            del about[name]
        return deleted


if __name__ == "__main__":
    main()
