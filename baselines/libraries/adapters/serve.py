"""Serve the class `Adapter` of a script by lines of JSON, in a library's venv.

It is started as `python serve.py ADAPTER`. Nothing of memsys is imported. Only loopback is
reachable: other addresses are refused, and listed in the next reply as `blocked`. Warnings logged
by the library are listed as `warnings`.
"""

from __future__ import annotations

import json
import logging
import os
import random
import runpy
import sys
import uuid
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
    adapter: Any = None
    try:
        for line in sys.stdin.buffer:
            asked = json.loads(line)
            reply: dict[str, Any] = {"id": asked["id"]}
            try:
                if adapter is None:
                    adapter = runpy.run_path(sys.argv[1])["Adapter"](asked)
                    reply |= {name: getattr(adapter, name) for name in ("library", "version")}
                    reply["degraded"] = adapter.degraded()
                else:
                    reply |= _answer(adapter, asked)
            except Exception as error:
                reply["error"] = f"{type(error).__name__}: {error}"
            reply |= {"warnings": warnings.take(), "blocked": sorted(_blocked)}
            out.write(json.dumps(reply).encode() + b"\n")
            out.flush()
    finally:  # also if no process reads the replies
        if hasattr(adapter, "close"):
            adapter.close()


def _answer(adapter: Any, asked: dict[str, Any]) -> dict[str, Any]:
    if asked["op"] == "add":
        made = sum(adapter.add(item) for item in asked["items"])
        if hasattr(adapter, "flush"):
            adapter.flush()
        return {"made": made}
    if asked["op"] == "search":
        return {"found": adapter.search(asked["query"], asked["k"])}
    if asked["op"] == "forget":
        can = hasattr(adapter, "forget")
        return {"deleted": adapter.forget(set(asked["turns"])) if can else None}
    return {"size": adapter.size()}


if __name__ == "__main__":
    main()
