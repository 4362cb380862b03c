"""The endpoint embedder against a real HTTP server on the loopback address."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memsys.embed.cache import CachedEmbedder
from memsys.embed.endpoint import EndpointEmbedder
from memsys.errors import InputError
from memsys.llm.base import LLMError
from memsys.llm.meter import Meter
from memsys.llm.recording import Mode, Recording
from memsys.types import Usage
from tests.memsys.embed.test_cache import Notes

KEY = "sk-very-secret-0123456789"


class Server(ThreadingHTTPServer):
    """Speaks POST /v1/embeddings: [length of text, 1], rows in reverse order, indexes right."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.failures = 0  # answers with 500 so many times first
        self.short = False  # leaves a row out
        self.answer: Any = None  # instead of the right one
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append({"path": self.path, **body})
        self.server.keys.append(self.headers["Authorization"])
        if self.server.failures:
            self.server.failures -= 1
            self._reply(500, {"error": {"message": "out of order"}})
            return
        if self.server.answer is not None:
            self._reply(200, self.server.answer)
            return
        rows = [
            {"object": "embedding", "index": i, "embedding": [float(len(text)), 1.0]}
            for i, text in enumerate(body["input"])
        ]
        if self.server.short:
            rows.pop()
        usage = {"prompt_tokens": 7 * len(rows), "total_tokens": 7 * len(rows)}
        self._reply(
            200, {"object": "list", "data": rows[::-1], "model": body["model"], "usage": usage}
        )

    def _reply(self, status: int, value: dict[str, Any]) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("retry-after-ms", "10")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for proxy in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(proxy, raising=False)
    one = Server()
    threading.Thread(target=one.serve_forever, args=(0.05,), daemon=True).start()
    yield one
    one.shutdown()
    one.server_close()


def make(url: str, **more: Any) -> EndpointEmbedder:
    return EndpointEmbedder("small", url, typical_similarity=0.5, **more)


def test_rows_follow_the_index_and_have_length_1(server: Server) -> None:
    vectors, usage = make(server.url).embed(["abc", "", "abcd"])
    expected = np.array([[3, 1], [0, 1], [4, 1]]) / np.sqrt([[10], [1], [17]])
    assert vectors == pytest.approx(expected)
    assert vectors.dtype == np.float32
    assert usage == Usage(calls=1, input_tokens=21)
    assert server.requests[0]["path"] == "/v1/embeddings"
    assert server.requests[0]["model"] == "small"


def test_a_failing_server_is_asked_again(server: Server) -> None:
    server.failures = 2
    vectors, usage = make(server.url, retries=2).embed(["abc"])
    assert vectors.shape == (1, 2)
    assert len(server.requests) == 3
    assert usage == Usage(calls=1, input_tokens=7)


def test_a_server_that_stays_out_of_order_is_an_error(server: Server) -> None:
    server.failures = 9
    with pytest.raises(LLMError, match="500"):
        make(server.url, retries=1).embed(["abc"])
    assert len(server.requests) == 2


def test_too_few_rows_are_an_error(server: Server) -> None:
    server.short = True
    with pytest.raises(LLMError, match="1 vectors for 2 texts"):
        make(server.url).embed(["abc", "de"])


def test_the_key_is_sent_and_never_stored(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    embedder = make(server.url, key_variable="MY_KEY")
    CachedEmbedder(embedder, tmp_path, Meter()).documents(["abc"])
    assert set(server.keys) == {f"Bearer {KEY}"}
    assert KEY not in repr(embedder) + str(embedder) + embedder.name + repr(vars(embedder))
    written = [path for path in tmp_path.iterdir() if path.is_file()]
    assert written
    assert all(KEY.encode() not in path.read_bytes() + path.name.encode() for path in written)


def test_two_servers_are_two_models_to_the_cache() -> None:
    names = {make("http://127.0.0.1:1/v1").name, make("http://127.0.0.1:2/v1").name}
    assert len(names) == 2


@pytest.mark.parametrize("value", [None, ""])
def test_a_missing_key_is_named(monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("MY_KEY", value)
    unrecorded = Recording("", "off")
    elsewhere = make("https://api.example.com/v1", key_variable="MY_KEY")
    with pytest.raises(InputError, match="MY_KEY"):
        elsewhere.open(unrecorded, Meter())
    with pytest.raises(InputError, match="MY_KEY"):
        elsewhere.embed(["abc"])
    for address in ("http://localhost:8000/v1", "http://[::1]:8000/v1"):
        make(address, key_variable="MY_KEY").open(unrecorded, Meter())  # a local server needs none


def test_a_replay_needs_neither_key_nor_server(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = make(server.url)
    calls = Notes()
    first.open(Recording(tmp_path), calls)
    vectors, usage = first.embed(["abc", "de"])
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    again = make("https://api.example.com/v1")
    again.open(Recording(tmp_path, "replay"), calls)
    replayed, replayed_usage = again.embed(["abc", "de"])
    assert (replayed == vectors).all()
    assert replayed_usage == usage
    assert len(server.requests) == 1
    live, call = calls.calls
    assert (live.replayed, live.attempts, call.replayed, call.attempts) == (False, 1, True, 0)
    assert (call.live_ms, call.key) == (live.live_ms, live.key)
    with pytest.raises(InputError, match=r"llm\.cache=replay"):
        again.embed(["never asked"])
    assert len(calls.calls) == 2


@pytest.mark.parametrize(
    "url",
    [
        f"http://user:{KEY}@localhost/v1",
        f"http://{KEY}@localhost/v1",
        f"http://localhost/v1?api-key={KEY}",
        f"ftp://user:{KEY}@localhost/v1",
    ],
)
def test_an_address_with_a_secret_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(InputError, match=r"embedder\.base_url") as raised:
        make(url)
    assert KEY not in str(raised.value)


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://localhost/v1", "http://", ""])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(InputError, match=r"not an http\(s\) address"):
        make(url)


def row(index: Any, vector: Any) -> dict[str, Any]:
    return {"index": index, "embedding": vector}


GOOD = [row(0, [1.0, 0.0]), row(1, [0.0, 2.0])]
UNUSABLE: dict[str, tuple[Any, str]] = {
    "zero": ({"data": [row(0, [0, 0]), row(1, [1, 2])]}, "a vector is zero"),
    "all zero": ({"data": [row(0, [0.0, 0.0]), row(1, [0.0, 0.0])]}, "a vector is zero"),
    "too small": ({"data": [row(0, [1e-40, 0]), row(1, [1, 2])]}, "a vector is zero"),
    "too large": ({"data": [row(0, [1e30, 0]), row(1, [1, 2])]}, "too large"),
    "beyond float32": ({"data": [row(0, [1e300, 0]), row(1, [1, 2])]}, "too large"),
    "NaN": ({"data": [row(0, [float("nan"), 0]), row(1, [1, 2])]}, "NaN"),
    "infinite": ({"data": [row(0, [float("inf"), 0]), row(1, [1, 2])]}, "range of 64 bits"),
    "null": ({"data": [row(0, [None, 0]), row(1, [1, 2])]}, "no list of vectors"),
    "texts": ({"data": [row(0, ["1", "0"]), row(1, ["1", "2"])]}, "no list of vectors"),
    "booleans": ({"data": [row(0, [True, False]), row(1, [True, True])]}, "no list of vectors"),
    "base64": ({"data": [row(0, "AAAA"), row(1, "AAAA")]}, "no list of vectors"),
    "no numbers": ({"data": [row(0, []), row(1, [])]}, "no list of vectors"),
    "two lengths": ({"data": [row(0, [1]), row(1, [1, 2])]}, "no list of vectors"),
    "nested": ({"data": [row(0, [[1]]), row(1, [[2]])]}, "no list of vectors"),
    "another length": ({"data": [row(0, [1, 2, 3]), row(1, [1, 2, 3])]}, "of 3 numbers"),
    "one row": ({"data": GOOD[:1]}, "1 vectors for 2 texts"),
    "one row too many": ({"data": [*GOOD, row(1, [1, 1])]}, "3 vectors for 2 texts"),
    "index missing": ({"data": [{"embedding": [1, 2]}] * 2}, "no list of vectors"),
    "index is text": ({"data": [row("0", [1, 2]), row("1", [1, 2])]}, "2 vectors for 2 texts"),
    "no data": ({"object": "list"}, "0 vectors for 2 texts"),
    "data is a number": ({"data": 5}, "no list of vectors"),
    "data is an object": ({"data": {"0": [1, 2]}}, "no list of vectors"),
    "error with status 200": ({"error": {"message": "busy"}}, "busy"),
    "tokens below 0": ({"data": GOOD, "usage": {"prompt_tokens": -1}}, "usage.prompt_tokens"),
    "tokens 1e30": ({"data": GOOD, "usage": {"prompt_tokens": 1e30}}, "usage.prompt_tokens"),
    "deep": ({"data": GOOD, "more": json.loads("[" * 200 + "]" * 200)}, "nested more than"),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_unusable_vectors_are_an_error_and_requested_again(
    name: str, server: Server, tmp_path: Path
) -> None:
    answer, words = UNUSABLE[name]

    def opened(mode: Mode) -> EndpointEmbedder:
        one = make(server.url, retries=0)
        one.open(Recording(tmp_path, mode), Meter())
        one.embed(["first"])  # two numbers
        return one

    live = opened("auto")
    server.answer = answer
    with pytest.raises(LLMError, match=words) as error:
        live.embed(["abc", "de"])
    server.answer = None
    with pytest.raises(LLMError) as again:
        opened("replay").embed(["abc", "de"])
    assert str(again.value) == str(error.value)
    assert len(server.requests) == 2
    vectors, _ = opened("auto").embed(["abc", "de"])  # a resumed run
    assert vectors.shape == (2, 2)
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    "wrong",
    [
        *({"timeout_s": value} for value in (float("nan"), float("inf"), 0, True, "9", None)),
        *({"retries": value} for value in (float("nan"), -1, 1.5, True, "9", None)),
        {"key_variable": None},
        {"key_variable": "sk-secret-0123"},
    ],
)
def test_wrong_settings_are_named(wrong: dict[str, Any]) -> None:
    [name] = wrong
    with pytest.raises(InputError, match=rf"embedder\.{name}: ") as error:
        make("http://127.0.0.1:1/v1", **wrong)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("model", [5, None, "", " "])
def test_a_model_without_a_name_is_refused(model: Any) -> None:
    with pytest.raises(InputError, match=r"embedder\.model"):
        EndpointEmbedder(model, "http://127.0.0.1:1/v1", 0.5)
