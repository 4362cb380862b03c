"""The strategy over a toy: evidence, faults, costs and forgetting."""

import os
import select
import time
from contextlib import closing
from types import SimpleNamespace

import pytest

from baselines.libraries.pipe import LibraryError
from baselines.mcp.admission import check
from baselines.mcp.admission import server_of as from_settings
from baselines.mcp.connection import Command, Connection
from baselines.mcp.session import OwnerMemory
from memsys.core.errors import InputError
from memsys.core.types import Memory, Query
from memsys.service.mcp import make_server
from tests.baselines.mcp import conftest
from tests.baselines.mcp.conftest import rows_at, server_of, toys_of
from tests.memsys.build import NOON, SESSIONS, ingest_all, session
from tests.memsys.contract import LoggingTurns
from tests.memsys.service.made import memory as opened_memory


def query(text: str) -> Query:
    return Query("q", text, "ash", NOON)


@pytest.mark.parametrize("kind", ["owned", "plain"])
def test_results_are_the_memories_that_were_stored(kind, mcp_of, parts):
    strategy = mcp_of(server_of(kind), parts())
    assert strategy.retrieve(query("tomato")).candidates == ()  # nothing started
    assert [strategy.ingest(one) for one in SESSIONS] == [len(one.turns) for one in SESSIONS]
    found = strategy.retrieve(query("Did two tomato seedlings survive?"))
    assert [one.memory.turns for one in found.candidates[:2]] == [("D1:3",), ("D1:4",)]
    assert "Only two tomato seedlings did." in found.context
    (cost,) = found.trace["mcp"].values()
    assert cost["calls"] == 1
    assert cost["sent"] > 40
    assert cost["received"] > 100
    assert strategy.retrieve(query("zzz")).candidates == ()
    assert strategy.size() == {"memories": sum(len(one.turns) for one in SESSIONS)}
    assert [one["calls"] for one in strategy.events] == [len(one.turns) for one in SESSIONS]
    assert strategy.details["server"]["name"] == "toy"


def test_what_the_memory_option_logs_is_beside_the_costs_of_the_server(mcp_of, parts):
    strategy = ingest_all(mcp_of(server_of("plain"), parts(memory=LoggingTurns("turns"))))
    assert [one["step"] for one in strategy.events] == ["split", "mcp"] * len(SESSIONS)


def test_our_own_server_is_admitted_finds_and_forgets(mcp_of, parts, tmp_path, monkeypatch):
    with opened_memory(tmp_path) as memory:
        ours = SimpleNamespace(server=make_server(memory))
        monkeypatch.setattr(conftest, "Toy", lambda _: ours)
        strategy = ingest_all(mcp_of(server_of("memsys"), parts()))
        asked = query("Did two tomato seedlings survive?")
        assert ("D1:4",) in [one.memory.turns for one in strategy.retrieve(asked).candidates]
        assert strategy.forget(["D1:4"]) == 1
        assert ("D1:4",) not in [one.memory.turns for one in strategy.retrieve(asked).candidates]


def test_an_error_of_the_server_costs_the_session_or_the_question(mcp_of, parts):
    strategy = mcp_of(server_of("plain"), parts())
    with pytest.raises(LibraryError, match=r"remember: .*the toy refuses this"):
        strategy.ingest(session(1, NOON, ("Ada", "Please refuse.")))
    assert strategy.events[0]["failed"] == 1
    twin = ("Ada", "I have a twin.")  # declined as a duplicate, which is no error
    assert strategy.ingest(session(2, NOON, twin, ("Ada", "I sing."))) == 1
    with pytest.raises(LibraryError, match=r"recall: .*the toy refuses this"):
        strategy.retrieve(query("refuse"))
    assert len(strategy.retrieve(query("i sing.")).candidates) == 1


def test_a_server_that_hangs_is_closed_and_later_calls_fail_at_once(mcp_of, parts):
    strategy = mcp_of(server_of("plain"), parts())
    strategy.ingest(session(1, NOON, ("Ada", "I sing.")))
    assert strategy._memory
    strategy._memory._connection._timeout_s = 0.3
    for text in ("hang", "sing"):
        with pytest.raises(LibraryError, match=r"recall: no answer within 0\.3 s; closed"):
            strategy.retrieve(query(text))


def test_the_last_output_of_a_server_that_has_ended_declines_nothing(tmp_path):
    server, stderr = server_of("plain"), tmp_path / "stderr.txt"
    stderr.write_text("table memories already exists", encoding="utf-8")
    with closing(Connection(server.at.open(tmp_path), 20, stderr)) as connection:
        memory = OwnerMemory(connection, check(server).chosen, "ana", "")
        connection._timeout_s = 0.3
        for text in ("hang", "I sing."):
            with pytest.raises(LibraryError, match="already exists"):
                memory.add(Memory("m", text, text, NOON, "Ada", ("D1:1",)))


def test_it_forgets_by_the_ids_that_the_server_gave(mcp_of, parts):
    unable = mcp_of(server_of("plain"), parts())
    unable.ingest(SESSIONS[0])
    assert unable.forget(["D1:3"]) is None  # without a tool that deletes
    server = server_of("owned")
    strategy = mcp_of(server, parts())
    strategy.ingest(SESSIONS[0])
    assert strategy.forget(["D1:3", "D1:4"]) == 2
    assert not [row for row in toys_of(server)[-1].rows if "seedlings" in row["text"]]
    found = strategy.retrieve(query("tomato seedlings")).candidates
    assert not {"D1:3", "D1:4"} & {turn for one in found for turn in one.memory.turns}
    assert strategy.size() == {"memories": 2}


def test_a_server_that_indexes_later_is_waited_for_before_and_after_a_deletion(
    mcp_of, parts, monkeypatch
):
    seen: list[tuple[float, int]] = []
    server = server_of("owned", settle_s=7)
    clock = SimpleNamespace(
        perf_counter=time.perf_counter,
        sleep=lambda seconds: seen.append((seconds, len(toys_of(server)[-1].rows))),
    )
    monkeypatch.setattr("baselines.mcp.session.time", clock)
    strategy = mcp_of(server, parts())
    strategy.ingest(SESSIONS[0])
    seen.clear()  # of the admission
    assert strategy.forget(["D1:4"]) == 1
    assert seen == [(7, 4), (7, 3)]
    strategy.retrieve(query("tomato"))
    assert len(seen) == 2


def test_what_a_run_stores_at_an_address_is_deleted_at_the_end(mcp_of, parts):
    server = server_of("owned", there=True)
    strategy = mcp_of(server, parts())
    strategy.ingest(SESSIONS[0])
    assert {row["user"] for row in rows_at(server)} == {strategy.events[0]["owner"]}
    rows_at(server).append({"id": "x", "text": "Somebody's.", "user": "ana", "metadata": {}})
    strategy.close()
    assert [row["user"] for row in rows_at(server)] == ["ana"]


def test_a_tool_that_deletes_nothing_is_an_error_and_its_leak_is_seen(mcp_of, parts):
    server = server_of("lying")
    strategy = mcp_of(server, parts())
    strategy.ingest(SESSIONS[0])
    with pytest.raises(LibraryError, match=r"remove: .* is still found"):
        strategy.forget(["D1:4"])
    found = strategy.retrieve(query("two tomato seedlings did."))
    assert "Only two tomato seedlings did." in found.context
    assert ("D1:4",) in [one.memory.turns for one in found.candidates]
    toys_of(server)[-1].rows.clear()
    assert strategy.forget(["D1:3"]) == 1  # the answer that nothing was found repeats the query


KEY = "sk-live-0123456789"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "set either strategy.command or strategy.url"),
        ({"command": "no-such-program x"}, "strategy.command: 'no-such-program' is no program"),
        ({"command": "ls 'x"}, "strategy.command: No closing quotation; close"),
        ({"command": "ls", "variables": ["NOT_SET_HERE"]}, "NOT_SET_HERE is not set"),
        ({"url": "ftp://x"}, "strategy.url"),
        ({"command": "ls", "timeout_s": 0}, "strategy.timeout_s"),
        (
            {"command": "ls", "env": {"SOME_API_KEY": KEY}},
            "strategy.env.SOME_API_KEY: looks like a key, which the manifest would record; set it "
            "in your shell, and strategy.variables=[SOME_API_KEY]",
        ),
        ({"command": f"ls --api-key {KEY}"}, "the value of --api-key: looks like a key"),
        ({"command": f"ls --token={KEY}"}, "the value of --token: looks like a key"),
        (
            {"command": "ls", "add_arguments": {"a": [{"apiKey": KEY}]}},
            "strategy.add_arguments.a.apiKey: looks like a key",
        ),
        (
            {"url": "http://127.0.0.1:9", "search_arguments": {"Authorization": f"Bearer {KEY}"}},
            "strategy.search_arguments.Authorization: looks like a key",
        ),
    ],
)
def test_a_wrong_setting_is_one_clear_line_and_no_key_is_repeated(settings, words):
    with pytest.raises(InputError) as raised:
        from_settings(**settings)
    assert words in str(raised.value)
    assert KEY not in str(raised.value)
    # What is no key is accepted.
    env = {"API_KEY": "none", "TLS_KEY": "{folder}/a.pem", "KEY_PATH": "/a/b/c/d"}
    arguments = {"key": "{turn}", "text": "{text}", "kind": "a memory of the run"}
    assert from_settings(command="ls --verbose -x 1", env=env, add_arguments=arguments)


def test_a_server_sees_the_named_variables_and_no_others(tmp_path, monkeypatch):
    monkeypatch.setenv("SHOWN_KEY", KEY)
    monkeypatch.setenv("HIDDEN_KEY", KEY)
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "shell").symlink_to("/bin/sh")
    monkeypatch.chdir(tmp_path)  # a relative path is of our folder, and not of the server's
    command = Command("./shell -c 'env > seen.txt'", {"MORE": "{folder}/x"}, ("SHOWN_KEY",))
    with pytest.raises(LibraryError, match="the start"):
        Connection(command.open(folder), 20)
    lines = (folder / "seen.txt").read_text(encoding="utf-8").splitlines()
    seen = dict(line.split("=", 1) for line in lines if "=" in line)
    assert (seen["SHOWN_KEY"], seen["MORE"]) == (KEY, f"{folder}/x")
    documented = "PATH LANG LC_ALL TMPDIR SSL_CERT_FILE NODE_EXTRA_CA_CERTS USER LOGNAME SHELL TERM"
    ours = "HOME PYTHONNOUSERSITE XDG_DATA_HOME XDG_CONFIG_HOME XDG_STATE_HOME SHOWN_KEY MORE"
    caches = "npm_config_cache NPM_CONFIG_USERCONFIG UV_CACHE_DIR UV_TOOL_DIR"
    of_the_shell = "PWD OLDPWD SHLVL _"
    assert set(seen) <= set(f"{documented} {ours} {caches} {of_the_shell}".split())


def test_a_server_that_exits_by_itself_leaves_no_child(tmp_path):
    fifo = tmp_path / "alive"
    os.mkfifo(fifo)
    reading = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        child = "sleep 30 </dev/null >/dev/null 2>&1 &"
        command = Command(f"sh -c 'exec 3>{fifo}; echo up >&3; {child} exit 3'", {}, ())
        with pytest.raises(LibraryError, match="the start"):
            Connection(command.open(tmp_path), 20)
        assert os.read(reading, 9) == b"up\n"
        assert select.select([reading], [], [], 10)[0], "a child still runs"
        assert os.read(reading, 9) == b""  # the end: no process has it open
    finally:
        os.close(reading)
