"""The strategies of memsys keep the contract, from every start ranking, and name wrong settings."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import pytest

from memsys.core.errors import InputError
from memsys.strategies.plain import FullContext
from memsys.strategies.store import Parts
from memsys.strategies.strategy import Strategy
from tests.memsys.build import BagOfTokens
from tests.memsys.contract import Contract
from tests.memsys.strategies.make import option

MADE: dict[str, Callable[..., Strategy]] = {
    **{
        name: partial(option, name)
        for name in ("vector_only", "graph_expand", "hybrid_gate", "fusion", "auto", "decompose")
    },
    "graph_score": partial(option, "graph_score", pool=99),
    "graph_score from words": partial(option, "graph_score", start="lexical", pool=99),
    "hybrid_gate from both": partial(option, "hybrid_gate", start="hybrid"),
    "all conjuncts": partial(option, "decompose", start="hybrid", conjuncts="all", whole=False),
}


class TestFullContext(Contract):
    cut_by_k: ClassVar[bool] = False

    def make(self, parts: Parts, k: int = 3, budget: int | None = None) -> Strategy:
        return FullContext(parts, budget=budget)


class TestStrategies(Contract):
    @pytest.fixture(autouse=True, params=MADE)
    def name(self, request: pytest.FixtureRequest) -> None:
        self.made = MADE[request.param]

    def make(self, parts: Parts, k: int = 3, budget: int | None = None) -> Strategy:
        return self.made(parts, k, budget)


class TestLateInteraction(Contract):
    @pytest.fixture
    def parts(self, parts: Any) -> Any:
        embedder = BagOfTokens()
        return lambda **other: parts(embedder, **other)

    @pytest.fixture(autouse=True, params=[{}, {"start": "hybrid", "weight": 0.5}], ids=str)
    def settings(self, request: pytest.FixtureRequest) -> None:
        self.change = request.param

    def make(self, parts: Parts, k: int = 3, budget: int | None = None) -> Strategy:
        return option("late_interaction", parts, k, budget, **self.change)


STARTING = ("graph_score", "graph_expand", "hybrid_gate", "late_interaction", "decompose")


@pytest.mark.parametrize(
    ("name", "wrong", "said"),
    [
        *(
            (name, {"start": "dense"}, "start: 'dense'; use one of vector, lexical")
            for name in STARTING
        ),
        ("graph_score", {"k": 4, "pool": 3}, "pool: 3; use a whole number of k=4 or more"),
        ("graph_expand", {"pool": "many"}, "pool: 'many'; use a whole"),
        ("graph_expand", {"rescore": "other"}, "rescore: 'other'; use one of memory_score"),
        ("hybrid_gate", {"use_graph_expansion": "no"}, "use_graph_expansion: 'no'; use true or"),
        *(("late_interaction", {wrong: -1}, f"{wrong}: ") for wrong in ("pool", "weight", "idf")),
        ("late_interaction", {"pool": 2}, "pool: "),
        ("late_interaction", {"weight": 1.5}, "weight: "),
        ("decompose", {"conjuncts": "verbs"}, "conjuncts: "),
        *(("auto", {wrong: 0}, f"{wrong}: ") for wrong in ("seeds", "steps")),
        ("auto", {"damping": 1.0}, "damping: "),
    ],
)
def test_wrong_settings_are_named(parts, name, wrong, said):
    with pytest.raises(InputError, match=rf"^strategy\.{said}"):
        option(name, parts(BagOfTokens()), **wrong)
