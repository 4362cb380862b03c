"""Who may ask over HTTP, what is refused before an operation is asked or a server started, and that
the server keeps its own OpenAPI document, whatever is generated from it.
"""

import http.client
import json
import os
import shlex
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import uvicorn
from fastapi.testclient import TestClient

from memsys.service import __main__ as serve
from memsys.service.__main__ import is_loopback
from memsys.service.rest.access import AccessPolicy
from memsys.service.rest.app import make_app
from tests.memsys.service.made import memory
from tests.memsys.service.rest.conftest import CONFIG, KEY, ask, serving
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
    names = ("evil.example", f"evil.example:{urlsplit(server.url).port}", "[::1")
    names += ("evil.example@127.0.0.1", "127.0.0.1/evil.example")
    origins = ("http://evil.example", f"http://{host}.evil.example", f"ws://{host}")
    for headers in (*({"Host": n} for n in names), *({"Origin": one} for one in origins)):
        failed(server.ask("POST", "/reset", {"all": True}, headers), 403, "forbidden")
    assert server.ask("POST", "/reset", {"all": True}, {"Origin": server.url}).status == 200
    body = b'{"messages": "x", "user_id": "m"}'  # a form of a page
    answer = server.ask("POST", "/memories", body, {"Content-Type": "text/plain"})
    failed(answer, 422, "invalid_input")


def test_the_first_page_leads_to_the_documentation_and_health_needs_no_key(tmp_path):
    app = make_app(memory(tmp_path), AccessPolicy(KEY, None))
    reply = TestClient(app, follow_redirects=False).get("/")
    assert (reply.status_code, reply.headers["location"]) == (307, "/docs")
    assert ask(app, "GET", "/health").body == {"status": "ok"}
    assert "/health" not in ask(app, "GET", "/openapi.json").body["paths"]


def test_the_page_needs_no_network(server):
    answer = server.ask("GET", "/docs")
    assert "POST /search" in answer.body
    for outside in ("<script", "src=", 'href="http', "@import", "url("):
        assert outside not in answer.body


def test_without_the_key_nothing_is_told_and_with_it_all_is(store):
    app = make_app(store, AccessPolicy(KEY, None))
    keys, others = ("", KEY[:-1], KEY + "x"), (f"Basic {KEY}", "Bearer ")
    wrong = [{}, *({"X-API-Key": k} for k in keys), *({"Authorization": a} for a in others)]
    requests = ("GET", "/memories?user_id=m"), ("POST", "/reset"), ("GET", "/nowhere")
    for headers in wrong:
        for method, path in requests:
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


def test_what_only_this_machine_can_reach():
    assert all(map(is_loopback, ("127.0.0.1", "127.9.9.9", "::1", "localhost")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "192.168.1.5", "example.org")))  # noqa: S104


@pytest.mark.parametrize(
    ("arguments", "key"),
    [(["--host", "0.0.0.0"], KEY), (["--allow-host", "Memories.example"], None)],  # noqa: S104
    ids=["with a key, under any name", "under the name of a proxy"],
)
def test_which_names_it_serves_under(tmp_path, monkeypatch, arguments, key):
    statuses = []

    def asked(server: uvicorn.Server, sockets: Any) -> None:
        """In place of the server's loop: within this process, while the memory is open."""
        (listening,) = sockets
        assert listening.getsockname()[0] == ("0.0.0.0" if key else "127.0.0.1")  # noqa: S104
        named, other = {"Host": "memories.example"}, {"Host": "other.example"}
        statuses.extend(
            ask(server.config.app, "GET", "/memories?user_id=m", None, headers).status
            for headers in (named | {"X-API-Key": key or ""}, named, other)
        )
        listening.close()

    (tmp_path / "mine.yaml").write_text(CONFIG)
    monkeypatch.setattr(uvicorn.Server, "run", asked)
    monkeypatch.setenv("MEMSYS_TRUSTED", "tests.memsys.build")
    monkeypatch.delenv("MEMSYS_API_KEY", raising=False)
    if key:
        monkeypatch.setenv("MEMSYS_API_KEY", key)
    files = ["--config", str(tmp_path / "mine.yaml"), "--folder", str(tmp_path / "memories")]
    assert serve.main([*files, "--port", "0", *arguments]) == 0
    assert statuses == ([200, 401, 401] if key else [200, 200, 403])


BEYOND = "can be reached from other machines; set MEMSYS_API_KEY"
BLANK = "MEMSYS_API_KEY: begins or ends with a blank, which no header can; remove it"


@pytest.mark.parametrize(
    ("arguments", "key", "message"),
    [
        *(("--host 0.0.0.0 --port 0", key, BEYOND) for key in (None, "", "x" * 15)),
        ("--host example.org --port 0", "too-short", f"--host example.org: {BEYOND}"),
        ("--mcp --host 0.0.0.0 --port 0", None, BEYOND),
        *(("--port 0", key, BLANK) for key in (" " * 20, f"\t{KEY}")),
        ("--port 65536", None, "--port 65536: use 0 to 65535"),
        ("--port -1", None, "--port -1: use 0 to 65535"),
        ("--port 0 --config nowhere", None, "nowhere: no such run"),
        ("--port 0 --config passwd", None, "passwd: no configuration; name a run, or a file that"),
        ("--mcp --host 127.0.0.1", None, "--mcp: --host and --allow-host need --port"),
        ("--mcp --allow-host x", None, "--mcp: --host and --allow-host need --port"),
        ("--user ana", None, "--user: needs --mcp"),
        ("--mcp --user ''", None, "--user: user_id: String should have at least 1"),
    ],
)
def test_wrong_arguments_are_one_line(arguments, key, message, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "passwd").write_text("classified:x:0:0\n")
    monkeypatch.setenv("MEMSYS_API_KEY", key or "")
    if key is None:
        monkeypatch.delenv("MEMSYS_API_KEY")
    assert serve.main(shlex.split(arguments)) == 2
    err = capsys.readouterr().err
    assert message in err
    assert (err.startswith("error: "), err.count("\n"), "classified" in err) == (True, 1, False)


def test_a_port_that_is_taken_is_named(capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert serve.main(["--port", port]) == 2
    assert capsys.readouterr().err.startswith(f"error: --host 127.0.0.1 --port {port}: cannot be")


# That one of some query parameters has to be there cannot be said in an OpenAPI document: without
# any, 400 or 422 is right, though the request is as the document says.
SETTINGS = "".join(
    f"""
[[operations]]
include-path = "{path}"
include-method = "{method}"
[operations.checks]
positive_data_acceptance.enabled = false
"""
    for path, method in (("/memories", "GET"), ("/memories", "DELETE"), ("/reset", "POST"))
)
# The history of a deleted memory remains.
SETTINGS += """
[[operations]]
include-path = "/memories/{id}/history"
include-method = "GET"
[operations.checks]
use_after_free.enabled = false
"""


@pytest.mark.parametrize("examples", [3, pytest.param(50, marks=pytest.mark.soak)])
def test_schemathesis_finds_nothing(tmp_path, examples):
    """So many examples of each operation, beside those of the coverage of the document."""
    pytest.importorskip("schemathesis")
    (tmp_path / "schemathesis.toml").write_text(SETTINGS, encoding="utf-8")
    with serving(tmp_path, key=KEY) as server:
        ended = subprocess.run(
            [
                *(str(Path(sys.executable).parent / "schemathesis"), "--config-file"),
                *("schemathesis.toml", "run", f"{server.url}/openapi.json"),
                *("-H", f"X-API-Key: {KEY}", "--seed", "1", "-n", str(examples), "--no-color"),
                *("--phases", "coverage,fuzzing,stateful"),
                *("--generation-database", "none", "--continue-on-failure"),
            ],
            cwd=tmp_path,
            env={**os.environ, "NO_PROXY": "127.0.0.1"},
            text=True,
            capture_output=True,
            timeout=3600,
            check=False,
        )
        assert server.process.poll() is None
    assert ended.returncode == 0, ended.stdout[-6000:] + ended.stderr[-2000:]
    assert "11 selected / 11 total" in ended.stdout  # or it tested nothing
    assert "Traceback" not in (tmp_path / "server.log").read_text(encoding="utf-8")
