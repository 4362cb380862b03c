"""What is asked of a model, what comes back, and what is replayed."""

import json
from concurrent.futures import ThreadPoolExecutor
from socketserver import BaseRequestHandler
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest

from memsys.core.errors import InputError
from memsys.core.types import Usage
from memsys.llm import budget
from memsys.llm.base import LLMError, Tool
from memsys.llm.client import ChatSettings, NoModel
from memsys.llm.meter import Meter
from memsys.llm.network import Outgoing, _certificates
from memsys.llm.recording import Recording
from tests.memsys.llm import faults
from tests.memsys.llm.conftest import HELLO, ask_at_once
from tests.memsys.llm.server import FaultyServer

NAN = float("nan")
FIELDS = {"label": {"enum": ["right", "wrong"]}, "why": {"type": "string"}}
SCHEMA = {"title": "A verdict!", "type": "object", "properties": FIELDS, "required": [*FIELDS]}


def test_the_request_is_what_the_settings_say(server, make):
    body = {"model": "gpt-4o-mini", "messages": HELLO}
    settings = {"temperature": 0.5, "max_tokens": 9, "seed": 3}
    done = make(server, **settings, extra={"top_p": 0.9}).complete(HELLO)
    make(server, temperature=None, max_tokens=None).complete(HELLO, sample=5)
    assert server.bodies == [{**body, **settings, "top_p": 0.9}, body]
    assert set(server.paths) == {"/v1/chat/completions"}
    assert (done.usage, done.model, done.finish) == (Usage(1, 2, 2), "gpt-4o-mini", "stop")
    make(server, seed=3).complete(HELLO, sample=2)  # a repetition has a seed of its own
    assert server.bodies[-1]["seed"] == 5


def test_a_later_call_is_sent_with_the_headers_and_the_bytes_of_a_first_one(server, make):
    asked = [{"role": "user", "content": 'Ärger & 你好 "?"'}]
    make(server, "off").complete(asked)
    client = make(server, "off")
    client.complete(HELLO)
    client.complete(asked)
    assert server.bodies[2] == server.bodies[0]
    assert list(server.headers[2].items()) == list(server.headers[0].items())  # with the length


def test_while_it_records_every_call_is_live_and_the_first_answer_counts(make):
    meter = Meter()
    with FaultyServer([faults.says("one"), faults.says("two")]) as server:
        recording = make(server, "record", meter)
        for _ in range(2):
            with meter.phase() as reading:
                assert recording.complete(HELLO).text == "one"
            assert reading.source == "live"
        assert make(server, "replay").complete(HELLO).text == "one"
        assert server.requests == 2


def test_a_proxy_is_not_asked_for_a_server_on_this_machine(server, make, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nobody listens there
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    make(server, retries=0).complete(HELLO)
    assert server.requests == 1


class Garbage(BaseRequestHandler):
    """Answers with words that are not HTTP."""

    def handle(self) -> None:
        self.request.recv(65_536)
        self.request.sendall(b"garbage\r\n\r\n")


def test_a_proxy_of_the_system_is_asked_for_another_server(server, make, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    proxy = server.base_url.removesuffix("/v1")
    monkeypatch.setenv("http_proxy", proxy.replace("//", "//me:a%20b@"))
    make("http://elsewhere.invalid/v1", retries=0).complete(HELLO)
    assert server.paths == ["http://elsewhere.invalid/v1/chat/completions"]
    assert server.headers[0]["proxy-authorization"] == "Basic bWU6YSBi"
    monkeypatch.setenv("https_proxy", proxy.removeprefix("http://"))
    with pytest.raises(LLMError, match="Tunnel connection failed: 501"):  # it knows no CONNECT
        make("https://elsewhere.invalid/v1", retries=0).complete(HELLO, sample=1)
    with FaultyServer() as other:
        other.RequestHandlerClass = Garbage
        monkeypatch.setenv("https_proxy", f"127.0.0.1:{other.server_address[1]}")
        with pytest.raises(LLMError, match="ConnectError: garbage"):
            make("https://elsewhere.invalid/v1", retries=0).complete(HELLO, sample=3)
    monkeypatch.setenv("no_proxy", "elsewhere.invalid")
    with pytest.raises(LLMError, match="ConnectError"):
        make("http://elsewhere.invalid/v1", retries=0).complete(HELLO, sample=2)
    assert server.requests == 1


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("https_proxy", "https://me:secret@127.0.0.1:9"),
        ("all_proxy", "socks5://me:secret@127.0.0.1:9"),
        ("https_proxy", "http://me:secret@127.0.0.1:x"),
        ("https_proxy", "http://me:secret@a proxy:80"),
    ],
)
def test_a_proxy_that_would_get_its_password_in_clear_is_named(name, address, make, monkeypatch):
    for other in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv(name, address)
    client = make("https://elsewhere.invalid/v1", retries=0)
    with pytest.raises(InputError, match=f"^{name.upper()}: is no proxy of HTTP") as raised:
        client.complete(HELLO)
    assert "secret" not in str(raised.value)


def test_certificates_that_cannot_be_read_are_named(make, monkeypatch):
    _certificates.cache_clear()
    monkeypatch.setenv("SSL_CERT_FILE", "absent.pem")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with pytest.raises(InputError, match=r"^SSL_CERT_FILE or SSL_CERT_DIR: .* cannot be read"):
        make("https://elsewhere.invalid/v1", retries=0).complete(HELLO)


def test_what_is_kept_of_a_request_shows_no_key_and_has_no_content():
    headers = {"authorization": "Bearer sk-1"}
    sent = Outgoing.of(httpx2.Request("POST", "http://a.invalid/x", headers=headers, json={}))
    assert "sk-1" not in repr(sent)
    assert sent.with_content(b"").headers["content-length"] == "0"


def test_the_port_of_a_proxy_is_80_and_exceptions_may_have_a_scheme(make, monkeypatch):
    asked: list[tuple[str, int]] = []

    def connect(address: tuple[str, int], *_: object) -> None:
        asked.append(address)
        raise OSError

    monkeypatch.setattr("socket.create_connection", connect)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("https_proxy", "http://proxy.invalid")
    for sample, spared in enumerate(("", "a.invalid, https://elsewhere.invalid")):
        monkeypatch.setenv("no_proxy", spared)
        with pytest.raises(LLMError, match="ConnectError"):
            make("https://elsewhere.invalid/v1", retries=0).complete(HELLO, sample=sample)
    assert asked == [("proxy.invalid", 80), ("elsewhere.invalid", 443)]


def test_a_schema_is_asked_for_by_its_title(server, make):
    assert json.loads(make(server).complete(HELLO, schema=SCHEMA).text)["label"] == "right"
    asked = {"name": "A_verdict_", "strict": True, "schema": SCHEMA}
    assert server.bodies[0]["response_format"] == {"type": "json_schema", "json_schema": asked}


def test_a_tool_is_called(server, make):
    parameters = {"type": "object", "properties": {"fact": {"type": "string"}}}
    done = make(server).complete(HELLO, tools=[Tool("remember", "Keep a fact", parameters)])
    function = {"name": "remember", "description": "Keep a fact", "parameters": parameters}
    assert server.bodies[0]["tools"] == [{"type": "function", "function": function}]
    assert (done.text, done.finish) == ("", "tool_calls")
    [call] = done.tool_calls
    assert call.name == "remember"
    assert set(json.loads(call.arguments)) == {"fact"}


def test_json_that_was_cut_off_says_so(make):
    words = r"cut off by the limit of tokens: raise llm\.max_tokens, or"
    with (
        FaultyServer([faults.says('{"la', "length")]) as server,
        pytest.raises(LLMError, match=words),
    ):
        make(server).complete(HELLO, schema=SCHEMA)


def test_a_replay_reports_what_was_live(make, tmp_path):
    meter = Meter()
    with FaultyServer(delay_s=0.05) as server, meter.phase() as live:
        first = make(server, meter=meter).complete(HELLO)
    with meter.phase() as again:
        second = make("http://elsewhere/v1", "replay", meter).complete(HELLO)
    assert first == second
    assert (live.source, live.attempts, live.recorded) == ("live", 1, None)
    assert live.ms >= 50
    assert (again.source, again.attempts, again.usage) == ("recorded", 0, live.usage)
    assert again.keys == live.keys
    [row] = Recording(tmp_path).find_all(again.keys)
    assert again.ms >= row.latency_ms >= 50
    assert (again.recorded, row.model) == (row.created, "gpt-4o-mini")


def test_off_neither_replays_nor_records(make, tmp_path):
    with FaultyServer([None, None, faults.status(400)]) as server:
        client = make(server, "off")
        for _ in range(2):
            client.complete(HELLO)
        with pytest.raises(LLMError):
            client.complete(HELLO)
        assert server.requests == 3
    assert list(tmp_path.iterdir()) == []


def test_a_missing_recording_is_an_error_at_once_and_without_the_prompt(server, make):
    client = make(server, "replay")
    words = r"llm\.cache=replay.*gpt-4o-mini.*eval cache import"
    with pytest.raises(InputError, match=words) as error:
        client.complete(HELLO)
    assert server.requests == 0
    assert "hello" not in str(error.value)


def test_equal_calls_at_once_are_one_request(make):
    with FaultyServer(delay_s=0.1) as server:
        client = make(server, concurrency=16)
        with ThreadPoolExecutor(16) as pool:
            texts = {done.text for done in pool.map(client.complete, [HELLO] * 16)}
        assert (len(texts), server.requests) == (1, 1)
        make(server).complete(HELLO)  # another client, another connection to the file
        assert server.requests == 1


def test_no_more_calls_under_way_than_places(make):
    with FaultyServer(delay_s=0.03) as server:
        ask_at_once(make(server, concurrency=3), 12)
        assert server.most_under_way == 3


def test_requests_are_spread_over_the_minute_and_replays_never_wait(server, make, monkeypatch):
    waits: list[float] = []
    clock = SimpleNamespace(monotonic=lambda: 100.0, sleep=waits.append)
    monkeypatch.setattr(budget, "time", clock)
    asked = ask_at_once(make(server, requests_per_minute=1200), 5)
    assert sorted(waits) == pytest.approx([0.05, 0.1, 0.15, 0.2])
    meter = Meter()
    replaying = make(server, requests_per_minute=1, meter=meter)
    with meter.phase() as reading:
        for messages in asked * 4:
            replaying.complete(messages)
    assert (reading.attempts, reading.replayed, len(waits)) == (0, True, 4)


def test_a_server_of_our_own_starts_with_the_first_live_call(server, make):
    starts: list[None] = []
    local = SimpleNamespace(start=lambda: starts.append(None) or server.base_url)
    for _ in range(2):
        make(server, base_url=local).complete(HELLO)
    assert (len(starts), server.requests) == (1, 1)


# What a range or a type admits is tested in core/test_declared.
WRONG: list[tuple[str, Any, str]] = [
    *(("model", value, "") for value in ("", 5, None, " ", True, "\udc80")),
    ("timeout_s", 10**9, ".* 86,400"),
    *((name, NAN, "") for name in ("temperature", "retries", "concurrency", "seed")),
    *(("requests_per_minute", NAN, ""), ("max_tokens", 0, "")),
    *(("extra", value, "") for value in (5, {"top_p": NAN}, {"stream": True})),
    *(("base_url", url, ".*not an http") for url in (5, None, "localhost:8000", "http://[::1/v1")),
    *(("base_url", url, ".*not an http") for url in ("", "http://", "ftp://localhost/v1")),
    *(
        ("base_url", f"{way}secret@localhost/v1", "")
        for way in ("http://", "http://u:", "ftp://u:")
    ),
    ("base_url", "http://localhost/v1?api-key=secret", ""),
    *(("base_url", f"http://127.0.0.1:{port}/v1", ".*1 to 65535") for port in (99999, 0, "x")),
    *(("key_variable", value, "") for value in (None, 5, "sk-proj-secret")),
    ("key_variable", "gsk_secret0123456789abcdef", "looks like a key"),
]


@pytest.mark.parametrize(("name", "value", "words"), WRONG)
def test_wrong_settings_are_named(name, value, words):
    with pytest.raises(InputError, match=rf"llm\.{name}(\.stream)?: {words}") as raised:
        ChatSettings(**{"model": "m", "base_url": "http://localhost/v1", name: value})
    assert "secret" not in str(raised.value)


def test_a_missing_key_is_named_unless_nothing_is_live(make):
    elsewhere = "https://api.example.com/v1"
    for mode in ("auto", "off"):
        with pytest.raises(InputError, match="MY_KEY"):
            make(elsewhere, mode, key_variable="MY_KEY")
    make(elsewhere, "replay", key_variable="MY_KEY")


@pytest.mark.parametrize("key", ["sk-very-secret\n", "sk-very secret", "sk-sécret"])
def test_a_key_that_no_header_carries_is_named_but_not_shown(key, tmp_path, monkeypatch):
    monkeypatch.setenv("MY_KEY", key)
    settings = ChatSettings(model="m", base_url="http://localhost/v1", key_variable="MY_KEY")
    with pytest.raises(InputError, match="MY_KEY: the key contains white space") as raised:
        settings.open(Recording(tmp_path), Meter())
    assert "sk-" not in str(raised.value)


def test_no_model_is_none(tmp_path):
    assert NoModel().open(Recording(tmp_path, "off"), Meter()) is None
