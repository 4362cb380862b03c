"""`python -m eval serve` refuses what it must, in one line."""

from __future__ import annotations

import socket
from typing import Any

import pytest
import uvicorn

from memsys.service import __main__ as serve
from memsys.service.__main__ import is_loopback
from tests.memsys.service.rest.serving import CONFIG, KEY, ask


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        *(("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True)),
        *(("0.0.0.0", False), ("::", False), ("192.168.1.5", False), ("example.org", False)),  # noqa: S104
    ],
)
def test_what_only_this_machine_can_reach(host, expected):
    assert is_loopback(host) is expected


@pytest.mark.parametrize("key", [None, "", "too-short"])
@pytest.mark.parametrize("host", ["0.0.0.0", "example.org"])  # noqa: S104
def test_beyond_this_machine_it_wants_a_key(monkeypatch, capsys, key, host):
    monkeypatch.delenv("MEMSYS_API_KEY", raising=False)
    if key is not None:
        monkeypatch.setenv("MEMSYS_API_KEY", key)
    assert serve.main(["--host", host, "--port", "0"]) == 2
    err = capsys.readouterr().err
    assert err.startswith(
        f"error: --host {host}: can be reached from other machines; set MEMSYS_API_KEY"
    )
    assert err.count("\n") == 1


@pytest.mark.parametrize("key", [" " * 20, f"\t{KEY}"])
def test_a_key_that_no_request_could_send_is_refused(monkeypatch, capsys, key):
    monkeypatch.setenv("MEMSYS_API_KEY", key)
    assert serve.main(["--port", "0"]) == 2
    assert capsys.readouterr().err == (
        "error: MEMSYS_API_KEY: begins or ends with a blank, which no header can; remove it\n"
    )


def test_a_file_that_is_no_configuration_is_not_shown(tmp_path, capsys):
    (tmp_path / "passwd").write_text("secret:x:0:0\n")
    given = ["--config", str(tmp_path / "passwd"), "--folder", str(tmp_path / "memories")]
    assert serve.main(["--port", "0", *given]) == 2
    err = capsys.readouterr().err
    assert "passwd: no configuration; name a run, or a file that ends in .yaml" in err
    assert "secret" not in err


@pytest.mark.parametrize(
    ("arguments", "key"),
    [(["--host", "0.0.0.0"], KEY), (["--allow-host", "Memories.example"], None)],  # noqa: S104
    ids=["with a key, under any name", "under the name of a proxy"],
)
def test_which_names_it_serves_under(tmp_path, monkeypatch, arguments, key):
    told = []

    def asked(server: uvicorn.Server, sockets: Any) -> None:
        """In place of the server's loop: within this process, while the memory is open."""
        (listening,) = sockets
        assert listening.getsockname()[0] == ("0.0.0.0" if key else "127.0.0.1")  # noqa: S104
        named, other = {"Host": "memories.example"}, {"Host": "other.example"}
        told.extend(
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
    assert told == ([200, 401, 401] if key else [200, 200, 403])


def test_wrong_ports_and_configurations_are_one_line(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        for arguments, message in (
            (["--port", "70000"], "--port 70000: use 0 to 65535"),
            (["--port", port], f"--port {port}: cannot be used"),
            (["--port", "0", "--config", "nowhere"], "nowhere: no such run"),
        ):
            assert serve.main(arguments) == 2
            err = capsys.readouterr().err
            assert message in err
            assert err.startswith("error: ")
            assert err.count("\n") == 1
