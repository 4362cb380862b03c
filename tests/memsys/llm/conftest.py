import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from memsys.llm.client import ChatClient, ChatSettings
from memsys.llm.meter import Meter
from memsys.llm.recording import Mode, Recording
from tests.memsys.llm.server import FaultyServer
from tests.shared import no_key

__all__ = ["no_key"]  # a fixture

Make = Callable[..., ChatClient]
HELLO = [{"role": "user", "content": "hello there"}]


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that clients wait before they try again; each pause ends after 10 ms."""
    asked: list[float] = []

    def sleep(seconds: float) -> None:
        asked.append(seconds)
        time.sleep(0.01)

    clock = SimpleNamespace(**{**vars(time), "sleep": sleep})
    monkeypatch.setattr("openai._base_client.time", clock)
    return asked


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """A client of a server; `mode`, `meter` and `budget` as open takes them."""

    def made(
        server: FaultyServer | str,
        mode: Mode = "auto",
        meter: Meter | None = None,
        budget: Any = None,
        **settings: Any,
    ) -> ChatClient:
        base_url = server if isinstance(server, str) else server.base_url
        one = ChatSettings(**{"model": "gpt-4o-mini", "base_url": base_url, **settings})
        return one.open(Recording(tmp_path, mode), meter or Meter(), budget)

    return made


def ask_at_once(client: ChatClient, count: int) -> list[Any]:
    """So many requests of as many threads; what was asked."""
    asked = [[{"role": "user", "content": str(i)}] for i in range(count)]
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(client.complete, asked))
    return asked


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    """A server that answers everything."""
    with FaultyServer() as one:
        yield one
