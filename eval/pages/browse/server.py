"""An HTTP server of pages about runs, for browsers on this machine alone."""

from __future__ import annotations

import json
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from eval.pages.browse.routes import HTML, JSON, Reply, Routes, message
from memsys.core.errors import InputError

LOOPBACK = "127.0.0.1"
_FIELDS = 1_000  # of an address
_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def bind(routes: Routes, port: int) -> ThreadingHTTPServer:
    """Return a server on the loopback address, ready to `serve_forever`; port 0 is any free one.

    Raises InputError if the port is not available.
    """

    class Handler(_Handler):
        pass

    Handler.routes = routes
    try:
        server = ThreadingHTTPServer((LOOPBACK, port), Handler)
    except (OSError, OverflowError) as error:
        raise InputError(f"--port {port}: not available ({error}); use another, or 0") from error
    server.daemon_threads = True
    return server


class _Handler(BaseHTTPRequestHandler):
    routes: Routes
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "memsys", ""
    timeout = 30  # seconds until a silent connection is closed

    def do_GET(self) -> None:
        """Answer a request with a page if its host name is this machine."""
        # DNS rebinding: a foreign page whose name resolves to this address sends its own name here.
        port = self.connection.getsockname()[1]
        if self.headers.get("Host") not in {f"{LOOPBACK}:{port}", f"localhost:{port}"}:
            refusal = '{"error": "only from this machine"}'
            self._send(Reply(HTTPStatus.FORBIDDEN, JSON, refusal))
            return
        self._send(self._reply())

    def _reply(self) -> Reply:
        parts = urlsplit(self.path)
        try:
            fields = parse_qsl(parts.query, max_num_fields=_FIELDS)
            return self.routes.answer(parts.path, fields)
        except (InputError, ValueError) as error:
            if parts.path.endswith("/card"):
                return Reply(HTTPStatus.BAD_REQUEST, JSON, json.dumps({"error": str(error)}))
            body = message("This page cannot be shown", f"{error}.")
            return Reply(HTTPStatus.BAD_REQUEST, HTML, body)

    def _send(self, reply: Reply) -> None:
        body = reply.body.encode("utf-8", errors="replace")
        self.send_response(reply.status)
        guarded = f"{reply.policy}; frame-ancestors 'none'"
        for name, value in {**_HEADERS, "Content-Security-Policy": guarded}.items():
            self.send_header(name, value)
        if reply.refresh:
            self.send_header("Refresh", "1")
        if reply.location:
            self.send_header("Location", reply.location)
        self.send_header("Content-Type", reply.kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing: the terminal shows only the address."""
