"""Whatever the process at the other end does, a request ends: with a reply or an error."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from baselines.libraries import pipe as module
from baselines.libraries.memory import HERE
from baselines.libraries.pipe import GatewayRequest, LibraryError, Pipe

SCRIPT = Path(__file__).parent / "misbehaving.py"


@pytest.fixture
def pipe(tmp_path: Path) -> Iterator[Pipe]:
    with opened(tmp_path) as made:
        yield made


@contextmanager
def opened(folder: Path) -> Iterator[Pipe]:
    with closing(Pipe("lib", [sys.executable, SCRIPT], folder, timeout_s=60)) as made:
        yield made


def never(job: GatewayRequest) -> None:
    raise AssertionError("no call was expected")


def ask(pipe: Pipe, do: str, **more: Any) -> Any:
    return pipe.request({"do": do, **more}, never)


def is_alive(pid: int) -> bool:
    path = Path(f"/proc/{pid}/stat")
    with suppress(OSError):
        return path.read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def ends(pid: int) -> bool:
    """Whether the process ends; a killed one needs a moment to die."""
    deadline = time.monotonic() + 30
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not is_alive(pid)


@pytest.mark.parametrize(
    ("do", "message"),
    [
        ("crash", "code 7; its last output: the disk is full"),
        ("garbage", "not a JSON object, .*: b'loading model"),
        ("list", "not a JSON object"),
        ("other", "a different request"),
        ("half", "cut off"),
    ],
)
def test_a_broken_process_fails_this_request_and_all_later_ones(pipe, do, message):
    ask(pipe, "reply")
    with pytest.raises(LibraryError, match=f"^lib: .*{message}"):
        ask(pipe, do)
    with pytest.raises(LibraryError, match=message):
        ask(pipe, "reply")


def test_silence_ends_with_its_children(pipe):
    child = ask(pipe, "child")["child"]
    assert is_alive(child)
    pipe._timeout_s = 0.3  # the process has started
    with pytest.raises(LibraryError, match=r"no answer within 0\.3 s; killed"):
        ask(pipe, "hang")
    assert ends(child)


def test_a_line_without_an_end_is_not_read_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_MOST_BYTES", 10_000)
    with opened(tmp_path) as pipe:
        assert len(ask(pipe, "huge", bytes=9_000)["text"]) == 9_000
        with pytest.raises(LibraryError, match="longer than 10000 bytes"):
            ask(pipe, "huge", bytes=11_000)


def test_each_request_has_one_reply_also_a_long_one_and_after_an_error(pipe):
    long = "é" * 300_000
    assert len(ask(pipe, "huge", bytes=2_000_000, more=long)["text"]) == 2_000_000
    with pytest.raises(LibraryError, match="lib: ValueError: no such thing"):
        ask(pipe, "error")
    assert [ask(pipe, "reply")["id"] for _ in range(2)] == [3, 4]


def test_a_process_that_does_not_read_cannot_block(pipe):
    ask(pipe, "deaf")
    pipe._timeout_s = 0.3
    with pytest.raises(LibraryError, match=r"no answer within 0\.3 s"):
        ask(pipe, "reply", more="x" * 1_000_000)


def test_no_key_and_no_proxy_go_along(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-distinctive")
    monkeypatch.setenv("HTTPS_PROXY", "http://192.0.2.1")
    with opened(tmp_path) as pipe:
        found = ask(pipe, "reply")["env"]
    assert "sk-distinctive" not in str(found)
    assert not {"OPENAI_API_KEY", "HTTPS_PROXY"} & set(found)
    assert found["HOME"] == str(tmp_path)


def test_time_of_calls_to_models_is_not_the_library_s(pipe, monkeypatch):
    now = 0.0
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now))

    def slow(job: GatewayRequest) -> None:
        nonlocal now
        assert job.path == "/embeddings"
        now += 61  # longer than a library may be silent

    pipe.inbox.put(GatewayRequest("/embeddings", {}))
    assert pipe.request({"do": "sleep", "seconds": 0.2}, slow)["id"] == 1
    assert now == 61


def test_what_ends_the_run_ends_the_process(pipe):
    def stop(job: GatewayRequest) -> None:
        raise KeyboardInterrupt

    child = ask(pipe, "child")["child"]
    pipe.inbox.put(GatewayRequest("/embeddings", {}))
    with pytest.raises(KeyboardInterrupt):
        pipe.request({"do": "hang"}, stop)
    assert ends(child)


def test_a_line_for_an_ended_process_reaches_no_other(tmp_path, monkeypatch):
    write, may, done = os.write, threading.Event(), threading.Event()

    def late(descriptor: int, line: bytes) -> int:
        if b"hang" not in line:
            return write(descriptor, line)
        may.wait(60)
        try:
            return write(descriptor, line)
        finally:
            done.set()

    def stop(job: GatewayRequest) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module.os, "write", late)
    with opened(tmp_path) as ended:
        ended.inbox.put(GatewayRequest("/embeddings", {}))
        with pytest.raises(KeyboardInterrupt):
            ended.request({"do": "hang"}, stop)
        with opened(tmp_path) as other:
            may.set()
            assert done.wait(60)
            assert ask(other, "reply")["id"] == 1


def test_closing_refuses_what_waits_and_leaves_no_process(pipe):
    child = ask(pipe, "child")["child"]
    waiting = GatewayRequest("/embeddings", {})
    pipe.inbox.put(waiting)
    pipe.close()
    assert waiting.reply.result(0)[0] == 503
    assert ends(child)
    with pytest.raises(LibraryError, match="closed"):
        ask(pipe, "reply")


def test_a_forgotten_pipe_leaves_no_process_and_no_interpreter_is_an_error(tmp_path):
    pipe = Pipe("lib", [sys.executable, SCRIPT], tmp_path, timeout_s=60)
    child = ask(pipe, "child")["child"]
    del pipe
    assert ends(child)
    with pytest.raises(LibraryError, match="cannot be started"):
        Pipe("lib", [tmp_path / "python"], tmp_path, timeout_s=60)


@pytest.mark.parametrize("busy", [True, False])
def test_a_library_ends_its_own_server_when_nobody_is_left(tmp_path, busy):
    adapter = SCRIPT.with_name("keeper.py")
    command = [sys.executable, HERE / "adapters" / "serve.py", adapter]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=tmp_path, **pipes, stderr=subprocess.DEVNULL) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps({"id": 1, "op": "start", "child": True}).encode() + b"\n")
        process.stdin.flush()
        child = json.loads(process.stdout.readline())["version"]
        assert is_alive(child)
        if busy:
            items = [{"messages": [{"text": "wait"}], "about": {"time": "2023-05-01"}}]
            process.stdin.write(json.dumps({"id": 2, "op": "add", "items": items}).encode() + b"\n")
        process.stdin.close()
        process.stdout.close()
        process.wait(10)
    assert ends(child)
