"""A model on this machine that answers without thinking, in a process of its own."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Lock
from typing import Any

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
        yield f"http://127.0.0.1:{ours.recv()}/v1"
    finally:
        process.terminate()
        process.join()


def _run(started: Connection, delay_s: float, log: Path | None) -> None:
    lock = Lock()

    class Handler(BaseHTTPRequestHandler):
        """Answers the requests of one connection, one after the other."""

        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            """Answer a chat request, and write it to the log."""
            began, data = time.time(), self.rfile.read(int(self.headers["content-length"]))
            time.sleep(delay_s)
            body = json.loads(data)
            if log:
                row = {"body": body, "began": began, "ended": time.time()}
                with lock, log.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
            answer = json.dumps(_completion(body, hashlib.sha256(data).hexdigest())).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            """Print nothing."""

    ThreadingHTTPServer.request_queue_size = 128  # of 5, further clients wait for a second
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    started.send(server.server_address[1])
    server.serve_forever()


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
