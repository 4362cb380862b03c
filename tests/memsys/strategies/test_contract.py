"""The five strategies keep the contract, from every start ranking."""

from __future__ import annotations

from typing import ClassVar

from memsys.strategies.plain import FullContext, VectorOnly
from memsys.strategies.store import Parts
from memsys.strategies.strategy import Strategy
from tests.memsys.contract import Contract
from tests.memsys.strategies import make


class TestFullContext(Contract):
    cut_by_k: ClassVar[bool] = False

    def make(self, parts: Parts, k: int = 3, budget: int | None = None) -> Strategy:
        return FullContext(parts, budget=budget)


class TestVectorOnly(Contract):
    def make(self, parts: Parts, k: int = 3, budget: int | None = None) -> Strategy:
        return VectorOnly(parts, k, budget)


class TestGraphScore(Contract):
    def make(self, parts: Parts, k: int = 3, budget: int | None = None) -> Strategy:
        return make.graph_score(parts, k, budget, pool=99)


class TestGraphExpand(Contract):
    def make(self, parts: Parts, k: int = 3, budget: int | None = None) -> Strategy:
        return make.graph_expand(parts, k, budget)


class TestHybridGate(Contract):
    def make(self, parts: Parts, k: int = 3, budget: int | None = None) -> Strategy:
        return make.hybrid_gate(parts, k, budget)


class TestGraphScoreFromWords(Contract):
    def make(self, parts: Parts, k: int = 3, budget: int | None = None) -> Strategy:
        return make.graph_score(parts, k, budget, "lexical", pool=99)


class TestHybridGateFromBoth(Contract):
    def make(self, parts: Parts, k: int = 3, budget: int | None = None) -> Strategy:
        return make.hybrid_gate(parts, k, budget, "hybrid")
