"""A library behind its pipe and gateway keeps the contract of every strategy."""

from datetime import datetime
from pathlib import Path
from typing import ClassVar

import pytest

from baselines.libraries import memory
from baselines.libraries.memory import HERE, LibraryMemory, names
from baselines.libraries.pipe import LibraryError
from memsys.core.errors import InputError
from memsys.llm.meter import Meter
from memsys.strategies.store import Parts
from memsys.strategies.strategy import Strategy
from tests.baselines.libraries.conftest import Keeper, asking
from tests.memsys import contract
from tests.memsys.build import SESSIONS, TURN_IDS, ingest_all, query, session
from tests.memsys.contract import Contract
from tests.memsys.llm import faults
from tests.memsys.llm.server import FaultyServer, Script

DAY = datetime(2024, 3, 2, 10, 0)


def test_a_library_ranks_counts_and_forgets_by_its_own_means(keeper, parts):
    strategy = keeper(parts(), 10)
    assert strategy.details == {}
    assert strategy.forget(["D1:1"]) == 0  # nothing was started
    ingest_all(strategy)
    first = strategy.retrieve(query("sold a bowl at the Lantern market")).candidates[0]
    assert (first.memory.turns, first.memory.time) == (("D3:1",), SESSIONS[2].time)
    assert first.memory.speaker == "Mara"
    assert 0 < first.score <= 1
    assert strategy.size() == {"memories": 10}
    assert strategy.forget(["D1:1", "D2:2", "D9:9"]) == 2
    found = strategy.retrieve(query("pottery in a kiln")).candidates
    assert {one.memory.id for one in found} == set(TURN_IDS) - {"D1:1", "D2:2"}


def test_a_library_that_cannot_delete_says_so(keeper, parts, tmp_path, monkeypatch):
    script = tmp_path / "adapter.py"
    text = (Path(__file__).parent / "keeper.py").read_text(encoding="utf-8")
    script.write_text(text.replace("def delete(", "def other("), encoding="utf-8")
    monkeypatch.setattr(memory, "adapter_of", lambda _: script)
    strategy = keeper(parts(), 10)
    strategy.ingest(SESSIONS[0])
    assert strategy.forget(["D1:1"]) is None
    assert len(strategy.retrieve(query("pottery")).candidates) == 4
    assert strategy.retrieve(query(" ")).candidates == ()


class TestContract(Contract):
    rewrites: ClassVar[bool] = False

    @pytest.fixture(autouse=True)
    def made_by(self, keeper: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
        self.keeper = keeper
        # Many tests start a process for each question.
        monkeypatch.setattr(contract, "QUERIES", contract.QUERIES[:3])  # the last is blank

    def make(self, parts: Parts, k: int = 3, budget: int | None = None) -> Strategy:
        return self.keeper(parts, k, budget)


def test_the_network_is_not_reached_and_a_crash_is_an_error_of_the_session(keeper, parts):
    strategy = keeper(parts())
    strategy.ingest(SESSIONS[0])
    assert strategy.details == {"library": "keeper", "version": "1.2.3", "degraded": ["no poetry"]}
    for _ in range(2):
        strategy.ingest(session(2, DAY, ("Mara", "I mumble."), ("Mara", "I mumble as well.")))
        warned = {"step": "library", "warning": "keeper: a word was dropped"}  # once a reply
        assert strategy.events == [warned]
        strategy.events.clear()
    with pytest.raises(LibraryError, match=r"192\.0\.2\.1: only loopback"):
        strategy.ingest(session(2, DAY, ("Mara", "I telephone.")))
    strategy.ingest(SESSIONS[2])
    assert strategy.details["blocked"] == ["192.0.2.1"]
    with pytest.raises(LibraryError, match="code 3"):
        strategy.ingest(session(4, DAY, ("Mara", "It will crash.")))
    with pytest.raises(LibraryError, match="code 3"):
        strategy.retrieve(query("What will it do?"))


TWO = session(1, DAY, *[("Mara", f"Line {number}.") for number in range(4)])


def test_facts_are_of_an_exchange_and_its_cost_is_in_the_phase(keeper, parts, tmp_path):
    meter = Meter()
    with FaultyServer() as server:
        strategy = keeper(asking(parts, server, tmp_path, meter=meter), infer=True)
        with meter.phase() as reading:
            assert strategy.ingest(TWO) == 2
    assert reading.usage.calls == server.requests == 2
    assert reading.usage.output_tokens == 4
    found = strategy.retrieve(query("answer")).candidates
    assert {one.memory.turns for one in found} == {("D1:1", "D1:2"), ("D1:3", "D1:4")}
    assert all(one.memory.content.startswith("answer") for one in found)


def test_an_unanswered_call_is_an_event(keeper, parts, tmp_path):
    script: Script = [faults.status(400, "no talk of lines")]
    with FaultyServer(script) as server:
        strategy = keeper(asking(parts, server, tmp_path), infer=True)
        with pytest.raises(LibraryError, match="no talk of lines"):
            strategy.ingest(TWO)
    (event,) = strategy.events
    assert (event["step"], event["fault"]) == ("call", "no_answer")
    assert "no talk of lines" in event["detail"]


def test_what_cannot_be_used_is_one_clear_line(keeper, parts, tmp_path, monkeypatch):
    for wrong in ({"exchange": 0}, {"timeout_s": 0}, {"k": None}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            keeper(parts(), **wrong)
    monkeypatch.undo()
    monkeypatch.setenv("MEMSYS_BASELINES", str(tmp_path))
    with pytest.raises(InputError, match=r"^strategy=mem0ai: no model .*strategy\.infer=false"):
        LibraryMemory(parts(), 3, None, "mem0ai")
    message = "^strategy=mem0ai: not installed; make baseline NAME=mem0ai$"
    with pytest.raises(InputError, match=message):
        LibraryMemory(parts(), 3, None, "mem0ai", infer=False)
    with pytest.raises(InputError, match=r"^strategy\.name: 'zap' is none of "):
        LibraryMemory(parts(), 3, None, "zap", infer=False)


def test_every_library_has_its_three_files():
    for name in names():
        assert (HERE / "adapters" / f"{name}.py").is_file()
        assert (HERE.parents[1] / f"conf/strategy/{name}.yaml").is_file()
