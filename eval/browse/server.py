"""An HTTP server of the report and the questions, for browsers on this machine alone."""

from __future__ import annotations

import json
import threading
from functools import cached_property
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from eval.browse.questions import Questions, read_search
from eval.browse.search_page import POLICY, search_page
from eval.rendering.page import card_html
from eval.report.build import build_report
from memsys.errors import InputError

LOOPBACK = "127.0.0.1"
_FIELDS = 20  # of an address
_HTML, _JSON = "text/html; charset=utf-8", "application/json; charset=utf-8"
_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Site:
    """The pages, all generated from runs; no file is served by its address."""

    def __init__(self, questions: Questions) -> None:
        self._questions = questions
        self._lock = threading.Lock()

    @cached_property
    def _page(self) -> str:
        return search_page(self._questions)

    @cached_property
    def _report(self) -> str:
        return build_report(self._questions.runs).html()

    def answer(self, target: str) -> tuple[HTTPStatus, str, str]:
        """Return status, content type and body for the target of a request."""
        parts = urlsplit(target)
        try:
            fields = dict(parse_qsl(parts.query, max_num_fields=_FIELDS))
            return self._route(parts.path, fields)
        except (InputError, ValueError) as error:
            return HTTPStatus.BAD_REQUEST, _JSON, json.dumps({"error": str(error)})

    def _route(self, path: str, fields: dict[str, str]) -> tuple[HTTPStatus, str, str]:
        if path == "/":
            return HTTPStatus.OK, _HTML, self._page
        if path == "/report":
            with self._lock:  # takes seconds: two requests do not build it twice
                return HTTPStatus.OK, _HTML, self._report
        if path == "/questions":
            questions = self._questions
            found = questions.find(read_search(fields, len(questions.runs), questions.types))
            return HTTPStatus.OK, _JSON, json.dumps(found, ensure_ascii=False)
        if path == "/card" and (card := self._questions.card(fields.get("id", ""))) is not None:
            return HTTPStatus.OK, _HTML, card_html(card)
        return HTTPStatus.NOT_FOUND, _JSON, json.dumps({"error": "no such page"})


def bind(site: Site, port: int) -> ThreadingHTTPServer:
    """Return a server on the loopback address, ready to `serve_forever`; port 0 is any free one.

    Raises InputError if the port is not available.
    """

    class Handler(_Handler):
        pass

    Handler.site = site
    try:
        server = ThreadingHTTPServer((LOOPBACK, port), Handler)
    except (OSError, OverflowError) as error:
        raise InputError(f"--port {port}: not available ({error}); use another, or 0") from error
    server.daemon_threads = True
    return server


class _Handler(BaseHTTPRequestHandler):
    site: Site
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "memsys", ""
    timeout = 30  # seconds until a silent connection is closed

    def do_GET(self) -> None:
        """Answer a request with a page of the site if its host name is this machine."""
        # DNS rebinding: a foreign page whose name resolves to this address sends its own name here.
        port = self.connection.getsockname()[1]
        if self.headers.get("Host") not in {f"{LOOPBACK}:{port}", f"localhost:{port}"}:
            self._send(HTTPStatus.FORBIDDEN, _JSON, '{"error": "only from this machine"}')
            return
        self._send(*self.site.answer(self.path))

    def _send(self, status: HTTPStatus, kind: str, text: str) -> None:
        body = text.encode("utf-8", errors="replace")
        self.send_response(status)
        for name, value in {**_HEADERS, "Content-Security-Policy": POLICY}.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing: the terminal shows only the address."""
