"""What is asked of a model, what comes back, and what is replayed."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from memsys.errors import InputError
from memsys.llm.base import LLMError, Tool
from memsys.llm.client import ChatSettings, NoModel
from memsys.llm.meter import Meter
from memsys.llm.recording import Recording
from memsys.types import Usage
from tests.memsys.llm import faults
from tests.memsys.llm.conftest import Make
from tests.memsys.llm.server import FaultyServer

NAN = float("nan")
HELLO = [{"role": "user", "content": "hello there"}]
SCHEMA = {
    "title": "A verdict!",
    "type": "object",
    "properties": {"label": {"enum": ["right", "wrong"]}, "why": {"type": "string"}},
    "required": ["label", "why"],
    "additionalProperties": False,
}


def test_the_request_is_what_the_settings_say(make: Make) -> None:
    with FaultyServer() as server:
        done = make(server, temperature=0.5, max_tokens=9, seed=3, extra={"top_p": 0.9}).complete(
            HELLO
        )
        make(server, temperature=None, max_tokens=None).complete(HELLO)
        assert server.bodies == [
            {
                "model": "gpt-4o-mini",
                "messages": HELLO,
                "temperature": 0.5,
                "max_tokens": 9,
                "seed": 3,
                "top_p": 0.9,
            },
            {"model": "gpt-4o-mini", "messages": HELLO},
        ]
        assert set(server.paths) == {"/v1/chat/completions"}
    assert (done.usage, done.model, done.finish) == (Usage(1, 2, 2), "gpt-4o-mini", "stop")


def test_a_repetition_has_a_seed_of_its_own(make: Make) -> None:
    with FaultyServer() as server:
        client = make(server, seed=3)
        for sample in (0, 2):
            client.complete(HELLO, sample=sample)
        make(server, seed=None).complete(HELLO, sample=5)
        assert [body.get("seed") for body in server.bodies] == [3, 5, None]


def test_a_proxy_is_not_asked_for_a_server_on_this_machine(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nobody listens there
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with FaultyServer() as server:
        make(server, retries=0).complete(HELLO)
        assert len(server.bodies) == 1


def test_a_reply_must_match_the_requested_schema(make: Make, tmp_path: Path) -> None:
    with FaultyServer([None, faults.says("so so"), faults.says('{"label": "maybe"}')]) as server:
        client = make(server)
        assert json.loads(client.complete(HELLO, schema=SCHEMA).text)["label"] == "right"
        assert server.bodies[0]["response_format"] == {
            "type": "json_schema",
            "json_schema": {"name": "A_verdict_", "strict": True, "schema": SCHEMA},
        }
        with pytest.raises(LLMError, match="not the JSON that was asked for"):
            client.complete(HELLO, schema=SCHEMA, sample=1)
        with pytest.raises(LLMError, match="reply lacks why"):
            client.complete(HELLO, schema=SCHEMA, sample=2)
        assert server.requests == 3
        client.complete(HELLO, schema=SCHEMA, sample=1)
        assert server.requests == 4  # what was rejected is asked for again


def test_a_tool_is_called(make: Make) -> None:
    tool = Tool(
        "remember", "Keep a fact", {"type": "object", "properties": {"fact": {"type": "string"}}}
    )
    with FaultyServer() as server:
        done = make(server).complete(HELLO, tools=[tool])
        asked = server.bodies[0]["tools"][0]
    assert asked["function"]["name"] == "remember"
    assert (done.text, done.finish) == ("", "tool_calls")
    [call] = done.tool_calls
    assert call.name == "remember"
    assert set(json.loads(call.arguments)) == {"fact"}


def test_a_rejected_answer_is_paid_for_and_named(make: Make) -> None:
    meter = Meter()
    with FaultyServer([faults.says("so so")]) as server:
        client = make(server, meter=meter)
        with meter.phase() as live, pytest.raises(LLMError):
            client.complete(HELLO, schema=SCHEMA)
        replayed = make(server, mode="replay", meter=meter)
        with meter.phase() as again, pytest.raises(LLMError):
            replayed.complete(HELLO, schema=SCHEMA)
    assert live.usage == again.usage == Usage(1, 2, 2)
    assert live.keys == again.keys
    assert len(live.keys) == 1


def test_an_answer_that_was_cut_off_says_so(make: Make) -> None:
    with FaultyServer(
        [faults.says("It was in", "length"), faults.says('{"la', "length")]
    ) as server:
        client = make(server)
        done = client.complete(HELLO)
        assert (done.text, done.finish) == ("It was in", "length")
        with pytest.raises(LLMError, match="cut off by the limit of tokens"):
            client.complete(HELLO, schema=SCHEMA)


def test_a_replay_reports_what_was_live(make: Make, tmp_path: Path) -> None:
    meter = Meter()
    with FaultyServer(delay_s=0.2) as server, meter.phase() as live:
        first = make(server, meter=meter).complete(HELLO)
    with meter.phase() as again:
        second = make("http://elsewhere/v1", "replay", meter).complete(HELLO)
    assert first == second
    assert (live.source, live.attempts, live.recorded) == ("live", 1, None)
    assert live.ms >= 200
    assert (again.source, again.attempts, again.usage) == ("recorded", 0, live.usage)
    assert again.keys == live.keys
    [row] = Recording(tmp_path).find_all(again.keys)
    assert again.ms >= row.latency_ms >= 200
    assert (again.recorded, row.model) == (row.created, "gpt-4o-mini")


def test_every_part_of_a_request_changes_its_key(make: Make, tmp_path: Path) -> None:
    with FaultyServer() as server:
        client = make(server)
        for _ in range(2):
            client.complete(HELLO)
            client.complete(HELLO, sample=1)
            client.complete(HELLO, schema=SCHEMA)
            client.complete([{"role": "system", "content": "hello there"}])
            make(server, seed=1).complete(HELLO)
            make(server, model="other").complete(HELLO)
        assert server.requests == 6
        assert "sample" not in json.dumps([server.bodies, server.headers])


def test_off_neither_replays_nor_records(make: Make, tmp_path: Path) -> None:
    with FaultyServer() as server:
        for _ in range(2):
            make(server, "off").complete(HELLO)
        assert server.requests == 2
    assert list(tmp_path.iterdir()) == []


def test_a_missing_recording_is_an_error_at_once_and_without_the_prompt(make: Make) -> None:
    with FaultyServer() as server:
        client = make(server, "replay")
        with pytest.raises(
            InputError, match=r"llm\.cache=replay.*gpt-4o-mini.*eval\.cache import"
        ) as e:
            client.complete(HELLO)
        assert server.requests == 0
    assert "hello" not in str(e.value)


def test_equal_calls_at_once_are_one_request(make: Make, tmp_path: Path) -> None:
    with FaultyServer(delay_s=0.2) as server:
        client = make(server, concurrency=16)
        with ThreadPoolExecutor(16) as pool:
            texts = {done.text for done in pool.map(lambda _: client.complete(HELLO), range(16))}
        assert (len(texts), server.requests) == (1, 1)
        make(server).complete(HELLO)  # another client, another connection to the file
        assert server.requests == 1


def test_no_more_calls_under_way_than_places(make: Make) -> None:
    asked = [[{"role": "user", "content": str(i)}] for i in range(12)]
    with FaultyServer(delay_s=0.03) as server:
        client = make(server, concurrency=3)
        with ThreadPoolExecutor(12) as pool:
            list(pool.map(client.complete, asked))
        assert server.most_under_way == 3


def test_requests_are_spread_over_the_minute_and_replays_never_wait(make: Make) -> None:
    asked = [[{"role": "user", "content": str(i)}] for i in range(5)]
    with FaultyServer() as server:
        client = make(server, requests_per_minute=600)
        with ThreadPoolExecutor(5) as pool:
            list(pool.map(client.complete, asked))
        gaps = [b - a for a, b in zip(server.times, server.times[1:], strict=False)]
        assert sum(gaps) >= 0.35  # 0.4 but for the jitter of a busy machine
        meter = Meter()
        replaying = make(server, requests_per_minute=1, meter=meter)
        with meter.phase() as reading:
            for one in asked * 4:  # at one a minute, a quarter of an hour if replays waited
                replaying.complete(one)
        assert (reading.attempts, reading.replayed) == (0, True)


def test_a_server_of_our_own_starts_with_the_first_live_call(make: Make, tmp_path: Path) -> None:
    with FaultyServer() as server:

        class Local:
            starts = 0

            def start(self) -> str:
                self.starts += 1
                return server.base_url

        local, meter = Local(), Meter()
        settings = ChatSettings(model="small", base_url=local)
        settings.open(Recording(tmp_path), meter).complete(HELLO)
        settings.open(Recording(tmp_path), meter).complete(HELLO)
        assert (local.starts, server.requests) == (1, 1)


def test_phases_of_several_threads_are_apart(make: Make) -> None:
    meter = Meter()
    barrier = threading.Barrier(4)
    with FaultyServer(delay_s=0.02) as server:
        client = make(server, meter=meter)

        def work(i: int) -> tuple[int, tuple[str, ...]]:
            barrier.wait()
            with meter.phase() as reading:
                for j in range(i):
                    client.complete([{"role": "user", "content": f"{i} {j}"}])
            return reading.usage.calls, reading.keys

        with ThreadPoolExecutor(4) as pool:
            done = list(pool.map(work, range(4)))
    assert [calls for calls, _ in done] == [0, 1, 2, 3]
    assert len({key for _, keys in done for key in keys}) == 6


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"model": ""}, "llm.model"),
        ({"base_url": "localhost:8000"}, "llm.base_url"),
        ({"base_url": "http://me:secret@localhost/v1"}, "llm.base_url"),
        ({"timeout_s": 0}, "llm.timeout_s"),
        ({"retries": -1}, "llm.retries"),
        ({"concurrency": 0}, "llm.concurrency"),
        ({"requests_per_minute": 0}, "llm.requests_per_minute"),
        ({"max_tokens": 0}, "llm.max_tokens"),
        ({"extra": {"stream": True}}, "llm.extra.stream"),
        *(
            ({name: value}, rf"llm\.{name}: ")
            for name in ("timeout_s", "requests_per_minute", "temperature")
            for value in (NAN, float("inf"), -1, True, "9", [9], 10**400)
        ),
        *(
            ({name: value}, rf"llm\.{name}: ")
            for name in ("retries", "concurrency", "max_tokens", "seed")
            for value in (NAN, float("inf"), 1.5, True, "9", [9])
        ),
        *(({"model": value}, r"llm\.model: ") for value in (5, None, " ", True, "\udc80")),
        ({"timeout_s": 10**9}, "llm.timeout_s: .* 86400 seconds"),
        ({"timeout_s": None}, "llm.timeout_s"),
        ({"retries": None}, "llm.retries"),
        ({"extra": 5}, "llm.extra"),
        ({"extra": {"top_p": NAN}}, "llm.extra"),
        ({"base_url": 5}, "llm.base_url"),
        ({"base_url": None}, "llm.base_url"),
        ({"base_url": "http://127.0.0.1:99999/v1"}, "llm.base_url.*1 to 65535"),
        ({"base_url": "http://127.0.0.1:0/v1"}, "llm.base_url.*1 to 65535"),
        ({"base_url": "http://127.0.0.1:x/v1"}, "llm.base_url.*1 to 65535"),
        ({"base_url": "http://[::1/v1"}, "llm.base_url"),
        ({"key_variable": None}, "llm.key_variable"),
        ({"key_variable": 5}, "llm.key_variable"),
        ({"key_variable": "sk-proj-secret"}, "llm.key_variable"),
        ({"key_variable": "gsk_secret0123456789abcdef"}, "llm.key_variable: looks like a key"),
    ],
)
def test_wrong_settings_are_named(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words) as raised:
        ChatSettings(**{"model": "m", "base_url": "http://localhost/v1", **wrong})
    assert "secret" not in str(raised.value)


def test_a_missing_key_is_named_unless_nothing_is_live(tmp_path: Path) -> None:
    settings = ChatSettings(model="m", base_url="https://api.example.com/v1", key_variable="MY_KEY")
    for mode in ("auto", "off"):
        with pytest.raises(InputError, match="MY_KEY"):
            settings.open(Recording(tmp_path, mode), Meter())
    settings.open(Recording(tmp_path, "replay"), Meter())


def test_no_model_is_none(tmp_path: Path) -> None:
    assert NoModel().open(Recording(tmp_path, "off"), Meter()) is None
