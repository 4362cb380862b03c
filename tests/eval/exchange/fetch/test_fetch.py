"""Fetching against a real HTTP server on the loopback interface."""

import hashlib
import os
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import ClassVar

import pytest

from eval.datasets.files import Pin, PublicFile, load_sources
from eval.exchange.fetch import __main__ as module
from eval.exchange.fetch.__main__ import fetch, main
from memsys.core.errors import InputError

RIGHT = b'[{"sample_id": "x"}]' * 10_000  # several reads long
SOURCE = PublicFile(
    file="set.json",
    url="http://127.0.0.1:9/set.json",
    bytes=len(RIGHT),
    sha256=hashlib.sha256(RIGHT).hexdigest(),
    licence="a licence",
    home="https://example.org/set",
)


class Handler(BaseHTTPRequestHandler):
    bodies: ClassVar[dict[str, bytes]] = {
        "/right": RIGHT,
        "/wrong": RIGHT[:-1] + b"!",
        "/long": RIGHT + b"!",
        "/short": RIGHT[:-1],
        "/cut": RIGHT[:100],
    }

    def do_GET(self) -> None:
        body = self.bodies.get(self.path)
        if body is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(RIGHT) if self.path == "/cut" else len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")


def test_the_right_file_is_kept_under_its_name_and_left_if_here(server, tmp_path):
    folder = tmp_path / "new" / "folder"
    path, new = fetch(SOURCE, folder, f"{server}/right")
    assert new
    assert path.read_bytes() == RIGHT
    assert [p.name for p in folder.iterdir()] == ["set.json"]
    # No address is asked: port 9 would refuse.
    assert fetch(SOURCE, folder) == (folder / "set.json", False)
    assert fetch(SOURCE, tmp_path / "from", path.as_uri()) == (tmp_path / "from" / "set.json", True)
    assert (tmp_path / "from" / "set.json").read_bytes() == RIGHT


def test_what_cannot_be_fetched_or_would_be_overwritten_is_refused(server, tmp_path):
    (tmp_path / "set.json").write_bytes(b"my own")
    for folder, url, message in (
        (tmp_path, f"{server}/right", "is not the published file .* move it away"),
        (tmp_path / "set.json", f"{server}/right", "cannot be written"),
        (tmp_path / "to", "set.json", "must begin with"),
        (tmp_path / "to", "ftp://127.0.0.1/set.json", "must begin with"),
    ):
        with pytest.raises(InputError, match=message):
            fetch(SOURCE, folder, url)
    assert (tmp_path / "set.json").read_bytes() == b"my own"


def sha256_of(name: str) -> str:
    return hashlib.sha256(Handler.bodies[f"/{name}"]).hexdigest()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        *((name, f"sha256 {sha256_of(name)}; .*{SOURCE.sha256}") for name in ("wrong", "short")),
        ("long", "more than its 200000 bytes"),
        ("cut", "100 bytes|broken off"),
        ("absent", "404.*https://example.org/set.*put it at .*set.json"),
    ],
)
def test_a_file_that_is_wrong_or_breaks_off_leaves_nothing(server, tmp_path, name, says):
    with pytest.raises(InputError, match=says):
        fetch(SOURCE, tmp_path, f"{server}/{name}")
    assert list(tmp_path.iterdir()) == []


def test_the_command_tells_what_it_did(server, tmp_path, monkeypatch, capsys, said):
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)  # no notebook: no progress bar
    monkeypatch.setattr(module, "load_sources", lambda: {"set": SOURCE})
    command = ["set", "--to", str(tmp_path), "--from", f"{server}/right"]
    assert "downloaded and checked; licence a licence" in said(main, *command)
    assert "already here" in said(main, *command)
    wrong = ("set", "--to", tmp_path / "x", "--from", f"{server}/wrong")
    assert said(main, *wrong, code=2).startswith("error: ")
    with pytest.raises(SystemExit):
        main(["locomo11"])
    assert "choose from" in capsys.readouterr().err


def test_a_folder_is_fetched_file_by_file_and_continued(server, tmp_path, monkeypatch, capsys):
    pins = {name: Pin(len(RIGHT), SOURCE.sha256 or "") for name in ("right", "wrong")}
    folder = replace(SOURCE, file="set", url="http://127.0.0.1:9", sha256=None, parts=pins)
    monkeypatch.setattr(module, "load_sources", lambda: {"set": folder})
    for state in ("downloaded and checked", "already here"):
        assert main(["set", "--to", str(tmp_path), "--from", server]) == 2
        output = capsys.readouterr()
        assert f"{tmp_path}/set/right: {state}" in output.out
        assert f"{server}/wrong: is not the published set/wrong" in output.err
    assert (tmp_path / "set" / "right").read_bytes() == RIGHT
    assert [one.name for one in (tmp_path / "set").iterdir()] == ["right"]


@pytest.mark.parametrize("content", ["- a list", "locomo: {file: x}", "a: [", None])
def test_a_broken_list_of_sources(tmp_path, content):
    path = tmp_path / "sources.yaml"
    if content is not None:
        path.write_text(content)
    with pytest.raises(InputError, match=r"sources\.yaml: "):
        load_sources(path)


def test_what_is_not_pinned_is_downloaded_unchecked_and_its_sha256_printed(
    server, tmp_path, monkeypatch, capsys, said
):
    source = replace(SOURCE, bytes=None, sha256=None)
    monkeypatch.setattr(module, "load_sources", lambda: {"set": source})
    for state in ("downloaded", "already here"):
        out = said(main, "set", "--to", tmp_path, "--from", f"{server}/wrong")
        assert f"{state}, not checked (no sha256 is pinned): sha256 {sha256_of('wrong')}" in out
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "set: size not pinned, a licence" in " ".join(capsys.readouterr().out.split())


def test_what_is_no_file_is_refused_at_once(tmp_path):
    source = load_sources()["locomo"]
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="is a pipe"):
        fetch(source, tmp_path / "to", (tmp_path / "pipe").as_uri())
    (tmp_path / source.file).mkdir()
    with pytest.raises(InputError, match="is a folder"):
        fetch(source, tmp_path)
