"""A chat model on the loopback address, in a separate process: it answers after a planned time.

Answers and verdicts depend on the request alone; so do the requests that are slow or that fail.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import multiprocessing
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

PAUSE_S = 0.5  # before the next attempt, as the server asks for it
_HEAD = "HTTP/1.1 {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{}\r\n"
_FAILED = {"error": {"message": "out of order"}}


@dataclass(frozen=True, slots=True)
class Plan:
    """A request takes `delay_s`; a share `slow` of them ten times as long; a share `failing` of all
    attempts ends in HTTP 500. `log`: file of one JSON line for each attempt that was answered.
    """

    delay_s: float
    slow: float = 0.0
    failing: float = 0.0
    log: Path | None = None

    def seconds(self, digest: str) -> float:
        """Return the duration of each attempt of the request with this hash."""
        return self.delay_s * (10 if _chance(digest, "slow") < self.slow else 1)

    def fails(self, digest: str, attempt: int) -> bool:
        """Return whether this attempt of the request with this hash ends in HTTP 500."""
        return _chance(digest, f"attempt {attempt}") < self.failing


def _chance(digest: str, of: str) -> float:
    """Return a number from 0 to 1 that only depends on the arguments."""
    return int(hashlib.sha256(f"{digest} {of}".encode()).hexdigest()[:12], 16) / 16**12


@contextmanager
def loopback_model(plan: Plan) -> Iterator[str]:
    """Yield the base URL of a server that follows `plan`; it stops with the block."""
    spawn = multiprocessing.get_context("spawn")  # a fork would copy the caller's threads
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=_run, args=(theirs, plan), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{ours.recv()}/v1"
    finally:
        process.terminate()
        process.join()


def _run(started: Connection, plan: Plan) -> None:
    asyncio.run(_serve(started, plan))


async def _serve(started: Connection, plan: Plan) -> None:
    attempts: Counter[str] = Counter()
    log = plan.log and plan.log.open("a", encoding="utf-8", buffering=1)

    async def answer(data: bytes) -> bytes:
        began, digest = time.time(), hashlib.sha256(data).hexdigest()
        attempts[digest] += 1
        failed = plan.fails(digest, attempts[digest])
        await asyncio.sleep(plan.seconds(digest))
        body = json.loads(data)
        if log:
            status = 500 if failed else 200
            row = {"body": body, "status": status, "began": began, "ended": time.time()}
            log.write(json.dumps(row) + "\n")
        if failed:
            wait = f"retry-after-ms: {PAUSE_S * 1000:.0f}\r\n"
            return _http("500 Internal Server Error", _FAILED, wait)
        return _http("200 OK", _completion(body, digest))

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                asked = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = int(asked.split(b"content-length:")[1].split(b"\r\n")[0])
                writer.write(await answer(await reader.readexactly(length)))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    started.send(server.sockets[0].getsockname()[1])
    await server.serve_forever()


def _http(status: str, value: dict[str, Any], headers: str = "") -> bytes:
    body = json.dumps(value).encode()
    return _HEAD.format(status, len(body), headers).encode() + body


def _completion(body: dict[str, Any], digest: str) -> dict[str, Any]:
    """Return a short answer, or a verdict where JSON is asked for."""
    text = f"In the spring of {digest[:8]}."
    if "response_format" in body:
        verdict = "CORRECT" if _chance(digest, "verdict") < 0.5 else "WRONG"
        text = json.dumps({"reason": f"because of {digest[:8]}", "verdict": verdict})
    message = {"role": "assistant", "content": text}
    return {
        "id": "loopback",
        "object": "chat.completion",
        "created": 0,
        "model": body.get("model"),
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 500, "completion_tokens": 5, "total_tokens": 505},
    }
