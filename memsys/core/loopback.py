"""A server of JSON on a loopback port of this process, for other programs on this machine."""

import json
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MOST_BYTES = 64 * 2**20  # of a request
Reply = tuple[int, Mapping[str, Any]]


class LoopbackServer(ThreadingHTTPServer):
    """Answers POST requests, each in a thread, from construction until `stop`. `answer` returns
    status and JSON for the path, the `Authorization` and the body of a request.
    """

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, answer: Callable[[str, str, bytes], Reply]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def base_url(self) -> str:
        """Base URL, with /v1."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore the error: the program that asked has ended."""

    def stop(self) -> None:
        """Stop listening."""
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: LoopbackServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        """Answer a request, unless it is too large."""
        length = self.headers.get("Content-Length", "")
        if length.isdigit() and int(length) <= MOST_BYTES:
            key, body = self.headers.get("Authorization", ""), self.rfile.read(int(length))
            status, value = self.server.answer(self.path, key, body)
        else:
            self.close_connection = True
            status, value = 413, refusal(f"give a body of at most {MOST_BYTES} bytes")
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("x-should-retry", "false")  # the answer would be the same
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Log nothing: a request may contain anything."""


def completion(
    body: Mapping[str, Any], message: Mapping[str, Any], prompt_tokens: int, tokens: int
) -> Mapping[str, Any]:
    """Return the JSON that answers the chat request `body` by `message` in OpenAI's protocol."""
    usage = {"prompt_tokens": prompt_tokens, "completion_tokens": tokens}
    finish = "tool_calls" if message.get("tool_calls") else "stop"
    return {
        "id": body.get("model"),
        "object": "chat.completion",
        "created": 0,
        "model": body.get("model"),
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {**usage, "total_tokens": prompt_tokens + tokens},
    }


def refusal(message: str) -> Mapping[str, Any]:
    """Return the JSON of an error in OpenAI's protocol."""
    return {"error": {"message": message, "type": "memsys", "code": None}}
