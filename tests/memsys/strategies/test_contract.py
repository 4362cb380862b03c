"""The strategies keep the contract from every start ranking, and keep owners apart."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import pytest

from memsys.core.errors import InputError
from memsys.core.types import Retrieval
from memsys.graph.build import GraphSettings
from memsys.strategies.plain import FullContext
from memsys.strategies.store import Parts
from memsys.strategies.strategy import Strategy
from tests.memsys.build import SESSIONS, TURN_IDS, BagOfTokens, query
from tests.memsys.contract import Contract
from tests.memsys.strategies.make import graph_expand, hybrid_gate, option

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


STARTING = "graph_score graph_expand hybrid_gate late_interaction decompose graph_walk".split()


@pytest.mark.parametrize(
    ("name", "wrong", "message"),
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
        ("graph_walk", {"weight": 1.5}, "weight: "),
        *(
            (name, {wrong: value}, f"{wrong}: ")
            for name in ("auto", "graph_walk")
            for wrong, value in (("seeds", 0), ("steps", 0), ("damping", 1.0))
        ),
    ],
)
def test_wrong_settings_are_named(parts, name, wrong, message):
    with pytest.raises(InputError, match=rf"^strategy\.{message}"):
        option(name, parts(BagOfTokens()), **wrong)


QUERY = query("Who sold a bowl at the Lantern market?")  # of the conversation "talk"
RANKERS = ("vector_only", "bm25", "hybrid_rank")
ALL: dict[str, Callable[[Parts], Strategy]] = {
    **{name: partial(option, name) for name in (*RANKERS, "graph_score", "graph_walk")},
    "graph_score, rarely more than k": partial(option, "graph_score", pool=3),
    "graph_expand": partial(graph_expand, threshold=-1.0, seeds=2),
    "hybrid_gate": partial(hybrid_gate, similarity=1.0, threshold=-1.0),
    "full_context": FullContext,
}


def asked(make: Callable[[Parts], Strategy], parts: Parts) -> tuple[Strategy, Retrieval]:
    """The strategy over both conversations, session by session, others' first; and its answer."""
    strategy = make(parts)
    for one in SESSIONS:
        others = tuple(replace(turn, id=f"other:{turn.id}") for turn in one.turns)
        strategy.ingest(replace(one, owner="other", turns=others))
        strategy.ingest(replace(one, owner="talk"))
    return strategy, strategy.retrieve(QUERY)


@pytest.mark.parametrize("name", ALL)
def test_only_memories_of_the_owner_are_returned_if_that_is_set(name, parts):
    strategy, found = asked(ALL[name], parts(depth=6, owner_filter=True))
    whole = [*found.candidates, *(found.ranking or ())]
    assert {one.memory.id for one in whole} <= set(TURN_IDS)
    assert len(found.candidates) == (10 if name == "full_context" else 3)
    assert strategy.size()["memories"] == 20
    nobody = strategy.retrieve(replace(QUERY, conversation="nobody"))
    assert (nobody.candidates, nobody.context) == ((), "")
    _, found = asked(ALL[name], parts(depth=20))
    every = found.candidates if found.ranking is None else found.ranking
    assert {one.memory.id.startswith("other:") for one in every} == {True, False}


@pytest.mark.parametrize("name", RANKERS)
def test_scores_are_those_of_the_whole_store(name, parts):
    _, every = asked(ALL[name], parts(depth=20))
    _, own = asked(ALL[name], parts(depth=10, owner_filter=True))
    assert own.ranking == tuple(
        one for one in every.ranking or () if not one.memory.id.startswith("other:")
    )


def test_expansion_spends_its_places_on_the_owner(parts):
    """One memory a seed: the best neighbour of the seed is its copy in the other conversation."""
    make = partial(graph_expand, threshold=-1.0, seeds=1, per_seed=1)
    linking = GraphSettings(max_entities=8, max_share=0.5, keyword_weight=0.7, name_weight=1.0)
    (copied,) = asked(make, parts(graph=linking))[1].trace["expansion"]
    assert copied["memory"].removeprefix("other:") == copied["seed"].removeprefix("other:")
    (own,) = asked(make, parts(graph=linking, owner_filter=True))[1].trace["expansion"]
    assert own["memory"] in TURN_IDS


def test_full_context_fills_the_budget_with_the_owners_newest(parts):
    _, found = asked(partial(FullContext, budget=60), parts(owner_filter=True))
    ids = [one.memory.id for one in found.candidates]
    assert ids
    assert ids == TURN_IDS[-len(ids) :]
