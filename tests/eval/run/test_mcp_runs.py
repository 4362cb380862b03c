"""Runs over servers of the Model Context Protocol, from the command to the manifest."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.eval.commands import PATIENT, runs_in

pytest.importorskip("mcp")
from baselines.mcp import admission
from baselines.mcp.session import OwnerMemory
from tests.baselines.mcp import toy

pytestmark = pytest.mark.slow  # processes of servers
ONE = "dataset.conversations=[ash]"


@pytest.fixture
def pids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file to which each toy writes the number of its process."""
    monkeypatch.setattr(admission, "_ADMITTED", {})
    path = tmp_path / "pids.txt"
    monkeypatch.setenv("TOY_PIDS", str(path))
    return path


def over(kind: str) -> tuple[str, ...]:
    command = f"strategy.command='{sys.executable} {toy.__file__} {kind}'"
    return ("strategy=mcp", command, "strategy.variables=[TOY_PIDS]")


def alive(pids: Path) -> list[int]:
    found = []
    for pid in map(int, pids.read_text().split()):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            continue
        found.append(pid)
    return found


def test_a_crash_costs_its_conversation_and_nothing_is_left(made, pids, monkeypatch):
    search = OwnerMemory.search

    def fatal(self: OwnerMemory, query: str, k: int) -> Any:
        owners.setdefault(self.owner, len(owners))
        return search(self, f"{query} crash" if owners[self.owner] == 0 else query, k)

    owners: dict[str, int] = {}
    monkeypatch.setattr(OwnerMemory, "search", fatal)
    run = made(*over("plain"), *PATIENT, "dataset.conversations=[beech,cedar]")
    assert run.ended.err.count("add: remember") == 1  # shown once
    for record in run.records:
        assert (record["conversation"], record["status"]) in {("beech", "error"), ("cedar", "ok")}
        if record["error"]:
            assert "its last output: the toy is broken" in record["error"]["message"]
    system = run.manifest["system"]
    assert system["server"]["name"] == "toy"
    assert system["tools"]["search"]["name"] == "recall"
    first = next(one for one in run.ingests if one["phase"] == "ingest")
    assert first["events"][0]["tool"] == "remember"
    assert any(turns for record in run.records for _, turns, *_ in record["retrieved"])
    assert len(pids.read_text().split()) == 4
    assert alive(pids) == []


def test_a_server_that_is_not_admitted_ends_the_run_at_once(start, tmp_path, small, pids):
    assert start(*small, *over("plain"), "estimate=true").code == 0
    assert not pids.exists()  # an estimate starts no server
    start(*small, *over("mixing")).refused("the server is not admitted: it mixes owners")
    assert not any((run.folder / "ingest.jsonl").read_text() for run in runs_in(tmp_path))
    assert alive(pids) == []


def test_an_interruption_leaves_no_process(start, small, pids, monkeypatch):
    def interrupted(*_: object) -> None:
        assert alive(pids)
        raise KeyboardInterrupt

    monkeypatch.setattr(OwnerMemory, "search", interrupted)
    assert start(*small, *over("plain"), ONE).code == 130
    assert alive(pids) == []


@contextmanager
def served(kind: str, key: str) -> Iterator[str]:
    """A toy over HTTP that asks for a key, in a thread."""
    import uvicorn  # noqa: PLC0415

    app = toy.Toy(kind).server.streamable_http_app()

    async def asked(scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope.get("headers", ()))
        if scope["type"] == "http" and headers.get(b"authorization") != f"Bearer {key}".encode():
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        await app(scope, receive, send)

    server = uvicorn.Server(uvicorn.Config(asked, port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.05)
        assert thread.is_alive()
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/mcp"
    finally:
        server.should_exit = True
        thread.join(20)


@pytest.mark.usefixtures("pids")
def test_over_http_owners_are_apart_and_the_key_is_not_recorded(start, made, small, monkeypatch):
    key = "v3ry-secret-value"
    with served("owned", key) as url:
        options = ("strategy=mcp", f"strategy.url={url}", "strategy.key_variable=TOY_KEY")
        monkeypatch.setenv("TOY_KEY", "wrong-secret-value")
        assert start(*small, *options, ONE).code == 2
        monkeypatch.setenv("TOY_KEY", key)
        run = made(*options, ONE)
    assert {record["status"] for record in run.records} == {"ok"}
    assert run.manifest["system"]["owners"] == "user_id"
    assert all(turns for record in run.records for _, turns, *_ in record["retrieved"])
    for path in run.folder.rglob("*"):
        assert not path.is_file() or key.encode() not in path.read_bytes()
    assert key not in run.ended.err + run.ended.out
