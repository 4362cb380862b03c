"""What a strategy may have beside its two verbs, and what a run makes of it."""

from __future__ import annotations

from typing import Any

from baselines.rankings import BM25
from memsys.strategies.strategy import Strategy


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
