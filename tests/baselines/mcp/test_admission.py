"""Servers are admitted on probes: toys, and real ones where they are installed (docs/mcp.md)."""

import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from baselines.libraries.memory import venv
from baselines.libraries.pipe import LibraryError
from baselines.mcp import __main__ as command
from baselines.mcp.admission import admit, check
from baselines.mcp.admission import server_of as from_settings
from baselines.mcp.arguments import fill
from baselines.mcp.connection import Connection
from memsys.core.errors import InputError
from memsys.core.types import Query
from tests.baselines.mcp.conftest import rows_at, server_of, toys_of
from tests.baselines.mcp.toy import SHARED, Toy
from tests.memsys.build import NOON, ingest_all


@pytest.mark.parametrize(("kind", "owners"), [("owned", "user_id"), ("plain", "process")])
def test_a_good_server_is_admitted_and_nothing_is_left(kind, owners):
    server, lines = server_of(kind), []
    admission = check(server, lines.append)
    assert admission.chosen.owners == owners
    checks = ["what was added comes back", "owners are apart", "an unknown query is no error"]
    assert admission.checks == checks
    assert lines[0].startswith("toy 1.2 ")
    assert [line.split()[0] for line in lines[1:]] == ["add:", "search:", "delete:", "owners:"]
    if kind == "owned":
        assert [toy.rows for toy in toys_of(server)] == [[]]
    details = admission.as_json()
    assert details["server"]["version"] == "1.2"
    assert len(details["tools"]["add"]["schema_sha256"]) == 64


def test_a_server_that_ignores_the_owner_is_not_admitted():
    server = server_of("mixing")
    with pytest.raises(InputError, match=r"not admitted: it mixes owners: .* user_id differs"):
        check(server)
    assert toys_of(server)[0].rows == []
    assert check(server_of("mixing", owners="process")).chosen.owners == "process"


def test_processes_that_write_to_one_place_are_not_admitted():
    try:
        with pytest.raises(InputError, match=r"mixes owners: .* strategy\.env\.NAME=\{folder\}"):
            check(server_of("elsewhere"))
    finally:
        SHARED.clear()


@pytest.mark.parametrize(
    ("kind", "there", "words"),
    [
        ("silent", False, "what was added does not come back: the first of 1 results is "),
        ("ambiguous", False, "strategy.add_tool: remember and store fit equally well; name one"),
        ("plain", True, "neither tool has an argument for the owner, and one address is one"),
    ],
)
def test_one_line_says_why_a_server_is_not_admitted(kind, there, words):
    with pytest.raises(InputError) as raised:
        check(server_of(kind, there=there))
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def test_probes_that_an_address_does_not_delete_are_noted(monkeypatch):
    async def nothing(self: Toy, memory_id: str, user_id: str) -> str:
        return f"deleted {memory_id} of {user_id}"

    monkeypatch.setattr(Toy, "delete_memory", nothing)
    server = server_of("owned", there=True)
    admission = check(server)
    note = admission.checks[-1]
    assert admission.chosen.owners == "user_id"
    assert note.startswith("2 of 2 probes may remain, of owners memsys-probe-")
    assert all(row["user"] in note for row in rows_at(server))
    assert check(server_of("owned")).checks[-1] == "an unknown query is no error"


def test_a_server_is_checked_once():
    server = server_of("plain")
    assert admit(server) is admit(server)
    assert len(toys_of(server)) == 2
    assert fill(admit(server).nothing, {"query": "tea"}) == "No memories found for 'tea'"


def test_a_server_that_cannot_start_says_so_at_once_and_a_slow_one_is_closed():
    def broken() -> object:
        raise OSError("no such place")

    @asynccontextmanager
    async def silent():
        await anyio.sleep_forever()
        yield

    with pytest.raises(LibraryError, match="the start: no such place"):
        Connection(broken, 60)
    with pytest.raises(LibraryError, match=r"the start: no answer within 0\.05 s; closed"):
        Connection(silent, 0.05)


@pytest.mark.parametrize(("kind", "code"), [("owned", 0), ("mixing", 2)])
def test_it_lists_the_tools_and_says_whether_the_server_is_admitted(
    kind, code, monkeypatch, capsys
):
    monkeypatch.setattr(command, "server_of", lambda **_: server_of(kind))
    assert command.main(["--command", "toy", "--env", "A=b"]) == code
    out, err = capsys.readouterr()
    assert "  search_memory(query, user_id, limit?); search: 4 points: search +3, memory +1" in out
    assert 'add: add_memory {"text": "{text}", "user_id": "{owner}"' in out
    assert ("Admitted" in out) == (code == 0)
    assert ("not admitted: it mixes owners" in err) == (code == 2)


@pytest.mark.parametrize(
    ("option", "value", "reason"),
    [
        *(("--env", value, "write NAME=VALUE\n") for value in ("A", "=x")),
        ("--add-arguments", "{", "(char 1); write a JSON object"),
        ("--search-arguments", "[1]", "write a JSON object"),
    ],
)
def test_a_wrong_argument_is_named(option, value, reason, capsys):
    with pytest.raises(SystemExit, match="2"):
        command.main(["--command", "ls", option, value])
    error = capsys.readouterr().err
    assert f"argument {option}: " in error
    assert reason in error


NODE = venv("node") / "node_modules" / ".bin"
REAL = {
    "mem-learn": {
        "command": f"{venv('mem-learn')}/bin/python -m mem_learn",
        "env": {"MEMORY_DB_PATH": "{folder}/memory.db"},
        "asks": "Which seedlings?",
    },
    "server-memory": {
        "command": str(NODE / "mcp-server-memory"),
        "env": {"MEMORY_FILE_PATH": "{folder}/memory.json"},
        "asks": "two tomato seedlings",
    },
    "mcp-memory-libsql": {
        "command": str(NODE / "mcp-memory-libsql"),
        "env": {"LIBSQL_URL": "file:{folder}/memory.db"},
        "asks": "two tomato seedlings",
    },
    "memsys serve": {
        "command": f"{sys.executable} -m eval serve --mcp",
        "asks": "Did two tomato seedlings survive?",
    },
}


def settings(name: str) -> dict[str, Any]:
    chosen = {key: value for key, value in REAL[name].items() if key != "asks"}
    if not Path(chosen["command"].split()[0]).exists():
        pytest.skip(f"{name} is not installed: see docs/mcp.md")
    return {**chosen, "timeout_s": 120}


@pytest.mark.slow
@pytest.mark.soak
@pytest.mark.parametrize("name", REAL)
def test_a_real_server_is_admitted_finds_and_forgets(name, parts, mcp_of):
    strategy = ingest_all(mcp_of(from_settings(**settings(name)), parts()))
    query = Query("q", str(REAL[name]["asks"]), "ash", NOON)
    turns = [one.memory.turns for one in strategy.retrieve(query).candidates]
    assert ("D1:4",) in turns
    if name != "mem-learn":  # its answers are no JSON: ids are not known
        assert strategy.forget(["D1:4"]) == 1
        turns = [one.memory.turns for one in strategy.retrieve(query).candidates]
        assert ("D1:4",) not in turns
    else:
        assert strategy.forget(["D1:4"]) is None


@pytest.mark.slow
@pytest.mark.soak
def test_a_real_server_with_one_file_for_all_is_not_admitted():
    with pytest.raises(InputError, match="it mixes owners"):
        check(from_settings(**settings("server-memory") | {"env": {}}))
