"""What a finished run leaves in the memory of its process, and the time of a run on turns of one
unbroken run of characters: it grows linearly with their length.
"""

import gc
import json
import signal
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
from tests.eval.commands import run_main, runs_in, small_sample

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


_LENGTH = 100_000
_HUNG_S = 300  # what is quadratic takes many times as long, and what is linear some seconds
_UNITS = ("a", ".", " ", "( ", "我你他们好", "[image: ", "1.", "no one ")


def test_long_turns_do_not_hang_a_run(tmp_path, cache):
    sample = small_sample("ash")
    turns = sample["conversation"]["session_1"]
    for number, unit in enumerate(_UNITS):
        text = (unit * _LENGTH)[:_LENGTH] + "end"
        turns.append({"dia_id": f"D1:{number + 10}", "speaker": "Ada", "text": text})
    path = tmp_path / "long.json"
    path.write_text(json.dumps([sample]), encoding="utf-8")
    arguments = ["strategy=bm25", f"dataset.path={path}", "k=5", "budget=1000000"]
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.alarm(_HUNG_S)
    try:
        assert run_main(tmp_path, cache, *arguments).code == 0
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    (run,) = runs_in(tmp_path)
    assert {record["status"] for record in run.records} == {"ok"}
    assert max(record["context_tokens"] for record in run.records) > _LENGTH / 10
