"""Parts, and a library that is always there: the keeper, run by this very interpreter."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from baselines.libraries import memory
from baselines.libraries.memory import LibraryMemory
from memsys.strategies.store import Parts
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
