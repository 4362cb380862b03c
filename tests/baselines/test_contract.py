"""The baselines keep the contract of every strategy."""

from __future__ import annotations

from typing import ClassVar

from baselines.rankings import BM25, GraphWalk, HybridRank, NoMemory, Oracle
from memsys.store import Parts
from memsys.strategy import Strategy
from tests.memsys.contract import QUERIES, Contract

EVIDENCE = dict.fromkeys((one.id for one in QUERIES), ("D3:1", "D1:4", "D2:1"))


class TestBM25(Contract):
    def make(self, parts: Parts, k: int = 3, budget: int | None = None) -> Strategy:
        return BM25(parts, k, budget)


class TestHybridRank(Contract):
    def make(self, parts: Parts, k: int = 3, budget: int | None = None) -> Strategy:
        return HybridRank(parts, k, budget)


class TestGraphWalk(Contract):
    def make(self, parts: Parts, k: int = 3, budget: int | None = None) -> Strategy:
        return GraphWalk(
            parts, k, budget, start="hybrid", seeds=2, damping=0.9, steps=20, weight=0.3
        )


class TestNoMemory(Contract):
    remembers: ClassVar[bool] = False

    def make(self, parts: Parts, k: int = 3, budget: int | None = None) -> Strategy:
        return NoMemory(parts, k, budget)


class TestOracle(Contract):
    cut_by_k: ClassVar[bool] = False

    def make(self, parts: Parts, k: int = 3, budget: int | None = None) -> Strategy:
        return Oracle(parts, budget, EVIDENCE)
