"""The tools, called by the official client within this process and in one of their own."""

import json
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

from memsys.core.errors import InputError
from memsys.service import __main__ as serve
from memsys.service.mcp import call_tool, make_server
from memsys.service.memory import Memory
from tests.memsys.service.rest.conftest import CONFIG, KEY, PROJECT, Served, serving

VERBS = ("add", "search", "get", "update", "delete")
NAMES = {*(f"{verb}_memory" for verb in VERBS), "memory_context", "list_memories"}


def ask(store: Memory, *calls: tuple[str, dict[str, Any]], user: str | None = None) -> list[Any]:
    """The reply of each call: JSON, or the text of an error."""

    async def run() -> list[Any]:
        replies = []
        async with Client(make_server(store, user)) as client:
            for name, arguments in calls:
                result = await client.call_tool(name, arguments)
                (content,) = result.content
                assert content.type == "text"
                if result.is_error:
                    replies.append(content.text)
                else:
                    assert json.loads(content.text) == result.structured_content
                    replies.append(result.structured_content)
        return replies

    return anyio.run(run)


def add(text: str, user: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return "add_memory", {"text": text, "user_id": user, **more}


def test_what_was_added_comes_back_with_its_metadata_and_time(store):
    note = {"turns": ["D1:3"], "session": 1}
    search = {"query": "moved to Bergen", "user_id": "ana"}
    added, _, found, filtered, listed = ask(
        store,
        add("I moved to Bergen", "ana", metadata=note, time="2023-05-08T13:56:00Z"),
        add("I moved to Bergen again", "ana"),
        ("search_memory", {**search, "limit": 1}),
        ("search_memory", {**search, "filters": {"session": 1}}),
        ("list_memories", {"user_id": "ana", "limit": 1}),
    )
    (stored,) = added["results"]
    time = "2023-05-08T13:56:00Z"
    expected = {"id": stored["id"], "text": "I moved to Bergen", "time": time, "metadata": note}
    assert stored == {**expected, "event": "ADD"}
    assert listed["results"] == [expected]
    (hit,) = found["results"]
    assert hit.pop("score") > 0
    assert hit == expected
    assert [row["id"] for row in filtered["results"]] == [stored["id"]]


def test_a_context_is_one_text_within_a_budget(store):
    first, _, whole, short = ask(
        store,
        add("the ferry was late", "ana", time="2024-03-02T12:00:00Z"),
        add("the kiln is hot", "bob"),
        ("memory_context", {"query": "the ferry", "user_id": "ana"}),
        ("memory_context", {"query": "the ferry", "user_id": "ana", "budget": 3}),
    )
    text = "[2 March 2024, 12:00] the ferry was late\n"
    assert (whole["text"], whole["ids"]) == (text, [first["results"][0]["id"]])
    assert whole["tokens"] > 3
    assert short == {"text": "", "tokens": 0, "ids": []}


def test_owners_are_apart(store):
    (added,) = ask(store, add("the code of the door is blue", "ana"))
    id_ = added["results"][0]["id"]
    bob = {"user_id": "bob"}
    found, listed, *refused = ask(
        store,
        ("search_memory", {"query": "the code of the door", **bob}),
        ("list_memories", bob),
        *((f"{name}_memory", {"id": id_, **bob}) for name in ("get", "delete")),
        ("update_memory", {"id": id_, "text": "changed", **bob}),
    )
    assert found["results"] == listed["results"] == []
    for error in refused:
        assert error.startswith("error: id: ")
        assert ("this user has no such memory" in error, "blue" in error) == (True, False)
    (record,) = store.get_all(user_id="ana")
    assert record.memory == "the code of the door is blue"


def test_update_and_delete_change_one_memory(store):
    added, _ = ask(store, add("I live in Oslo", "ana"), add("I like tea", "ana"))
    one = {"id": added["results"][0]["id"], "user_id": "ana"}
    updated, got, deleted, gone, listed = ask(
        store,
        ("update_memory", {**one, "text": "I live in Bergen", "metadata": {"n": 2}}),
        ("get_memory", one),
        ("delete_memory", one),
        ("get_memory", one),
        ("list_memories", {"user_id": "ana"}),
    )
    assert updated == got
    assert (got["text"], got["metadata"]) == ("I live in Bergen", {"n": 2})
    assert deleted == {"id": one["id"], "event": "DELETE"}
    assert "this user has no such memory" in gone
    assert [row["text"] for row in listed["results"]] == ["I like tea"]


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("nothing", {}, "tool: 'nothing' is none of add_memory, search_memory,"),
        ("add_memory", {"text": "tea"}, "add_memory: user_id: Field required"),
        ("add_memory", {"text": "tea", "user_id": "ana", "userid": "b"}, "add_memory: userid: Ext"),
        ("add_memory", {"text": "tea", "user_id": "ana", "time": "now"}, "time: use RFC 3339, w"),
        ("search_memory", {"query": "a", "user_id": "ana", "limit": 0}, "search_memory: limit: "),
        ("update_memory", {"id": "x", "text": "tea", "user_id": "ana"}, "has no such memory"),
    ],
)
def test_errors_are_one_line_that_the_agent_sees(store, name, arguments, message):
    (error,) = ask(store, (name, arguments))
    assert error.startswith("error: ")
    assert (message in error, "\n" in error) == (True, False)


def test_an_unforeseen_error_tells_nothing_of_itself(store, monkeypatch, caplog):
    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("sk-secret in /home/ana")

    monkeypatch.setattr(store, "search", broken)
    search = "search_memory", {"query": "tea", "user_id": "ana"}
    error, added = ask(store, search, add("I like tea", "ana"))
    assert error == "error: internal error; see the server's log"
    assert "sk-secret" in caplog.text
    assert added["results"]


def test_a_given_user_is_used_where_a_call_names_none(store):
    calls = [("add_memory", {"text": "I like tea"}), ("search_memory", {"query": "tea"})]
    bobs = "search_memory", {"query": "tea", "user_id": "bob"}
    _, mine, others = ask(store, *calls, bobs, user="ana")
    assert [row["text"] for row in mine["results"]] == ["I like tea"]
    assert (others["results"], len(store.get_all(user_id="ana"))) == ([], 1)


@pytest.mark.parametrize("user", [None, "ana"])
def test_every_tool_and_argument_is_described(store, user):
    async def run() -> Any:
        async with Client(make_server(store, user)) as client:
            return (await client.list_tools()).tools

    tools = anyio.run(run)
    assert {tool.name for tool in tools} == NAMES
    for tool in tools:
        schema = tool.input_schema
        assert tool.description
        assert all(one["description"] and one["type"] for one in schema["properties"].values())
        assert ("user_id" in schema["required"]) is (user is None)
        assert schema["properties"]["user_id"].get("default") == user
        changes = tool.name.startswith(("add", "update", "delete"))
        assert tool.annotations.read_only_hint is not changes


def test_too_large_replies_are_refused(store, monkeypatch):
    store.add("I like tea", user_id="ana")
    monkeypatch.setattr("memsys.service.rest.schemas.REPLY_MOST", 5)
    with pytest.raises(InputError, match="limit: the results have over 5 characters"):
        call_tool(store, "list_memories", {"user_id": "ana"})


def test_an_agent_over_stdio(tmp_path):
    (tmp_path / "config.yaml").write_text(CONFIG, encoding="utf-8")
    files = "--config", str(tmp_path / "config.yaml"), "--folder", str(tmp_path / "memories")
    arguments = ["-m", "eval", "serve", "--mcp", "--user", "ana", *files]
    environment = {**os.environ, "PYTHONPATH": str(PROJECT), "MEMSYS_TRUSTED": "tests.memsys.build"}
    parameters = StdioServerParameters(command=sys.executable, args=arguments, env=environment)
    search = {"query": "moved to Bergen"}
    calls = [
        ("add_memory", {"text": "I moved to Bergen", "metadata": {"n": 1}}),
        *(("search_memory", search), ("search_memory", {**search, "user_id": "bob"})),
        ("get_memory", {"id": "x"}),
    ]

    async def run() -> list[Any]:
        async with Client(stdio_client(parameters)) as client:
            return [await client.call_tool(*one) for one in calls]

    _, mine, others, refused = anyio.run(run)
    (row,) = mine.structured_content["results"]
    assert (row["text"], row["metadata"]) == ("I moved to Bergen", {"n": 1})
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
    monkeypatch.setattr("memsys.core.errors.find_spec", lambda _: None)
    for arguments in (["--mcp"], ["--mcp", "--port", "0"]):
        assert serve.main(arguments) == 2
        err = capsys.readouterr().err
        assert err == "error: serve: mcp is not installed; pip install -e '.[mcp]'\n"
