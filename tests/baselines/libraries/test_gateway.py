"""The gateway through the protocol's own client: what a library would see, and what is kept."""

import queue
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import openai
import pytest
from openai import OpenAI

from baselines.libraries.pipe import Gateway, GatewayRequest
from memsys.embed.cache import CachedEmbedder
from memsys.llm.base import LLM
from memsys.llm.budget import Budget, BudgetReached
from memsys.llm.client import ChatSettings
from memsys.llm.meter import Meter
from memsys.llm.pricing import PRICING, load_pricing
from memsys.llm.recording import Mode, Recording
from tests.memsys.build import BagOfWords
from tests.memsys.llm import faults
from tests.memsys.llm.server import FaultyServer

SAID = [{"role": "user", "content": "Hello."}]
KEY = "sk-the-real-one-55aa"
PARAMETERS = {"type": "object", "properties": {"fact": {"type": "string"}}, "required": ["fact"]}
TOOL = {"type": "function", "function": {"name": "keep", "parameters": PARAMETERS}}


def chat(client: OpenAI, messages: Any = SAID, **more: Any) -> Any:
    return client.chat.completions.create(model="m", messages=messages, **more)


class Desk:
    """A gateway whose jobs are answered in this thread while a client asks in another."""

    def __init__(self, embedder: CachedEmbedder, llm: LLM | None = None) -> None:
        self.jobs: queue.SimpleQueue[GatewayRequest] = queue.SimpleQueue()
        self.gateway = Gateway(embedder, llm, self.jobs.put)
        self.client = OpenAI(api_key=self.gateway.key, base_url=self.gateway.base_url)

    def ask(self, call: Callable[[OpenAI], Any]) -> Any:
        """What the client gets or raises; what answering raises is raised first."""
        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(call, self.client)
            while not asked.done():
                try:
                    job = self.jobs.get(timeout=0.02)
                except queue.Empty:
                    continue
                self.gateway.answer(job)
            return asked.result()


@pytest.fixture
def meter() -> Meter:
    return Meter()


@pytest.fixture
def embedder(tmp_path: Path, meter: Meter) -> CachedEmbedder:
    return CachedEmbedder(BagOfWords(), tmp_path / "vectors", meter)


Open = Callable[..., Desk]


@pytest.fixture
def desk(
    embedder: CachedEmbedder, meter: Meter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Open]:
    """Open a desk, before `server` if one is given."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    opened = []

    def make(
        server: FaultyServer | None = None, mode: Mode = "auto", usd: float | None = None
    ) -> Desk:
        llm = None
        if server:
            settings = ChatSettings(
                model="gpt-4o-mini", base_url=server.base_url, seed=5, max_tokens=99
            )
            budget = None if usd is None else Budget(usd, load_pricing(PRICING))
            llm = settings.open(Recording(tmp_path / "calls", mode), meter, budget)
        opened.append(Desk(embedder, llm))
        return opened[-1]

    yield make
    for one in opened:
        one.client.close()
        one.gateway.close()


@pytest.mark.parametrize("form", [{}, {"encoding_format": "float"}, {"dimensions": 64}])
def test_embeddings_are_the_run_s_own_and_metered(desk, embedder, meter, form):
    texts = ["a red kite", "the blue kayak"]
    with meter.phase() as reading:
        answer = desk().ask(lambda c: c.embeddings.create(model="m", input=texts, **form))
    got = np.array([row.embedding for row in answer.data], dtype=np.float32)
    assert np.array_equal(got, embedder.documents(texts))
    assert (reading.usage.calls, reading.usage.input_tokens) == (1, 2)
    assert answer.usage.prompt_tokens == 6


def test_while_a_question_is_asked_a_text_is_a_query(tmp_path, meter):
    bag: Any = BagOfWords()
    bag.query_prefix, bag.document_prefix = "query: ", "passage: "
    one = Desk(CachedEmbedder(bag, tmp_path, meter))
    one.ask(lambda c: c.embeddings.create(model="m", input="kite"))
    one.gateway.kind = "query"
    one.ask(lambda c: c.embeddings.create(model="m", input="kite"))
    one.gateway.close()
    assert bag.batches[-2:] == [["passage: kite"], ["query: kite"]]


def test_a_chat_passes_as_it_is_but_for_model_and_key(desk, meter):
    given: dict[str, Any] = {"messages": SAID, "tools": [TOOL], "temperature": 0.7}
    given |= {"tool_choice": "auto", "top_p": 0.5}
    with FaultyServer() as server:
        one = desk(server)
        with meter.phase() as reading:
            answer = one.ask(lambda c: c.chat.completions.create(model="whatever", **given))
        one.ask(partial(chat, max_tokens=7))
        (body, limited), (headers, _) = server.bodies, server.headers
        key = one.gateway.key
    assert body == {**given, "model": "gpt-4o-mini", "max_tokens": 99, "seed": 5}
    assert limited["max_tokens"] == 7  # the library's own
    assert headers["authorization"] == f"Bearer {KEY}"
    assert key not in str(headers) + str(body)
    assert answer.choices[0].message.tool_calls[0].function.name == "keep"
    assert reading.by_model["gpt-4o-mini"].output_tokens == answer.usage.completion_tokens == 2
    assert len(reading.keys) == 1


def test_a_recorded_chat_is_replayed_without_a_server(desk, meter):
    def ask(one: Desk, mode: str) -> Any:
        with meter.phase() as reading:
            answer = one.ask(chat)
        assert (mode, reading.replayed) == (mode, mode == "replay")
        return answer.model_dump()

    with FaultyServer() as server:
        first = ask(desk(server), "live")
        again = ask(desk(server), "replay")
        assert server.requests == 1
    assert first == again == ask(desk(server, "replay"), "replay")


def test_no_key_lies_on_disk(desk, tmp_path):
    with FaultyServer([faults.answer({"error": {"message": f"bad {KEY}"}})]) as server:
        one = desk(server)
        with pytest.raises(openai.BadRequestError) as raised:
            one.ask(chat)
        one.ask(chat)
    assert KEY not in str(raised.value) + str(one.gateway.refused)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) >= 2
    for path in files:
        assert not [key for key in (KEY, one.gateway.key) if key.encode() in path.read_bytes()]


@pytest.mark.parametrize("key", ["", "sk-guess", KEY])
def test_another_process_without_the_key_is_turned_away(desk, key):
    one = desk()
    stranger = OpenAI(api_key=key or "none", base_url=one.gateway.base_url, max_retries=0)
    with pytest.raises(openai.AuthenticationError, match="not the key"):
        stranger.embeddings.create(model="m", input="kite")
    assert one.jobs.empty()


def test_without_a_model_a_chat_is_refused_once_and_says_why(desk):
    one = desk()
    with pytest.raises(openai.BadRequestError, match="llm=none; add llm=openai"):
        one.ask(chat)
    assert len(one.gateway.refused) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c: c.embeddings.create(model="m", input=[[1, 2]]), "token numbers"),
        (lambda c: c.embeddings.create(model="m", input=[]), "token numbers"),
        (lambda c: c.embeddings.create(model="m", input="a", dimensions=9), "dimensions"),
        (partial(chat, stream=True), "stream"),
        (lambda c: c.responses.create(model="m", input="hi"), "/responses: not served"),
    ],
)
def test_what_is_not_served_says_so(desk, call, message):
    with FaultyServer() as server, pytest.raises(openai.BadRequestError, match=message):
        desk(server).ask(call)
    assert server.requests == 0


def test_a_refusal_is_passed_to_the_library_and_a_spent_budget_ends_the_run(desk):
    with FaultyServer([faults.status(400, "no talk of that")]) as server:
        one = desk(server)
        with pytest.raises(openai.BadRequestError, match="no talk of that"):
            one.ask(chat)
        assert "no talk of that" in one.gateway.refused[0]
        with pytest.raises(BudgetReached):
            desk(server, usd=1e-7).ask(partial(chat, messages=[*SAID, *SAID]))
        assert server.requests == 1
