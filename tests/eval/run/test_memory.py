"""What a finished run leaves in the memory of its process."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from eval.run.build import Built
from eval.run.runner import Runner
from memsys.core.types import Conversation
from memsys.embed.cache import CachedEmbedder
from memsys.graph.store import NetworkXStore
from memsys.llm.recording import Recording
from memsys.strategies.shared import Shared
from memsys.strategies.strategy import MemoryStrategy
from tests.eval.commands import run_main

HEAVY = (
    *(Built, Runner, Shared, Conversation, CachedEmbedder, Recording),
    *(NetworkXStore, MemoryStrategy),
)


@pytest.fixture
def uncollected() -> Iterator[None]:
    """No garbage collection: only what nothing refers to is freed."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize("sweep", [(), ("-m", "k=1,2")])
def test_nothing_refers_to_a_run_that_has_ended(tmp_path, cache, small, monkeypatch, sweep):
    calls = []
    monkeypatch.setattr(gc, "freeze", lambda: calls.append("freeze"))
    monkeypatch.setattr(gc, "unfreeze", lambda: calls.append("unfreeze"))
    before = {id(one) for one in gc.get_objects() if isinstance(one, HEAVY)}
    run_main(tmp_path, cache, "strategy=graph_expand", *small, *sweep).ok()
    left = [one for one in gc.get_objects() if isinstance(one, HEAVY) and id(one) not in before]
    assert [type(one).__name__ for one in left] == []
    assert calls == ["freeze", "unfreeze"] * (2 if sweep else 1)
