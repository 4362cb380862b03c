"""What a strategy may have beside its two verbs, and what a run makes of it; of sessions that ask
for the deletion of turns, what a run does then, and what it records.
"""

import json
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from baselines.rankings import BM25
from eval.datasets.locomo import LoCoMo
from eval.datasets.pooled import pool
from eval.datasets.types import Dataset
from eval.run.ingest import ingest
from memsys.core.types import Conversation, Query, Retrieval, Session
from memsys.llm.meter import Meter
from memsys.strategies.strategy import MemoryStrategy, Strategy
from tests.eval.commands import small_sample

DAY = datetime(2024, 3, 2)
SESSIONS = (Session("s1", DAY, ()), Session("s2", DAY, (), forgets=("D1:2", "D1:3")))


class Forgetful(LoCoMo):
    """The data set, whose last sessions ask to forget the second turn."""

    def load(self) -> Dataset:
        loaded = super().load()

        def asking(one: Conversation) -> Conversation:
            *others, last = one.sessions
            return replace(one, sessions=(*others, replace(last, forgets=("D1:2",))))

        return replace(loaded, conversations=tuple(map(asking, loaded.conversations)))


class Recorder(MemoryStrategy):
    """Notes its calls; `result` is what it answers to a deletion."""

    def __init__(self, result: int | Exception | None) -> None:
        self.calls: list[Any] = []
        self._result = result

    def ingest(self, session: Session) -> int:
        self.calls.append(session.id)
        return 3

    def forget(self, turns: Any) -> int | None:
        self.calls.append(tuple(turns))
        if isinstance(self._result, Exception):
            raise self._result
        return self._result

    def retrieve(self, query: Query) -> Retrieval:
        return Retrieval((), "", 0)


def lines_of(strategy: MemoryStrategy) -> list[dict[str, Any]]:
    """What a run notes of the ingestion of SESSIONS."""
    lines: list[Any] = []
    conversation = Conversation("talk", (), SESSIONS)
    ingest(conversation, strategy, Meter(), lambda line, _: lines.append(line), lambda _: None)
    return lines


@pytest.mark.parametrize(("result", "noted"), [(2, 2), (0, 0), (None, "unsupported")])
def test_a_deletion_follows_its_session_and_is_recorded(result, noted):
    strategy = Recorder(result)
    first, second, *_ = lines_of(strategy)
    assert strategy.calls[:3] == ["s1", "s2", ("D1:2", "D1:3")]
    assert "events" not in first
    assert second["events"] == [{"step": "forget", "turns": ["D1:2", "D1:3"], "result": noted}]
    assert [second["status"], second["memories"]] == ["ok", 3]


def test_a_failed_deletion_is_a_failed_ingestion():
    *_, last = lines_of(Recorder(OSError("the disk is read-only")))
    assert (last["session"], last["status"]) == ("s2", "error")
    assert "the disk is read-only" in last["error"]["message"]


def test_a_strategy_cannot_delete_unless_it_says_so():
    class Simple(Recorder):
        forget = MemoryStrategy.forget

    assert lines_of(Simple(2))[1]["events"][0]["result"] == "unsupported"


def test_pooled_deletions_name_the_turns_of_their_conversation(tmp_path):
    path = tmp_path / "small.json"
    path.write_text(json.dumps([small_sample(one) for one in ("ash", "beech")]))
    (pooled,) = pool(Forgetful(name="small", path=str(path)).load()).conversations
    asked = {one.owner: one.forgets for one in pooled.sessions if one.forgets}
    assert asked == {"ash": ("ash:D1:2",), "beech": ("beech:D1:2",)}


def test_a_resumed_run_deletes_again(broken):
    target = f"dataset._target_={Forgetful.__module__}.Forgetful"
    case = broken("strategy.fault=third", "k=99", target)
    assert case.errors
    run = case.resume()
    events = [event for line in run.ingests for event in line.get("events", ())]
    assert [one["result"] for one in events if one["step"] == "forget"] == [2, 2, 2]
    found = {one["id"]: json.dumps(one["retrieved"]) for one in run.records}
    assert set(case.errors) <= set(found)
    assert all('D1:1"' in turns and 'D1:2"' not in turns for turns in found.values())


def test_the_size_of_the_store_and_the_system_behind_it_are_recorded(made, monkeypatch):
    services: list[Strategy] = []
    closed: list[Strategy] = []

    class Service(BM25):
        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named)
            self.details = {"library": "shelf", "degraded": ["no keyword search"]}
            services.append(self)

        def close(self) -> None:
            closed.append(self)

    monkeypatch.setattr("baselines.rankings.BM25", Service)
    run = made("strategy=bm25")
    assert run.manifest["system"] == {"library": "shelf", "degraded": ["no keyword search"]}
    stores = [line["store"] for line in run.ingests if line["phase"] == "index"]
    assert [store["memories"] for store in stores] == [6, 6, 6]
    assert all(store["tokens"] > 6 for store in stores)
    assert not any("store" in line for line in run.ingests if line["phase"] == "ingest")
    fed = [one for one in services if one.store.memories]
    assert closed == fed
    assert len(fed) == 3


def test_a_class_that_is_not_derived_from_the_base_class_is_refused(start, small, monkeypatch):
    monkeypatch.setattr("baselines.rankings.BM25", type("Loner", (), {}))
    start("strategy=bm25", *small).refused(
        "strategy=bm25: Loner is not derived from memsys.strategies.strategy.MemoryStrategy"
    )
