"""Real servers of the registries, where they are installed (docs/mcp.md), and ours."""

import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from baselines.libraries.memory import venv
from baselines.mcp import strategy as module
from baselines.mcp.admission import check, server_of
from baselines.mcp.strategy import Mcp
from memsys.core.errors import InputError
from memsys.core.types import Query
from tests.memsys.build import NOON, ingest_all

pytestmark = [pytest.mark.slow, pytest.mark.soak]

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


@pytest.mark.parametrize("name", REAL)
def test_a_real_server_is_admitted_finds_and_forgets(name, parts, monkeypatch):
    server = server_of(**settings(name))
    monkeypatch.setattr(module, "server_of", lambda **_: server)
    with closing(Mcp(parts(), 3, None)) as strategy:
        ingest_all(strategy)
        query = Query("q", str(REAL[name]["asks"]), "ash", NOON)
        turns = [one.memory.turns for one in strategy.retrieve(query).candidates]
        assert ("D1:4",) in turns
        if name != "mem-learn":  # its answers are no JSON: ids are not known
            assert strategy.forget(["D1:4"]) == 1
            turns = [one.memory.turns for one in strategy.retrieve(query).candidates]
            assert ("D1:4",) not in turns
        else:
            assert strategy.forget(["D1:4"]) is None


def test_a_real_server_with_one_file_for_all_is_not_admitted():
    with pytest.raises(InputError, match="it mixes owners"):
        check(server_of(**settings("server-memory") | {"env": {}}))
