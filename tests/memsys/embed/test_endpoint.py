"""The endpoint embedder against a real HTTP server on the loopback address."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from memsys.core.errors import InputError
from memsys.core.types import Usage
from memsys.embed.endpoint import EndpointEmbedder
from memsys.llm.base import LLMError
from memsys.llm.meter import Meter
from memsys.llm.recording import Mode, Recording
from tests.memsys.embed.test_cache import Notes
from tests.memsys.llm import faults
from tests.memsys.llm.answers import Body
from tests.memsys.llm.conftest import no_key
from tests.memsys.llm.server import FaultyServer, Handler

__all__ = ["no_key"]  # a fixture


def lengths(handler: Handler, body: Body) -> None:
    """A row [length of text, 1] for each text, in reverse order; the indexes are right."""
    rows = [row(i, [float(len(text)), 1.0]) for i, text in enumerate(body["input"])]
    usage = {"prompt_tokens": 7 * len(rows), "total_tokens": 7 * len(rows)}
    handler.reply(200, {"object": "list", "data": rows[::-1], "usage": usage})


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with FaultyServer(lambda _: lengths) as one:
        yield one


def make(url: str, **more: Any) -> EndpointEmbedder:
    return EndpointEmbedder("small", url, typical_similarity=0.5, **more)


def test_rows_follow_the_index_and_have_length_1(server):
    vectors, usage = make(server.base_url).embed(["abc", "", "abcd"])
    expected = np.array([[3, 1], [0, 1], [4, 1]]) / np.sqrt([[10], [1], [17]])
    assert vectors == pytest.approx(expected)
    assert (vectors.dtype, usage) == (np.float32, Usage(calls=1, input_tokens=21))
    assert (server.paths, server.bodies[0]["model"]) == (["/v1/embeddings"], "small")


def test_a_failing_server_is_asked_again():
    with FaultyServer([faults.status(500)] * 4) as server:
        with pytest.raises(LLMError, match="500"):
            make(server.base_url, retries=1).embed(["abc"])
        assert server.requests == 2
        vectors, usage = make(server.base_url, retries=2).embed(["abc"])
    expected = (1, 8), 5, Usage(calls=1, input_tokens=7)
    assert (vectors.shape, server.requests, usage) == expected


def test_two_servers_are_two_models_to_the_cache():
    assert make("http://127.0.0.1:1/v1").name != make("http://127.0.0.1:2/v1").name


@pytest.mark.parametrize("value", [None, ""])
def test_a_missing_key_is_named(monkeypatch, value):
    monkeypatch.delenv("MY_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("MY_KEY", value)
    unrecorded = Recording("", "off")
    elsewhere = make("https://api.example.com/v1", key_variable="MY_KEY")
    for use in (lambda: elsewhere.open(unrecorded, Meter()), lambda: elsewhere.embed(["abc"])):
        with pytest.raises(InputError, match="MY_KEY"):
            use()
    for address in ("http://localhost:8000/v1", "http://[::1]:8000/v1"):
        make(address, key_variable="MY_KEY").open(unrecorded, Meter())  # a local server needs none


def test_a_replay_needs_neither_key_nor_server(server, tmp_path, monkeypatch):
    first = make(server.base_url)
    calls = Notes()
    first.open(Recording(tmp_path), calls)
    vectors, usage = first.embed(["abc", "de"])
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    again = make("https://api.example.com/v1")
    again.open(Recording(tmp_path, "replay"), calls)
    replayed, replayed_usage = again.embed(["abc", "de"])
    assert (replayed == vectors).all()
    assert (replayed_usage, server.requests) == (usage, 1)
    live, call = calls.calls
    assert (live.replayed, live.attempts, call.replayed, call.attempts) == (False, 1, True, 0)
    assert (call.live_ms, call.key) == (live.live_ms, live.key)
    with pytest.raises(InputError, match=r"llm\.cache=replay"):
        again.embed(["never asked"])
    assert len(calls.calls) == 2


def row(index: Any, vector: Any) -> dict[str, Any]:
    return {"index": index, "embedding": vector}


GOOD = [row(0, [1.0, 0.0]), row(1, [0.0, 2.0])]
UNUSABLE: dict[str, tuple[Any, str]] = {
    "zero": ({"data": [row(0, [0, 0]), row(1, [1, 2])]}, "none of them zero"),
    "not too large": ({"data": [row(0, [1e30, 0]), row(1, [1, 2])]}, "not too large"),
    "beyond float32": ({"data": [row(0, [1e300, 0]), row(1, [1, 2])]}, "not too large"),
    "NaN": ({"data": [row(0, [float("nan"), 0]), row(1, [1, 2])]}, "NaN"),
    "null": ({"data": [row(0, [None, 0]), row(1, [1, 2])]}, "no list of vectors"),
    "booleans": ({"data": [row(0, [True, False]), row(1, [True, True])]}, "no list of vectors"),
    "base64": ({"data": [row(0, "AAAA"), row(1, "AAAA")]}, "no list of vectors"),
    "no numbers": ({"data": [row(0, []), row(1, [])]}, "no list of vectors"),
    "two lengths": ({"data": [row(0, [1]), row(1, [1, 2])]}, "no list of vectors"),
    "nested": ({"data": [row(0, [[1]]), row(1, [[2]])]}, "no list of vectors"),
    "another length": ({"data": [row(0, [1, 2, 3]), row(1, [1, 2, 3])]}, "of 3 numbers"),
    "one row": ({"data": GOOD[:1]}, "1 vectors for 2 texts"),
    "one row too many": ({"data": [*GOOD, row(1, [1, 1])]}, "3 vectors for 2 texts"),
    "index missing": ({"data": [{"embedding": [1, 2]}] * 2}, "no list of vectors"),
    "data is a number": ({"data": 5}, "no list of vectors"),
    "error with status 200": ({"error": {"message": "busy"}}, "busy"),
    "tokens below 0": ({"data": GOOD, "usage": {"prompt_tokens": -1}}, "usage.prompt_tokens"),
    "deep": ({"data": GOOD, "more": json.loads("[" * 200 + "]" * 200)}, "nested more than"),
}


@pytest.fixture(scope="module")
def faulty() -> Iterator[FaultyServer]:
    """A server whose first answer to the texts of a case is the case's."""
    asked: list[str] = []

    def choose(body: Body) -> Any:
        name = body["input"][0]
        if name not in UNUSABLE or name in asked:
            return lengths
        asked.append(name)
        return faults.answer(UNUSABLE[name][0])

    with FaultyServer(choose) as server:
        yield server


@pytest.fixture(scope="module")
def embedders(
    faulty: FaultyServer, tmp_path_factory: pytest.TempPathFactory
) -> dict[Mode, EndpointEmbedder]:
    """One that is live and one that replays, both of which know vectors of two numbers."""
    folder = tmp_path_factory.mktemp("calls")
    modes: tuple[Mode, ...] = ("auto", "replay")
    made = {mode: make(faulty.base_url, retries=0) for mode in modes}
    for mode, embedder in made.items():
        embedder.open(Recording(folder, mode), Meter())
        embedder.embed(["first"])
    return made


@pytest.mark.parametrize("name", UNUSABLE)
def test_unusable_vectors_are_an_error_and_requested_again(name, faulty, embedders):
    before = faulty.requests
    with pytest.raises(LLMError, match=UNUSABLE[name][1]) as error:
        embedders["auto"].embed([name, "de"])
    with pytest.raises(LLMError) as again:
        embedders["replay"].embed([name, "de"])
    assert str(again.value) == str(error.value)
    assert faulty.requests == before + 1
    vectors, _ = embedders["auto"].embed([name, "de"])
    assert (vectors.shape, faulty.requests) == ((2, 2), before + 2)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("timeout_s", 0), ("retries", -1), ("key_variable", "sk-secret-0123"), ("model", " ")),
        ("base_url", "http://u:sk-secret@localhost/v1"),
    ],
)
def test_wrong_settings_are_named(name, value):
    usual = {"model": "small", "base_url": "http://127.0.0.1:1/v1", "typical_similarity": 0.5}
    with pytest.raises(InputError, match=rf"embedder\.{name}: ") as error:
        EndpointEmbedder(**{**usual, name: value})
    assert "secret" not in str(error.value)
