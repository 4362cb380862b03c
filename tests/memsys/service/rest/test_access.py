"""Who may ask over HTTP, and what is refused before an operation is asked."""

from __future__ import annotations

import http.client
import json
import socket
from urllib.parse import urlsplit

from fastapi.testclient import TestClient

from memsys.service.rest.access import AccessPolicy
from memsys.service.rest.app import make_app
from tests.memsys.service.made import memory
from tests.memsys.service.rest.serving import KEY, ask
from tests.memsys.service.rest.test_server import failed


def test_what_is_no_request_is_refused_in_the_same_form(server):
    """And shows that the connections of the command have their limits."""
    host = urlsplit(server.url)
    with socket.create_connection((host.hostname, host.port), timeout=60) as client:
        client.sendall(b"no request\r\n\r\n")
        with client.makefile("rb") as reply:
            head, _, body = reply.read().partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert json.loads(body)["error"]["type"] == "bad_request"


def test_a_body_too_large_is_413_told_or_not(server):
    failed(server.ask("POST", "/memories", b"x" * 1_048_577), 413, "too_large")
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=30)
    chunks = (b"x" * 65_536 for _ in range(20))  # without a length in the headers
    connection.request("POST", "/memories", chunks, encode_chunked=True)
    assert connection.getresponse().status == 413


def test_a_page_of_another_origin_or_name_is_refused(server):
    host = urlsplit(server.url).netloc
    for headers in (
        {"Host": "evil.example"},
        {"Host": f"evil.example:{urlsplit(server.url).port}"},
        {"Host": "[::1"},
        {"Origin": "http://evil.example"},
        {"Origin": f"http://{host}.evil.example"},
        {"Origin": f"ws://{host}"},
        {"Host": "evil.example@127.0.0.1"},
        {"Host": "127.0.0.1/evil.example"},
    ):
        failed(server.ask("POST", "/reset", {"all": True}, headers), 403, "forbidden")
    assert server.ask("POST", "/reset", {"all": True}, {"Origin": server.url}).status == 200
    body = b'{"messages": "x", "user_id": "m"}'  # a form of a page
    answer = server.ask("POST", "/memories", body, {"Content-Type": "text/plain"})
    failed(answer, 422, "invalid_input")


def test_the_first_page_leads_to_the_documentation_and_health_needs_no_key(tmp_path):
    store = memory(tmp_path)
    app = make_app(store, AccessPolicy(KEY, None))
    client = TestClient(app, raise_server_exceptions=False, follow_redirects=False)
    reply = client.get("/")
    assert (reply.status_code, reply.headers["location"]) == (307, "/docs")
    assert ask(app, "GET", "/health").body == {"status": "ok"}
    assert "/health" not in ask(app, "GET", "/openapi.json").body["paths"]


def test_the_page_needs_no_network(server):
    answer = server.ask("GET", "/docs")
    assert "POST /search" in answer.body
    for outside in ("<script", "src=", 'href="http', "@import", "url("):
        assert outside not in answer.body


def test_without_the_key_nothing_is_told_and_with_it_all_is(tmp_path):
    with memory(tmp_path) as store:
        app = make_app(store, AccessPolicy(KEY, None))
        for headers in (
            {},
            {"X-API-Key": ""},
            {"X-API-Key": KEY[:-1]},
            {"X-API-Key": KEY + "x"},
            {"Authorization": f"Basic {KEY}"},
            {"Authorization": "Bearer "},
        ):
            for method, path in (
                *(("GET", "/memories?user_id=m"), ("POST", "/reset"), ("GET", "/nowhere")),
            ):
                answer = ask(app, method, path, headers=headers)
                failed(answer, 401, "unauthorized")
                assert answer.headers["www-authenticate"] == "Bearer"
        for right in ({"X-API-Key": KEY}, {"X-API-Key": "", "Authorization": f"Bearer {KEY}"}):
            assert ask(app, "GET", "/memories?user_id=m", headers=right).status == 200
        schemes = ask(app, "GET", "/openapi.json").body["components"]["securitySchemes"]
        assert {one["type"] for one in schemes.values()} == {"apiKey", "http"}


def test_wrong_methods_and_places(server):
    answer = server.ask("PATCH", "/memories")
    failed(answer, 405, "method_not_allowed")
    assert answer.headers["allow"] == "DELETE, GET, POST"
    failed(server.ask("GET", "/nowhere"), 404, "not_found")
