"""Whatever the process at the other end does, a request ends: with a reply or an error."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from baselines.libraries import pipe as module
from baselines.libraries.gateway import GatewayRequest
from baselines.libraries.pipe import LibraryError, Pipe

SCRIPT = Path(__file__).parent / "misbehaving.py"


@pytest.fixture
def pipe(tmp_path: Path) -> Iterator[Pipe]:
    made = Pipe("lib", [sys.executable, SCRIPT], tmp_path, timeout_s=60)
    yield made
    made.close()


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


def test_one_reply_for_each_request(pipe: Pipe) -> None:
    assert [ask(pipe, "reply")["id"] for _ in range(3)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("do", "message"),
    [
        ("crash", "code 7; its last output: the disk is full"),
        ("garbage", "not a JSON object: b'loading model"),
        ("list", "not a JSON object"),
        ("other", "a different request"),
        ("half", "cut off"),
    ],
)
def test_a_broken_process_fails_this_request_and_all_later_ones(
    pipe: Pipe, do: str, message: str
) -> None:
    ask(pipe, "reply")
    with pytest.raises(LibraryError, match=f"^lib: .*{message}"):
        ask(pipe, do)
    with pytest.raises(LibraryError, match=message):
        ask(pipe, "reply")


def test_an_error_of_one_request_is_not_the_end(pipe: Pipe) -> None:
    with pytest.raises(LibraryError, match="lib: ValueError: no such thing"):
        ask(pipe, "error")
    assert ask(pipe, "reply")["id"] == 2


def test_silence_ends_with_its_children(tmp_path: Path) -> None:
    pipe = Pipe("lib", [sys.executable, SCRIPT], tmp_path, timeout_s=6)
    child = ask(pipe, "child")["child"]
    assert is_alive(child)
    with pytest.raises(LibraryError, match=r"no answer within 6 s; killed"):
        ask(pipe, "hang")
    assert ends(child)
    pipe.close()


def test_a_line_without_an_end_is_not_read_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST_BYTES", 10_000)
    pipe = Pipe("lib", [sys.executable, SCRIPT], tmp_path, timeout_s=60)
    assert len(ask(pipe, "huge", bytes=9_000)["text"]) == 9_000
    with pytest.raises(LibraryError, match="longer than 10000 bytes"):
        ask(pipe, "huge", bytes=11_000)
    pipe.close()


def test_a_long_request_and_a_long_reply_pass(pipe: Pipe) -> None:
    long = "é" * 300_000
    assert len(ask(pipe, "huge", bytes=2_000_000, more=long)["text"]) == 2_000_000


def test_a_process_that_does_not_read_cannot_block(tmp_path: Path) -> None:
    pipe = Pipe("lib", [sys.executable, SCRIPT], tmp_path, timeout_s=6)
    ask(pipe, "deaf")
    with pytest.raises(LibraryError, match="no answer within 6 s"):
        ask(pipe, "reply", more="x" * 1_000_000)
    pipe.close()


def test_no_key_and_no_proxy_go_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-distinctive")
    monkeypatch.setenv("HTTPS_PROXY", "http://192.0.2.1")
    pipe = Pipe("lib", [sys.executable, SCRIPT], tmp_path, timeout_s=60)
    found = ask(pipe, "reply")["env"]
    assert "sk-distinctive" not in str(found)
    assert not {"OPENAI_API_KEY", "HTTPS_PROXY"} & set(found)
    assert found["HOME"] == str(tmp_path)
    pipe.close()


def test_time_of_calls_to_models_is_not_the_library_s(tmp_path: Path) -> None:
    pipe = Pipe("lib", [sys.executable, SCRIPT], tmp_path, timeout_s=6)
    served = []

    def slow(job: GatewayRequest) -> None:
        served.append(job.path)
        time.sleep(7)

    pipe.inbox.put(GatewayRequest("/embeddings", {}))
    assert pipe.request({"do": "sleep", "seconds": 8}, slow)["id"] == 1
    assert served == ["/embeddings"]
    pipe.close()


def test_what_ends_the_run_ends_the_process(pipe: Pipe) -> None:
    def stop(job: GatewayRequest) -> None:
        raise KeyboardInterrupt

    child = ask(pipe, "child")["child"]
    pipe.inbox.put(GatewayRequest("/embeddings", {}))
    with pytest.raises(KeyboardInterrupt):
        pipe.request({"do": "hang"}, stop)
    assert ends(child)


def test_closing_refuses_what_waits_and_leaves_no_process(pipe: Pipe) -> None:
    child = ask(pipe, "child")["child"]
    waiting = GatewayRequest("/embeddings", {})
    pipe.inbox.put(waiting)
    pipe.close()
    assert waiting.reply.result(0)[0] == 503
    assert ends(child)
    with pytest.raises(LibraryError, match="closed"):
        ask(pipe, "reply")


def test_a_forgotten_pipe_leaves_no_process(tmp_path: Path) -> None:
    pipe = Pipe("lib", [sys.executable, SCRIPT], tmp_path, timeout_s=60)
    child = ask(pipe, "child")["child"]
    del pipe
    assert ends(child)


def test_no_interpreter_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LibraryError, match="cannot be started"):
        Pipe("lib", [tmp_path / "python"], tmp_path, timeout_s=60)
