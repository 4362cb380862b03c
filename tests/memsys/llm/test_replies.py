"""Replies of servers: none gives a traceback, a hang or an answer that is none."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from memsys.llm import network
from memsys.llm.base import InstructedLLM, LLMError, Tool
from memsys.llm.client import ChatClient, ChatSettings
from memsys.llm.meter import Meter
from memsys.llm.recording import Recording
from tests.memsys.llm import faults
from tests.memsys.llm.answers import Body
from tests.memsys.llm.conftest import HELLO
from tests.memsys.llm.replies import CASES, KEY, reply, text
from tests.memsys.llm.server import FaultyServer, Handler

TOOL = Tool("f", "a tool", {"type": "object", "properties": {}})
PART = {"type": "text", "text": "In German."}
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}


@pytest.fixture(scope="module")
def everything() -> Iterator[FaultyServer]:
    """A server that behaves as the case named by the request."""
    with FaultyServer(lambda body: CASES[body["messages"][0]["content"]].behave) as server:
        yield server


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("calls")


@pytest.fixture(scope="module")
def clients(everything: FaultyServer, folder: Path) -> Iterator[list[tuple[ChatClient, Meter]]]:
    """A client that records and one that replays; they are slow to open."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", KEY)
        url = everything.base_url
        settings = ChatSettings(model="m", base_url=url, retries=0, timeout_s=60)
        meters = [Meter(), Meter()]
        live = settings.open(Recording(folder), meters[0])
        live.complete([{"role": "user", "content": "plain"}], sample=1)  # reads the key
        replaying = settings.open(Recording(folder, "replay"), meters[1])
        yield [(live, meters[0]), (replaying, meters[1])]


@pytest.mark.parametrize("name", CASES)
def test_a_reply_is_its_answer_or_an_error_live_and_replayed(
    name, everything, clients, folder, monkeypatch
):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    case, asked = CASES[name], [{"role": "user", "content": name}]
    outputs = []
    before = everything.requests
    for client, meter in clients:
        with meter.phase() as reading:
            if case.answer is None:
                with pytest.raises(LLMError, match=case.error) as error:
                    client.complete(asked)
                outputs.append((str(error.value), reading.usage))
            else:
                outputs.append((client.complete(asked).text, reading.usage))
                assert outputs[-1][0] == case.answer
    assert outputs[0] == outputs[1]
    assert everything.requests == before + 1
    [key] = reading.keys
    assert Recording(folder).requests([key])[key] == everything.bodies[-1]
    assert KEY not in outputs[0][0]
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if KEY.encode() in path.read_bytes()]


@pytest.mark.parametrize(
    ("message", "finish", "fault"),
    [
        ({"content": "", "tool_calls": [CALL]}, "tool_calls", None),
        ({"content": None, "tool_calls": [CALL]}, "tool_calls", None),
        ({"content": "", "tool_calls": [CALL]}, "stop", None),
        ({"content": ""}, "stop", None),  # nothing to call, nothing to say
        ({"content": None}, "stop", "no content"),
        ({"content": ""}, "length", "max_completion_tokens"),
        ({"content": "", "tool_calls": [CALL]}, "content_filter", "filtered"),
    ],
)
def test_a_reply_where_tools_are_on_offer(message, finish, fault, make):
    with FaultyServer([faults.answer(reply(message, finish))] * 2) as server:
        if fault is None:
            done = make(server).complete(HELLO, tools=[TOOL])
            assert (done.text, len(done.tool_calls)) == ("", len(message.get("tool_calls", ())))
        else:
            with pytest.raises(LLMError, match=fault):
                make(server).complete(HELLO, tools=[TOOL])


def test_what_is_forwarded_is_checked_too(make):
    script = [faults.answer(text("")), faults.answer(reply({"tool_calls": [CALL]}, "tool_calls"))]
    with FaultyServer(script * 2) as server:
        client = make(server, mode="off")
        for _ in script:
            with pytest.raises(LLMError, match="finish_reason"):
                client.forward({"messages": HELLO})
        with pytest.raises(LLMError, match="finish_reason stop"):
            client.forward({"messages": HELLO})
        tools = [{"type": "function", "function": {"name": "f"}}]
        assert client.forward({"messages": HELLO, "tools": tools})["choices"]


@pytest.mark.parametrize("role", ["system", "developer"])
@pytest.mark.parametrize(
    ("content", "both"),
    [
        ("Be kind.", "Be kind.\n\nIn German."),
        ("", "In German."),
        ([PART | {"text": "Be kind."}], [PART | {"text": "Be kind."}, PART]),
    ],
)
def test_instructions_are_in_what_is_forwarded(server, make, role, content, both):
    client = InstructedLLM(make(server, mode="off"), "In German.")
    client.forward({"messages": [{"role": role, "content": content}, *HELLO]})
    client.forward({"messages": HELLO})
    first, second = (body["messages"] for body in server.bodies)
    assert first == [{"role": role, "content": both}, *HELLO]
    assert second == [{"role": "system", "content": "In German."}, *HELLO]


class Clock:
    """A clock that a test moves; it stands in for `time` in the network module."""

    def __init__(self) -> None:
        self._lock, self._ahead = threading.Lock(), 0.0

    def monotonic(self) -> float:
        with self._lock:
            return time.monotonic() + self._ahead

    def move(self, seconds: float) -> None:
        with self._lock:
            self._ahead += seconds


@pytest.mark.parametrize("part", ["headers", "body"])
def test_slow_headers_and_bodies_are_under_one_deadline(part, make, monkeypatch):
    clock = Clock()
    monkeypatch.setattr(network, "time", clock)
    pieces: list[int] = []

    def drip(handler: Handler, _: Body) -> None:
        """A byte or header each 10 s, by the clock, for ever."""
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
        if part == "body":
            handler.wfile.write(b"Content-Length: 1000000\r\n\r\n")
        try:
            for number in range(1000):
                clock.move(10)
                pieces.append(number)
                handler.wfile.write(b"X-%d: x\r\n" % number if part == "headers" else b" ")
                handler.server.stopping.wait(0.01)
        finally:
            handler.close_connection = True

    with FaultyServer([drip, None]) as server:
        client = make(server, retries=0, timeout_s=100)
        with pytest.raises(LLMError, match="no whole answer within 100 s"):
            client.complete(HELLO)
        assert len(pieces) < 900
        assert client.complete(HELLO).text.startswith("answer ")  # over a new connection


def test_a_connection_is_used_again_and_each_request_has_its_time(make, monkeypatch):
    clock, ports = Clock(), set()
    monkeypatch.setattr(network, "time", clock)

    def late(handler: Handler, body: Body) -> None:
        clock.move(90)
        ports.add(handler.client_address)
        handler.reply(200, text("late"))

    with FaultyServer(lambda _: late) as server:
        client = make(server, retries=0, timeout_s=100)
        for sample in range(3):
            assert client.complete(HELLO, sample=sample).text == "late"
    assert len(ports) == 1
