from __future__ import annotations

import base64
import hashlib
import http.client
import json
import re
import shutil
import sys
from itertools import product

import pytest

from eval.pages.browse import __main__ as browse
from eval.pages.browse.server import LOOPBACK, PageServer, has_display
from memsys.core.errors import InputError


def _get(
    server: PageServer, target: str, method: str = "GET", host: str | None = None
) -> tuple[int, http.client.HTTPMessage, str]:
    """The target is sent as it is: a client would tidy up a path with dots."""
    port = server.server_address[1]
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=60)
    connection.putrequest(method, target, skip_host=True)
    connection.putheader("Host", host or f"{LOOPBACK}:{port}")
    connection.endheaders()
    reply = connection.getresponse()
    body = reply.read().decode("utf-8")
    connection.close()
    return reply.status, reply.headers, body


def test_only_this_machine_can_reach_it(server):
    assert server.server_address[0] == "127.0.0.1"
    for host in ("evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1:1"):
        status, _, body = _get(server, "/", host=host)
        assert status == 403
        assert "<script" not in body
    port = server.server_address[1]
    assert _get(server, "/", host=f"localhost:{port}")[0] == 200


def test_no_file_is_served(server):
    outside = ("/../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd")
    files = ("/manifest.json", "/records.jsonl", "/report.html/../manifest.json")
    for target in (*outside, *files, "/card?id=../../etc/passwd", "/card", "/card?id=%00"):
        status, _, body = _get(server, target)
        assert (status, json.loads(body)) == (404, {"error": "no such page"}), target


def test_pages_may_load_and_run_nothing_else(server):
    for target in ("/", "/report.html", "/data.html", "/conversation-1.html", "/card?id=ash/0"):
        status, headers, _ = _get(server, target)
        policy = headers["Content-Security-Policy"]
        assert status == 200
        assert policy.startswith("default-src 'none'")
        scripts = re.findall(r"script-src [^;]*", policy)
        assert [one[:19] for one in scripts] == ["script-src 'sha256-"] * (target == "/")
        assert "frame-ancestors 'none'" in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "Access-Control-Allow-Origin" not in headers


def test_the_page_of_questions_escapes_names_and_its_policy_allows_its_script(server):
    _, headers, page = _get(server, "/")
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in headers["Content-Security-Policy"]
    assert f"sha256-{digest}" in page
    assert "<i>" not in page
    assert page.count("better&lt;i&gt;</option>") == 3
    assert "\\u003ci\\u003e" in page  # for the script
    assert "</details>" not in page.partition('id="rows">')[2].partition("</script>")[0]


def test_too_many_fields_and_other_methods_are_refused(server):
    many = "&".join(f"a{n}=1" for n in range(2000))
    assert _get(server, f"/?{many}")[0] == 400
    for method in ("POST", "PUT", "DELETE"):
        assert _get(server, "/", method)[0] == 501


def test_a_port_that_is_taken(server):
    with pytest.raises(InputError, match="use another, or 0"):
        PageServer(server.server_address[1])


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["nowhere"], "no such run"),
        (["x", "--port", "70000"], "0 to 65535"),
        (["--out", "out"], "name the runs"),
    ],
)
def test_wrong_input_is_one_line(arguments, expected, refused):
    assert expected in refused(browse.main, *arguments)


def test_a_browser_needs_a_display_and_a_terminal(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    for display, terminal in product(("", ":0"), (False, True)):
        monkeypatch.setattr(sys.stdout, "isatty", lambda terminal=terminal: terminal)
        monkeypatch.setenv("DISPLAY", display)
        assert has_display() == (bool(display) and terminal)


def test_ctrl_c_is_the_way_out(folders, monkeypatch, said):
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(PageServer, "serve_forever", stop)
    assert said(browse.main, folders[0], "--port", "0").startswith("http://127.0.0.1:")


def test_the_address_comes_before_the_runs_are_read(folders, tmp_path, capsys):
    broken = tmp_path / "broken"
    shutil.copytree(folders[0], broken)
    (broken / "records.jsonl").write_text("{}\n")
    assert browse.main([str(broken), "--port", "0"]) == 2  # the server ends by itself
    found = capsys.readouterr()
    assert found.out.startswith("http://127.0.0.1:")
    (line,) = found.err.splitlines()
    assert "records.jsonl: line 1" in line
