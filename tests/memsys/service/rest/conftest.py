"""The real server in a process of its own, its application within this one, and clients of both.
The tests of a process share one server, without memories at the beginning of each.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

import pytest
from fastapi.testclient import TestClient

from memsys.service.memory import Memory
from memsys.service.rest.access import AccessPolicy
from memsys.service.rest.app import make_app

PROJECT = Path(__file__).parents[4]
KEY = "a-key-of-the-tests-0123456789"
CONFIG = "embedder: {_target_: tests.memsys.build.BagOfWords}\n"
_OPENER = build_opener(ProxyHandler({}))


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True)
class Served:
    """A server under `url`, in `process`."""

    url: str
    process: subprocess.Popen[str]
    key: str | None = None

    def ask(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        data = body if isinstance(body, bytes) else None
        sent = {**({"X-API-Key": self.key} if self.key else {}), **(headers or {})}
        if body is not None and data is None:
            data = json.dumps(body).encode()
        if data is not None:
            sent = {"Content-Type": "application/json", **sent}
        request = Request(self.url + path, data, sent, method=method)  # noqa: S310 - loopback
        try:
            with _OPENER.open(request, timeout=30) as reply:
                return Answer(reply.status, dict(reply.headers), _read(reply))
        except HTTPError as error:
            with error:
                return Answer(error.code, dict(error.headers), _read(error))


def _read(reply: Any) -> Any:
    text = reply.read().decode()
    return json.loads(text) if reply.headers.get_content_type() == "application/json" else text


@contextmanager
def serving(
    folder: Path, *arguments: str, key: str | None = None, config: str | None = CONFIG
) -> Iterator[Served]:
    """`python -m eval serve` on a free port of the loopback address; `config` is YAML."""
    folder.mkdir(parents=True, exist_ok=True)
    given = []
    if config is not None:
        (folder / "config.yaml").write_text(config, encoding="utf-8")
        given = ["--config", str(folder / "config.yaml")]
    environment = {**os.environ, "PYTHONPATH": str(PROJECT), "MEMSYS_TRUSTED": "tests.memsys.build"}
    environment.pop("MEMSYS_API_KEY", None)
    if key is not None:
        environment["MEMSYS_API_KEY"] = key
    command = [sys.executable, "-m", "eval", "serve", "--folder", str(folder / "memories")]
    with (
        (folder / "server.log").open("w") as log,
        subprocess.Popen(
            [*command, "--port", "0", *given, *arguments],
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=log,
        ) as process,
    ):
        try:
            output = process.stdout.readline()
            assert output, (folder / "server.log").read_text()
            yield Served(output.split("/docs")[0], process, key)
        finally:
            process.kill()


def ask(
    app: Any, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
) -> Answer:
    """Send a request; `app`: a memory without rules of access, or an application."""
    if isinstance(app, Memory):
        app = make_app(app, AccessPolicy(None, None))
    client = TestClient(app, raise_server_exceptions=False)
    reply = client.request(method, path, json=body, headers=dict(headers or {}))
    return Answer(reply.status_code, dict(reply.headers), reply.json())


@pytest.fixture(scope="package")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="package")
def running(folder: Path) -> Iterator[Served]:
    with serving(folder) as server:
        yield server


@pytest.fixture
def server(running: Served) -> Served:
    assert running.ask("POST", "/reset", {"all": True}).status == 200
    return running
