"""A loopback server that speaks the OpenAI protocol, and misbehaves where a script tells it to."""

import json
import threading
import time
from collections.abc import Callable, Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from tests.memsys.llm.answers import Body, right_answer

Behaviour = Callable[["Handler", Body], None]
Script = Iterable[Behaviour | None] | Callable[[Body], Behaviour | None]


class FaultyServer(ThreadingHTTPServer):
    """`with FaultyServer([status(500), None, hang(1)]) as server:` - requests go wrong in that
    order (None: answered), and every later one is answered. `script` may instead be a function of
    the request's body, called for each request. `delay_s`: how long a right answer takes.
    """

    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def __init__(self, script: Script = (), delay_s: float = 0.0) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        left = iter(()) if callable(script) else iter(script)
        self.choose = script if callable(script) else lambda _: next(left, None)
        self.delay_s = delay_s
        self.lock = threading.Lock()
        self.methods: list[str] = []
        self.bodies: list[Body] = []
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []  # names in lower case
        self.under_way = self.most_under_way = 0
        self.stopping = threading.Event()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    @property
    def requests(self) -> int:
        return len(self.bodies)

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # a client that gives up is what half of the faults are for

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stopping.set()
        self.shutdown()
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    server: FaultyServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or "null")
        server = self.server
        with server.lock:
            server.methods.append(self.command)
            server.bodies.append(body)
            server.paths.append(self.path)
            server.headers.append({name.lower(): value for name, value in self.headers.items()})
            server.under_way += 1
            server.most_under_way = max(server.most_under_way, server.under_way)
            behave = server.choose(body)
        if behave is None:
            time.sleep(server.delay_s)
            # Before the answer goes out: whoever has it may ask again at once.
            with server.lock:
                server.under_way -= 1
            self.reply(200, right_answer(body))
            return
        try:
            behave(self, body)
        finally:
            with server.lock:
                server.under_way -= 1

    do_GET = do_DELETE = do_POST  # noqa: N815

    def reply(self, status: int, value: Any, headers: dict[str, str] | None = None) -> None:
        """Answer with JSON."""
        self.begin(status, len(data := json.dumps(value).encode()), headers)
        self.wfile.write(data)

    def begin(self, status: int, length: int, headers: dict[str, str] | None = None) -> None:
        """Send everything but the body."""
        self.send_response(status)
        sent = {"Content-Type": "application/json", "Content-Length": str(length)}
        for name, value in (sent | (headers or {})).items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        pass
