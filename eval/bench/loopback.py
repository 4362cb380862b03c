"""A model on this machine that answers without thinking, in a process of its own."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Event, Lock
from typing import Any

from memsys.core.loopback import LoopbackServer, Reply

_START_S = 30  # within which the server has to listen


@contextmanager
def loopback_model(delay_s: float, log: Path | None = None) -> Iterator[str]:
    """Yield the base URL of a server that answers each request after `delay_s`, with an answer or a
    verdict that depends on the request alone. `log`: file of one JSON line for each request. The
    server stops with the block.
    """
    spawn = multiprocessing.get_context("spawn")  # a fork would copy the caller's threads
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=_run, args=(theirs, delay_s, log), daemon=True)
    process.start()
    try:
        if not ours.poll(_START_S):
            raise RuntimeError(f"the loopback server did not listen within {_START_S} s")
        yield ours.recv()
    finally:
        process.terminate()
        process.join()


def _run(started: Connection, delay_s: float, log: Path | None) -> None:
    lock = Lock()

    def answer(_path: str, _key: str, data: bytes) -> Reply:
        began = time.time()
        time.sleep(delay_s)
        body = json.loads(data)
        if log:
            row = {"body": body, "began": began, "ended": time.time()}
            with lock, log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
        return 200, _completion(body, hashlib.sha256(data).hexdigest())

    started.send(LoopbackServer(answer).base_url)
    Event().wait()


def _completion(body: dict[str, Any], digest: str) -> dict[str, Any]:
    """Return a short answer, or a verdict where JSON is asked for."""
    text = f"In the spring of {digest[:8]}."
    if "response_format" in body:
        verdict = "CORRECT" if digest < "8" else "WRONG"
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
