from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memsys.llm.client import ChatClient, ChatSettings
from memsys.llm.meter import Meter
from memsys.llm.recording import Mode, Recording
from tests.memsys.llm.server import FaultyServer

Make = Callable[..., ChatClient]


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


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
