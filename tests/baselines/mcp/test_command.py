"""`python -m baselines.mcp`: tools, choice and admission, without a run."""

from __future__ import annotations

import pytest

from baselines.mcp import __main__ as command
from tests.baselines.mcp.conftest import server_of


@pytest.mark.parametrize(("kind", "code"), [("owned", 0), ("mixing", 2)])
def test_it_lists_the_tools_and_says_whether_the_server_is_admitted(
    kind: str, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "server_of", lambda **_: server_of(kind))
    assert command.main(["--command", "toy", "--env", "A=b"]) == code
    out, err = capsys.readouterr()
    assert "  search_memory(query, user_id, limit?); search: 4 points: search +3, memory +1" in out
    assert 'add: add_memory {"text": "{text}", "user_id": "{owner}"' in out
    assert ("Admitted" in out) == (code == 0)
    assert ("not admitted: it mixes owners" in err) == (code == 2)


def test_a_wrong_argument_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--command", "ls", "--env", "A"]) == 2
    assert command.main(["--command", "ls", "--add-arguments", "{"]) == 2
    err = capsys.readouterr().err.splitlines()
    assert "--env: 'A'; write NAME=VALUE" in err[0]
    assert "--add-arguments: " in err[1]
