"""The client against a server that misbehaves: what is retried, reported and recorded, and that the
key, which is sent to the server, is found nowhere else.
"""

import logging
import threading
import time
import traceback
from dataclasses import replace
from multiprocessing.connection import wait
from typing import Any, NamedTuple

import httpx2
import pytest

from memsys.core.errors import InputError
from memsys.core.types import Usage
from memsys.llm.base import LLMError
from memsys.llm.client import ChatSettings
from memsys.llm.meter import Meter
from memsys.llm.network import Network, Outgoing
from memsys.llm.recording import Recording
from tests.memsys.llm import faults
from tests.memsys.llm.answers import right_answer
from tests.memsys.llm.conftest import HELLO
from tests.memsys.llm.server import Behaviour, FaultyServer


class Passing(NamedTuple):
    """A fault that may pass; `pause_s`: from and to which the client waits then."""

    behave: Behaviour
    error: str
    pause_s: tuple[float, float] = (0.375, 0.5)  # of the client: half a second, less up to 25%
    timeout_s: float = 60  # of the attempt that meets it


NOW = (0.01, 0.01)  # by the server's retry-after-ms
PASSING = {
    "429 with retry-after-ms": Passing(faults.status(429), "HTTP 429", NOW),
    "429 with retry-after": Passing(
        faults.status(429, headers={"retry-after": "1"}), "HTTP 429", (1, 1)
    ),
    "429": Passing(faults.status(429, headers={}), "HTTP 429"),
    "429 with odd letters": Passing(
        faults.status(429, headers={"retry-after": "\xbd"}), "HTTP 429"
    ),
    "500": Passing(faults.status(500), "HTTP 500", NOW),
    "503": Passing(faults.status(503), "HTTP 503", NOW),
    "reset": Passing(faults.reset, "connection failed"),
    "half a body": Passing(faults.half_body, "connection failed"),
    "no JSON": Passing(faults.raw(b'{"choices": [{"mess'), "not a JSON object"),
    "no UTF-8": Passing(faults.raw(b'{"choices": "\xff"}'), "not a JSON object"),
    "no object": Passing(faults.raw(b"[]"), "not a JSON object"),
    "hang": Passing(faults.hang(), r"no whole answer within 0\.3 s", timeout_s=0.3),
    "drip": Passing(faults.drip(0.05), r"no whole answer within 0\.3 s", timeout_s=0.3),
}
EACH = pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING)


@EACH
@pytest.mark.parametrize("earlier", [0, 1], ids=["first call", "second call"])
def test_a_fault_that_passes_is_retried_and_counted_once(
    fault, earlier, make, tmp_path, pauses, monkeypatch
):
    # The first attempt alone is short, so that the second succeeds on a busy machine, too.
    send, limits = Network.send, iter([fault.timeout_s])

    def hasty(self: Network, request: Outgoing, timeout_s: float, *more: Any) -> object:
        return send(self, request, next(limits, timeout_s), *more)

    meter = Meter()
    with FaultyServer([*[None] * earlier, fault.behave]) as server:
        client = make(server, meter=meter, retries=1)
        if earlier:
            client.complete(HELLO, sample=1)
        monkeypatch.setattr(Network, "send", hasty)
        with meter.phase() as reading:
            text = client.complete(HELLO).text
        assert text.startswith("answer ")
        requests = server.requests - earlier
        assert (requests, reading.attempts, reading.usage) == (2, 2, Usage(1, 2, 2))
        [pause] = pauses
        assert fault.pause_s[0] <= pause <= fault.pause_s[1]
        # The pause and the failed attempt are waiting, and no latency.
        failed_s = fault.timeout_s if fault.timeout_s < 1 else 0
        assert reading.waited_ms > 1000 * failed_s + 8
        assert reading.ms < reading.wall_ms - reading.waited_ms + 5
        assert [row[2] for row in Recording(tmp_path).totals()] == [1 + earlier]
        assert make(server, "replay").complete(HELLO).text == text


@EACH
def test_a_fault_that_stays_is_an_error_that_a_replay_alone_repeats(fault, make, tmp_path, pauses):
    meter = Meter()
    with FaultyServer(lambda _: fault.behave) as server:
        client = make(server, meter=meter, retries=1, timeout_s=fault.timeout_s)
        with (
            meter.phase() as reading,
            pytest.raises(LLMError, match=rf"gpt-4o-mini: .*{fault.error}.*2 attempts") as live,
        ):
            client.complete(HELLO)
        assert server.requests == 2
    assert (reading.attempts, reading.usage, len(pauses)) == (2, Usage(), 1)
    assert reading.waited_ms > 8
    assert Recording(tmp_path).totals() == []  # of answers
    replaying = make("http://elsewhere/v1", "replay", meter=meter)
    with meter.phase() as again, pytest.raises(LLMError) as replayed:
        replaying.complete(HELLO)
    assert str(replayed.value) == str(live.value)
    assert (again.source, again.attempts, again.usage) == ("recorded", 0, Usage())
    assert again.keys == reading.keys
    assert [row.answered for row in Recording(tmp_path).find_all(again.keys)] == [False]
    with FaultyServer() as server:
        text = make(server).complete(HELLO).text  # asked again, and mended
        assert server.requests == 1
    assert replaying.complete(HELLO).text == text


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (faults.status(401), "OPENAI_API_KEY"),
        (faults.status(403), "OPENAI_API_KEY"),
        (faults.status(404), r"llm\.model"),
        (faults.status(429, "pay", "insufficient_quota"), "no credit left"),
    ],
)
def test_what_every_call_would_meet_stops_the_run(fault, words, make):
    with FaultyServer(lambda _: fault) as server, pytest.raises(InputError, match=words):
        make(server, retries=1).complete(HELLO)
    with pytest.raises(InputError, match="no recorded answer"):
        make("http://elsewhere/v1", "replay").complete(HELLO)


def test_no_server_at_all_stops_the_run_at_once(make, monkeypatch):
    with FaultyServer() as server:
        address = server.base_url
    port = address.rpartition(":")[2].removesuffix("/v1")
    started = time.monotonic()
    with pytest.raises(InputError, match=rf"no server listens at 127\.0\.0\.1:{port} .*base_url"):
        make(address, retries=5).complete(HELLO)
    assert time.monotonic() - started < 5  # five retries take half a minute
    with pytest.raises(InputError, match="no recorded answer"):  # nobody said anything
        make(address, "replay").complete(HELLO)


def last(handler, body):
    """A right answer, after which the connection is closed."""
    handler.reply(200, right_answer(body))
    handler.close_connection = True


def test_a_server_that_went_away_is_asked_again(make):
    with FaultyServer([last]) as server:
        client = make(server, retries=0)
        client.complete(HELLO)
    with pytest.raises(LLMError, match="connection failed"):
        client.complete(HELLO, sample=1)


def test_a_connection_that_the_server_closed_is_not_used_again():
    network = Network()
    with FaultyServer(lambda _: last) as server:
        asked = {"model": "m", "messages": []}
        request = Outgoing.of(httpx2.Request("POST", f"{server.base_url}/x", json=asked))
        for _ in range(2):
            assert network.send(request, 60, 1000)[0] == 200
            [[idle]] = network._idle.values()
            assert wait([idle.connected], 60)  # until it is closed
    network.close()
    assert not any(network._idle.values())


def test_a_connection_that_was_idle_or_that_another_thread_took_is_not_used():
    class Taken(list):  # between the look whether there is one and its use
        def __len__(self):
            return 1

    network = Network()
    with FaultyServer() as server:
        body = {"model": "m", "messages": HELLO}
        url = f"{server.base_url}/chat/completions"
        request = Outgoing.of(httpx2.Request("POST", url, json=body))
        network.send(request, 60, 10_000)
        [(key, [idle])] = network._idle.items()
        idle.idle_since += 1_000  # it counts from here
        network.send(request, 60, 10_000)
        assert network._idle[key] == [idle]
        idle.idle_since -= 5
        network.send(request, 60, 10_000)
        assert idle not in network._idle[key]
        assert idle.connected.fileno() == -1
        network.close()
        network._idle[key] = Taken()
        network.send(request, 60, 10_000)
    network._idle[key].pop().http.close()


def test_a_replay_repeats_how_a_request_failed_last(make):
    unusable = faults.says(None), faults.says("so so")
    script = [faults.status(500, "first"), *unusable, faults.status(413, "last"), None]
    schema = {"type": "object", "properties": {"why": {"type": "string"}}, "required": ["why"]}
    with FaultyServer(script) as server:
        live, replaying = make(server, retries=0), make(server, "replay")
        messages = []
        for client in (live, replaying) * 4:
            with pytest.raises(LLMError) as error:
                client.complete(HELLO, schema=schema)
            messages.append(str(error.value))
        assert server.requests == 4
        assert messages[::2] == messages[1::2]
        assert "first" in messages[0]
        assert "no content" in messages[2]
        assert messages[4] == messages[2]  # of unusable answers who comes first wins, also live
        assert "last" in messages[6]
        assert live.complete(HELLO, schema=schema) == replaying.complete(HELLO, schema=schema)


def test_pauses_between_attempts_hold_no_place(make, monkeypatch):
    """With one place, a second call gets through while the first waits to try again."""
    paused, go_on = threading.Event(), threading.Event()

    def pause(_: object, **__: object) -> None:
        paused.set()
        assert go_on.wait(60)

    monkeypatch.setattr("openai._base_client.SyncAPIClient._sleep_for_retry", pause)
    with FaultyServer([faults.status(429)]) as server:
        client = make(server, retries=1, concurrency=1)
        waiting = threading.Thread(target=client.complete, args=(HELLO,))
        waiting.start()
        assert paused.wait(60)
        client.complete([{"role": "user", "content": "something else"}])
        go_on.set()
        waiting.join()
        messages = [body["messages"][0]["content"] for body in server.bodies]
    assert messages == ["hello there", "something else", "hello there"]


KEY = "sk-very-secret-0123456789"


def test_the_key_is_sent_and_left_nowhere(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("MY_KEY", KEY)
    monkeypatch.setenv("ANOTHER_TOKEN", "another-secret-42")
    caplog.set_level(logging.DEBUG)
    leaking = right_answer({"model": "m", "messages": HELLO})
    leaking["choices"][0]["message"]["content"] = f"your key is {KEY}"
    leaks = f"Incorrect API key provided: {KEY}"
    script = [
        *(None, faults.answer(leaking)),
        *(faults.status(code, leaks) for code in (500, 400, 401)),
        faults.answer({"error": {"message": leaks}}),
        faults.reset,
        faults.status(400, f"{'x' * 190} {KEY}"),  # where the message is cut off
        faults.status(400, "for $another: another-secret-42"),
    ]
    seen: list[str] = []
    behind: list[BaseException | None] = []  # would hold the request and its headers
    with FaultyServer(script) as server:
        settings = ChatSettings(
            model="m", base_url=server.base_url, key_variable="MY_KEY", retries=0, timeout_s=30
        )
        client = settings.open(Recording(tmp_path), Meter())
        for sample in range(9):
            try:
                seen.append(repr(client.complete(HELLO, sample=sample)))
            except (LLMError, InputError) as error:
                seen += traceback.format_exception(error)
                behind += [error.__cause__, error.__context__]
        assert {head["authorization"] for head in server.headers} == {f"Bearer {KEY}"}
    seen += [repr(client), repr(settings), repr(vars(client)), caplog.text]
    assert sum("$MY_KEY" in text for text in seen) >= 3
    assert "your key is $" in "".join(seen)
    assert not [text for text in seen if KEY[:4] in text or "another-secret" in text]
    assert len(behind) == 14
    assert not any(behind)
    replaying = replace(settings, base_url="http://elsewhere/v1")
    client = replaying.open(Recording(tmp_path, "replay"), Meter())
    for sample in (2, 3, 7, 8):
        with pytest.raises(LLMError) as raised:
            client.complete(HELLO, sample=sample)
        assert f"LLMError: {raised.value}\n" in "".join(seen)  # the same words without the key
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"calls.sqlite", "calls.sqlite-wal"} <= {path.name for path in files}
    secret = (KEY[:4].encode(), b"another-secret", b"uthorization", b"127.0.0.1")
    assert not [path for path in files for one in secret if one in path.read_bytes()]
