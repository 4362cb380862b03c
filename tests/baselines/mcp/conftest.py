"""Toy servers in this process."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from baselines.mcp import admission
from baselines.mcp import strategy as module
from baselines.mcp.admission import Server
from baselines.mcp.connection import Address, Command
from baselines.mcp.strategy import Mcp
from baselines.mcp.tools import Wanted
from memsys.strategies.store import Parts
from tests.baselines.mcp.toy import Toy

pytest.importorskip("mcp")


@dataclass(frozen=True)
class _Inside(Command):
    """A command whose processes are toys: each opening is a new one."""

    toys: list[Toy] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None: ...

    def open(self, folder: Path) -> Callable[[], Any]:
        toy = Toy(self.text)
        self.toys.append(toy)
        return lambda: toy.server


@dataclass(frozen=True)
class _There(Address):
    """An address at which toys share their memories."""

    rows: list[dict[str, Any]] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None: ...

    def open(self, folder: Path | None = None) -> Callable[[], Any]:
        toy = Toy(self.url)
        toy.rows = self.rows
        return lambda: toy.server


def server_of(
    kind: str, *, there: bool = False, timeout_s: float = 20, settle_s: float = 0, **wanted: Any
) -> Server:
    at = _There(kind, "") if there else _Inside(kind, {}, ())
    return Server(at, Wanted(**wanted), timeout_s, settle_s)


def toys_of(server: Server) -> list[Toy]:
    assert isinstance(server.at, _Inside)
    return server.at.toys


def rows_at(server: Server) -> list[dict[str, Any]]:
    assert isinstance(server.at, _There)
    return server.at.rows


@pytest.fixture(autouse=True)
def none_admitted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "_ADMITTED", {})


@pytest.fixture
def mcp_of(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Server, Parts], Mcp]]:
    """Make a strategy over a server."""
    with ExitStack() as stack:

        def make(server: Server, parts: Parts, k: int = 3) -> Mcp:
            monkeypatch.setattr(module, "server_of", lambda **_: server)
            return stack.enter_context(closing(Mcp(parts, k, None)))

        yield make
