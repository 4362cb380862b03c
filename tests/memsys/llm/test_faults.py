"""The client against a server that misbehaves: what is retried, reported and recorded."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from memsys.errors import InputError
from memsys.llm.base import LLMError
from memsys.llm.meter import Meter
from memsys.llm.recording import Recording
from memsys.types import Usage
from tests.memsys.llm import faults
from tests.memsys.llm.conftest import Make
from tests.memsys.llm.server import Behaviour, FaultyServer

HELLO = [{"role": "user", "content": "hello there"}]
PASSING = {
    "429 with retry-after": faults.status(429),
    "429": faults.status(429, headers={}),
    "500": faults.status(500),
    "503": faults.status(503),
    "reset": faults.reset,
    "half a body": faults.half_body,
    "no JSON": faults.raw(b'{"choices": [{"mess'),
    "no UTF-8": faults.raw(b'{"choices": "\xff"}'),
    "no object": faults.raw(b"[]"),
    "hang": faults.hang(),
    "drip": faults.drip(0.05),
}
OF_THE_ANSWER = {
    "wrong shape": (faults.answer({"hello": 1}), "no choices"),
    "empty choices": (faults.answer({"choices": []}), "no choices"),
    "no message": (faults.answer({"choices": [{}]}), "no message"),
    "no content": (faults.says(None), "no content"),
    "error with status 200": (faults.answer({"error": {"message": "busy"}}), "busy"),
    "too long": (
        faults.status(400, "This model's maximum context length is 5", "context_length_exceeded"),
        "longer than the model's context",
    ),
    "too long, as llama.cpp has it": (
        faults.status(400, "the request exceeds the available context size"),
        "longer than the model's context",
    ),
    "bad request": (faults.status(400, "what?"), r"HTTP 400 \(what\?; 1 attempt\)"),
}


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING)
def test_a_fault_that_passes_is_retried_and_counted_once(
    fault: Behaviour, make: Make, tmp_path: Path
) -> None:
    meter = Meter()
    with FaultyServer([fault]) as server:
        client = make(server, meter=meter, retries=1, timeout_s=5)
        with meter.phase() as reading:
            text = client.complete(HELLO).text
        assert text.startswith("answer ")
        assert server.requests == 2
        assert (reading.attempts, reading.usage) == (2, Usage(1, 2, 2))
        # The pause and the failed attempt are waiting, and no latency.
        assert reading.waited_ms > 8
        assert reading.ms < reading.wall_ms - reading.waited_ms + 5
        assert [row[2] for row in Recording(tmp_path).totals()] == [1]
        assert make(server, "replay").complete(HELLO).text == text


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING)
def test_a_fault_that_stays_is_an_error_that_a_replay_alone_repeats(
    fault: Behaviour, make: Make, tmp_path: Path
) -> None:
    meter = Meter()
    with FaultyServer(lambda _: fault) as server:
        client = make(server, meter=meter, retries=1, timeout_s=5)
        with (
            meter.phase() as reading,
            pytest.raises(LLMError, match=r"gpt-4o-mini: .*2 attempts") as live,
        ):
            client.complete(HELLO)
        assert server.requests == 2
    assert (reading.attempts, reading.usage) == (2, Usage())
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


@pytest.mark.parametrize(("fault", "words"), OF_THE_ANSWER.values(), ids=OF_THE_ANSWER)
def test_an_unusable_answer_is_an_error_and_requested_again_later(
    fault: Behaviour, words: str, make: Make, tmp_path: Path
) -> None:
    with FaultyServer([fault]) as server:
        client = make(server, retries=3)
        with pytest.raises(LLMError, match=words) as live:
            client.complete(HELLO)
        assert server.requests == 1
        replayed = make(server, mode="replay")
        with pytest.raises(LLMError) as raised:
            replayed.complete(HELLO)
        assert str(raised.value) == str(live.value)
        assert server.requests == 1
        assert client.complete(HELLO).text.startswith("answer ")
        assert server.requests == 2
        assert replayed.complete(HELLO).text.startswith("answer ")


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (faults.status(401), "OPENAI_API_KEY"),
        (faults.status(403), "OPENAI_API_KEY"),
        (faults.status(404), r"llm\.model"),
        (faults.status(429, "pay", "insufficient_quota"), "no credit left"),
    ],
)
def test_what_every_call_would_meet_stops_the_run(
    fault: Behaviour, words: str, make: Make, tmp_path: Path
) -> None:
    with FaultyServer(lambda _: fault) as server, pytest.raises(InputError, match=words):
        make(server, retries=1).complete(HELLO)
    with pytest.raises(InputError, match="no recorded answer"):
        make("http://elsewhere/v1", "replay").complete(HELLO)


def test_no_server_at_all(make: Make) -> None:
    with FaultyServer() as server:
        address = server.base_url
    with pytest.raises(LLMError, match="connection failed"):
        make(address, retries=0).complete(HELLO)
    with pytest.raises(InputError, match="no recorded answer"):  # nobody said anything
        make(address, "replay").complete(HELLO)


def test_a_replay_repeats_how_a_request_failed_last(make: Make) -> None:
    script = [
        faults.status(500, "first"),
        faults.says(None),
        faults.says("so so"),
        faults.status(413, "last"),
        None,
    ]
    schema = {"type": "object", "properties": {"why": {"type": "string"}}, "required": ["why"]}
    messages = []
    with FaultyServer(script) as server:
        for _ in range(4):
            for mode in ("auto", "replay"):
                with pytest.raises(LLMError) as error:
                    make(server, mode, retries=0).complete(HELLO, schema=schema)  # type: ignore[arg-type]
                messages.append(str(error.value))
        assert server.requests == 4
        assert messages[::2] == messages[1::2]
        assert ["first" in messages[0], "no content" in messages[2], "last" in messages[6]] == [
            True
        ] * 3
        assert messages[4] == messages[2]  # of unusable answers who comes first wins, also live
        assert make(server).complete(HELLO, schema=schema) == make(server, "replay").complete(
            HELLO, schema=schema
        )


def test_no_failure_is_recorded_in_mode_off(make: Make, tmp_path: Path) -> None:
    with FaultyServer([faults.status(400)]) as server, pytest.raises(LLMError):
        make(server, "off").complete(HELLO)
    assert list(tmp_path.iterdir()) == []


def test_the_server_says_when_to_come_back(make: Make) -> None:
    fault = faults.status(429, headers={"retry-after": "1"})
    with FaultyServer([fault]) as server:
        make(server, retries=1).complete(HELLO)
        first, second = server.times
    assert second - first >= 1


def test_a_drip_ends_at_the_time_limit(make: Make) -> None:
    with FaultyServer([faults.drip(0.2)]) as server:  # 50 s to the end
        started = time.monotonic()
        with pytest.raises(LLMError, match=r"within 5 s"):
            make(server, retries=0, timeout_s=5).complete(HELLO)
    assert time.monotonic() - started < 40


def test_pauses_between_attempts_hold_no_place(make: Make) -> None:
    """With one place, a second call gets through while the first waits to try again."""
    fault = faults.status(429, headers={"retry-after": "1"})
    with FaultyServer([fault]) as server:
        client = make(server, retries=1, concurrency=1)
        waiting = threading.Thread(target=client.complete, args=(HELLO,))
        waiting.start()
        while not server.requests:
            time.sleep(0.005)
        client.complete([{"role": "user", "content": "something else"}])
        waiting.join()
        said = [body["messages"][0]["content"] for body in server.bodies]
    assert said == ["hello there", "something else", "hello there"]
