"""`python -m eval serve --mcp` in a process of its own, and what it refuses."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from memsys.service import __main__ as serve
from tests.memsys.service.rest.serving import CONFIG, KEY, PROJECT, Served, serving


def test_an_agent_over_stdio(tmp_path):
    (tmp_path / "config.yaml").write_text(CONFIG, encoding="utf-8")
    arguments = ["-m", "eval", "serve", "--mcp", "--user", "ana"]
    arguments += ["--folder", str(tmp_path / "memories")]
    environment = {**os.environ, "PYTHONPATH": str(PROJECT), "MEMSYS_TRUSTED": "tests.memsys.build"}
    parameters = StdioServerParameters(
        command=sys.executable,
        args=[*arguments, "--config", str(tmp_path / "config.yaml")],
        env=environment,
    )

    async def run() -> list[Any]:
        async with Client(stdio_client(parameters)) as client:
            await client.call_tool(
                "add_memory", {"text": "I moved to Bergen", "metadata": {"n": 1}}
            )
            search = {"query": "moved to Bergen"}
            return [
                await client.call_tool("search_memory", search),
                await client.call_tool("search_memory", {**search, "user_id": "bob"}),
                await client.call_tool("get_memory", {"id": "x"}),
            ]

    mine, others, refused = anyio.run(run)
    assert [(row["text"], row["metadata"]) for row in mine.structured_content["results"]] == [
        ("I moved to Bergen", {"n": 1})
    ]
    assert others.structured_content["results"] == []
    assert refused.is_error


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("http"), "--mcp", key=KEY) as server:
        url = server.url.split("/mcp")[0]
        yield Served(url, server.process, KEY)


def test_an_agent_over_http_sends_the_key(served):
    async def run() -> Any:
        headers = {"Authorization": f"Bearer {KEY}"}
        async with create_mcp_http_client(headers=headers) as http:
            transport = streamable_http_client(f"{served.url}/mcp", http_client=http)
            async with Client(transport) as client:
                await client.call_tool("add_memory", {"text": "I like tea", "user_id": "ana"})
                return await client.call_tool("list_memories", {"user_id": "ana"})

    listed = anyio.run(run)
    assert [row["text"] for row in listed.structured_content["results"]] == ["I like tea"]


def test_the_rules_of_access_are_those_of_rest(served):
    for headers, status in (({"X-API-Key": "another"}, 401), ({"Host": "memories.example"}, 403)):
        answer = served.ask("POST", "/mcp", {"jsonrpc": "2.0"}, headers)
        assert answer.status == status
        assert KEY not in str(answer.body)


def test_without_the_extra_one_line_names_it(monkeypatch, capsys):
    monkeypatch.setattr(serve, "find_spec", lambda _: None)
    for arguments in (["--mcp"], ["--mcp", "--port", "0"]):
        assert serve.main(arguments) == 2
        err = capsys.readouterr().err
        assert err == "error: mcp is not installed; pip install -e '.[mcp]'\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--mcp", "--host", "127.0.0.1"], "--mcp: --host and --allow-host need --port"),
        (["--user", "ana"], "--user: needs --mcp"),
        (["--mcp", "--user", ""], "--user: user_id: String should have at least 1"),
        (["--mcp", "--port", "0", "--host", "0.0.0.0"], "set MEMSYS_API_KEY"),  # noqa: S104
    ],
)
def test_wrong_arguments_are_one_line(arguments, said, monkeypatch, tmp_path, capsys):
    monkeypatch.delenv("MEMSYS_API_KEY", raising=False)
    monkeypatch.chdir(tmp_path)
    assert serve.main(arguments) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.startswith("error: ")
    assert err.count("\n") == 1
