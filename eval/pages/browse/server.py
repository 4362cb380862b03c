"""Pages about runs, served to browsers on this machine alone or written to a folder."""

import argparse
import json
import os
import sys
import threading
import webbrowser
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from eval.cli import check_replaceable
from eval.pages.browse.conversations import Questions, page_name
from eval.pages.browse.site import INDEX, PACKAGE, STYLE, Site
from eval.pages.report.runs import RecordedCalls, load, missing_texts
from eval.records.files import replacing, writing
from eval.rendering.page import policy, render
from eval.rendering.terminal import progress
from memsys.core.errors import InputError
from memsys.core.files import read_bytes

LOOPBACK = "127.0.0.1"
HTML, JSON = "text/html; charset=utf-8", "application/json; charset=utf-8"
Fields = Sequence[tuple[str, str]]
_FIELDS = 1_000  # of an address
_PAGES = 8  # of a site that stay in memory
_MB = 1_000_000
_MARK = '<script type="application/json" id="rows">'  # of a page of questions
_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer to a request. `location`: of a redirection."""

    body: str
    status: HTTPStatus = HTTPStatus.OK
    kind: str = HTML
    policy: str = policy()
    location: str = ""


Answer = Callable[[str, Fields], Reply]  # of a path and the fields of its query
MISSING = Reply(json.dumps({"error": "no such page"}), HTTPStatus.NOT_FOUND, JSON)


def answer_site(site: Site) -> Answer:
    """Return the answers for the pages of a site, each made when it is asked for."""
    lock, page_of = threading.Lock(), lru_cache(_PAGES)(site.page)

    def answer(path: str, fields: Fields) -> Reply:
        if path == "/card":
            card = site.card(dict(fields).get("id", ""))
            return MISSING if card is None else Reply(card)
        name = path.removeprefix("/") or INDEX
        with lock:  # two requests do not make a page twice
            page = page_of(name)
        return MISSING if page is None else Reply(page, policy=site.policy(name))

    return answer


class PageServer(ThreadingHTTPServer):
    """A server on the loopback address. Requests wait until `serve_forever`, which needs `answer`.

    Port 0 is any free one. Raises InputError if the port is not available.
    """

    daemon_threads = True
    answer: Answer

    def __init__(self, port: int) -> None:
        """Take the port."""
        try:
            super().__init__((LOOPBACK, port), _Handler)
        except OSError as error:
            text = f"--port {port}: not available ({error}); use another, or 0"
            raise InputError(text) from error

    @property
    def address(self) -> str:
        """The address of the first page."""
        return f"http://{LOOPBACK}:{self.server_address[1]}/"


class _Handler(BaseHTTPRequestHandler):
    server: PageServer
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "memsys", ""
    timeout = 30  # seconds until a silent connection is closed

    def do_GET(self) -> None:
        """Answer a request with a page if its host name is this machine."""
        # DNS rebinding: a foreign page whose name resolves to this address sends its own name here.
        port = self.connection.getsockname()[1]
        if self.headers.get("Host") not in {f"{LOOPBACK}:{port}", f"localhost:{port}"}:
            refusal = '{"error": "only from this machine"}'
            self._send(Reply(refusal, HTTPStatus.FORBIDDEN, JSON))
            return
        self._send(self._reply())

    def _reply(self) -> Reply:
        parts = urlsplit(self.path)
        try:
            fields = parse_qsl(parts.query, max_num_fields=_FIELDS)
            return self.server.answer(parts.path, fields)
        except (InputError, ValueError) as error:
            if parts.path.endswith("/card"):
                body = json.dumps({"error": str(error)})
                return Reply(body, HTTPStatus.BAD_REQUEST, JSON)
            return refusal("This page cannot be shown", error)

    def _send(self, reply: Reply) -> None:
        body = reply.body.encode("utf-8", errors="replace")
        self.send_response(reply.status)
        guarded = f"{reply.policy}; frame-ancestors 'none'"
        for name, value in {**_HEADERS, "Content-Security-Policy": guarded}.items():
            self.send_header(name, value)
        if reply.location:
            self.send_header("Location", reply.location)
        self.send_header("Content-Type", reply.kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing: the terminal shows only the address."""


def refusal(title: str, error: Exception, back: str = "") -> Reply:
    """Return a page that says why there is no other; `back`: address of the page that leads on."""
    texts = {"title": title, "sentence": f"{error}.", "back": back, "policy": policy()}
    body = render("message.html.j2", STYLE, PACKAGE, **texts)
    return Reply(body, HTTPStatus.BAD_REQUEST)


def add_options(command: argparse.ArgumentParser, *, open_it: bool = False) -> None:
    """Add the options of pages that are served or written; `open_it`: whether the browser is opened
    by default.
    """
    add = command.add_argument
    add("--out", type=Path, metavar="FOLDER", help="write the pages there instead of serving them")
    add("--port", type=int, default=8750, metavar="N", help="0: any free port (default: 8750)")
    opened = "open the page in the browser" + " (default: where there is a display)" * open_it
    add("--open", action=argparse.BooleanOptionalAction, default=open_it, help=opened)


def has_display() -> bool:
    """Whether a browser window can be expected: a terminal on a machine with a display."""
    graphical = sys.platform in {"darwin", "win32"} or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    return graphical and sys.stdout.isatty()


def read_site(
    folders: Sequence[Path], cache: Path | None, *, note: str = "", listing: str = ""
) -> Site:
    """Return the site of some run folders; `cache`: where answers of models are recorded.

    Prints why memories of a run have no texts. Raises InputError as load does.
    """
    runs = load([str(folder) for folder in folders])
    for sentence in missing_texts(runs):
        print(f"note: {sentence}", flush=True)
    calls = None if cache is None else RecordedCalls(cache)
    return Site(Questions(runs, calls), note=note, listing=listing)


def show(
    options: argparse.Namespace, folders: Sequence[Path], cache: Path | None, note: str = ""
) -> None:
    """Serve the pages of some runs, or write them, as the `options` of add_options say."""
    if options.out is None:
        serve(options, lambda: answer_site(read_site(folders, cache, note=note)))
        return
    out: Path = options.out
    index = out / INDEX  # of earlier pages, if there is anything
    ours = index.is_file() and _MARK.encode() in read_bytes(index, linked=False)
    check_replaceable(out, replaceable=ours)
    print(f"reading {len(folders)} run{'s' * (len(folders) > 1)} ...", flush=True)
    sizes = _write(read_site(folders, cache, note=note), out)
    total, of_index = sum(sizes.values()) / _MB, sizes[INDEX] / _MB
    print(
        f"{len(sizes)} pages, {total:,.1f} MB ({of_index:,.1f} MB of it {INDEX} with all "
        f"questions), written to {out}\nopen {index.resolve().as_uri()}"
    )


def serve(options: argparse.Namespace, read: Callable[[], Answer]) -> None:
    """Print the address, then read the runs and serve them until Ctrl-C; a browser waits meanwhile.

    Raises InputError if the port is not available or a run cannot be read.
    """
    with PageServer(options.port) as server:
        print(f"{server.address} (Ctrl-C stops it)", flush=True)
        if options.open:
            webbrowser.open(server.address)
        try:
            server.answer = read()
            server.serve_forever()
        except KeyboardInterrupt:
            print()  # after the ^C of the terminal


def _write(site: Site, out: Path) -> dict[str, int]:
    """Write all pages of `site`, and return their sizes in bytes by name."""
    sizes = {}
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
        for name in site.names:
            if name == INDEX:
                with progress(len(site.questions.ids), "question") as bar:
                    page = site.whole_index(bar.update)
            else:
                page = site.page(name) or ""
            data = page.encode("utf-8", errors="replace")
            with replacing(out / name) as file:
                file.write(data)
            sizes[name] = len(data)
        number = len(site.conversations.pages)  # there may have been more of them earlier
        while (old := out / page_name(number)).exists():
            old.unlink()
            number += 1
    return sizes
