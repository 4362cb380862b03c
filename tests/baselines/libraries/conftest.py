"""A library that is always there, the keeper, run by this very interpreter; and what the tests of
the real libraries share, which run only where the library is installed.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from baselines.libraries import memory
from baselines.libraries.memory import LibraryMemory, is_installed
from memsys.core.types import Session
from memsys.llm.client import ChatSettings
from memsys.llm.meter import Meter
from memsys.llm.recording import Mode, Recording
from memsys.strategies.store import Parts
from tests.memsys.build import MakeParts, session
from tests.memsys.left import files_with
from tests.memsys.llm.server import FaultyServer
from tests.shared import no_key

__all__ = ["no_key"]

Keeper = Callable[..., LibraryMemory]


@pytest.fixture
def keeper(monkeypatch: pytest.MonkeyPatch) -> Iterator[Keeper]:
    """Make a strategy whose library is the keeper."""
    script = Path(__file__).parent / "keeper.py"
    monkeypatch.setattr(memory, "python_of", lambda _: Path(sys.executable))
    monkeypatch.setattr(memory, "adapter_of", lambda _: script)
    with ExitStack() as stack:

        def make(parts: Parts, k: int = 3, budget: int | None = None, **own: Any) -> LibraryMemory:
            made = LibraryMemory(parts, k, budget, "keeper", **{"infer": False, **own})
            return stack.enter_context(closing(made))

        yield make


MADE = {
    "cognee": "1.6.5",
    "graphiti": "0.31.1",
    "hipporag": "2.0.0a4",
    "langmem": "0.0.30",
    "letta": "0.16.8",
    "lightrag": "1.5.7",
    "mem0ai": "2.2.1",
    "mem0ai_graph": "1.0.11",
}
TALK = (  # the examples of Mem0's own documentation: a changed mind, and one that grew
    session(1, datetime(2023, 5, 1, 13), ("Ada", "I like badminton."), ("Ada", "I love pizza.")),
    session(
        2,
        datetime(2023, 5, 20, 13),
        ("Ada", "I do not like badminton any more."),
        ("Ada", "I also love burgers."),
    ),
)


def needs(name: str) -> list[pytest.MarkDecorator]:
    """For `pytestmark`: slow, and skipped where the library is not, with how to install it."""
    missing = pytest.mark.skipif(not is_installed(name), reason=f"make baseline NAME={name}")
    return [pytest.mark.slow, missing]


@contextmanager
def ingested(
    name: str, parts: Parts, sessions: tuple[Session, ...] = TALK, k: int = 5, **own: Any
) -> Iterator[LibraryMemory]:
    """The real library, which has ingested `sessions`."""
    with closing(LibraryMemory(parts, k, None, name, **{"timeout_s": 120, **own})) as strategy:
        for one in sessions:
            strategy.ingest(one)
        yield strategy


def written_with(text: str, strategy: LibraryMemory) -> list[str]:
    """The names of the library's files, other than what it logged, that contain `text`."""
    assert strategy._open is not None
    names = [Path(one).name for one in files_with(Path(strategy._open[2].name), text)]
    return [name for name in names if name != "stderr.txt"]


def asking(
    parts: MakeParts, server: FaultyServer, folder: Path, mode: Mode = "auto", meter: Any = None
) -> Parts:
    """Parts with a model behind `server`."""
    settings = ChatSettings(model="gpt-4o-mini", base_url=server.base_url, retries=0)
    return parts(llm=settings.open(Recording(folder, mode), meter or Meter()))
