"""`python -m memsys.serve` refuses what it must, in one line."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from memsys import serve
from memsys.serve import is_loopback
from tests.memsys.service.rest.serving import KEY, serving


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        *(("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True)),
        *(("0.0.0.0", False), ("::", False), ("192.168.1.5", False), ("example.org", False)),  # noqa: S104
    ],
)
def test_what_only_this_machine_can_reach(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


@pytest.mark.parametrize("key", [None, "", "too-short"])
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "example.org"])  # noqa: S104
def test_beyond_this_machine_it_wants_a_key(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], key: str | None, host: str
) -> None:
    monkeypatch.delenv("MEMSYS_API_KEY", raising=False)
    if key is not None:
        monkeypatch.setenv("MEMSYS_API_KEY", key)
    assert serve.main(["--host", host, "--port", "0"]) == 2
    err = capsys.readouterr().err
    assert err.startswith(
        f"error: --host {host}: can be reached from other machines; set MEMSYS_API_KEY"
    )
    assert err.count("\n") == 1


def test_with_a_key_it_serves_under_any_name(tmp_path: Path) -> None:
    with serving(tmp_path, "--host", "0.0.0.0", key=KEY) as server:  # noqa: S104
        url = server.url.replace("0.0.0.0", "127.0.0.1")  # noqa: S104
        there = type(server)(url, server.process, KEY)
        headers = {"Host": "memories.example"}
        assert there.ask("GET", "/memories?user_id=m", headers=headers).status == 200
        assert type(server)(url, server.process).ask("GET", "/memories?user_id=m").status == 401


def test_a_proxy_s_name_can_be_allowed(tmp_path: Path) -> None:
    with serving(tmp_path, "--allow-host", "Memories.example") as server:
        headers = {"Host": "memories.example"}
        assert server.ask("GET", "/memories?user_id=m", headers=headers).status == 200


def test_wrong_ports_and_configurations_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_help_says_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        serve.main(["--help"])
    assert stop.value.code == 0
    out = capsys.readouterr().out
    for word in ("--config", "--folder", "--host", "--port", "MEMSYS_API_KEY", "/docs", "TLS"):
        assert word in out
