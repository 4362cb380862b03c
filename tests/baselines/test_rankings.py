from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache, partial
from importlib import import_module
from inspect import signature
from math import log
from pathlib import Path
from typing import Any, ClassVar

import pytest
from omegaconf import OmegaConf

import memsys.core.types
from baselines.rankings import BM25, GraphWalk, HybridRank, NoMemory, Oracle
from memsys.core.types import Query
from memsys.index.rank import IndexSettings
from memsys.knowledge.memory.turns import Turns
from memsys.strategies.store import Parts
from memsys.strategies.strategy import Strategy
from tests.memsys.build import SESSIONS, MakeParts, Planned, ids, ingest_all, query, session
from tests.memsys.contract import QUERIES, Contract

COSINES = {"Mara: salt": 0.1, "Mara: kiln": 0.3, "Mara: wool": 0.5, "Mara: fern": -0.3}
TALK = session(
    1, datetime(2024, 3, 2), *(("Mara", content.removeprefix("Mara: ")) for content in COSINES)
)
FILLER = session(2, datetime(2024, 3, 3), *[("Theo", "rain")] * 4)


def test_bm25_scores_by_the_formula(parts):
    strategy = BM25(parts(Planned(COSINES)), 2)
    strategy.ingest(TALK)
    strategy.ingest(FILLER)
    first, second = strategy.retrieve(query("Which kiln?")).candidates
    # idf ln((8 - 1 + .5) / (1 + .5)), once in a text of mean length (speaker and one word)
    assert (first.memory.id, first.score) == ("D1:2", pytest.approx(log(7.5 / 1.5)))
    assert (second.memory.id, second.score) == ("D1:1", 0)


@pytest.mark.parametrize(
    ("alpha", "order", "scores"),
    [
        # cosines scaled: .5 .75 1 0; words: kiln 1, else 0
        (0.5, ["D1:2", "D1:3", "D1:1", "D1:4"], [0.875, 0.5, 0.25, 0]),
        (1.0, ["D1:3", "D1:2", "D1:1", "D1:4"], [1, 0.75, 0.5, 0]),
        (0.0, ["D1:2", "D1:1", "D1:3", "D1:4"], [1, 0, 0, 0]),
    ],
)
def test_hybrid_rank_mixes_by_alpha(parts, alpha, order, scores):
    strategy = HybridRank(parts(Planned(COSINES), index=IndexSettings(0.9, 0.4, alpha)), 4)
    strategy.ingest(TALK)
    found = strategy.retrieve(query("Which kiln?"))
    assert ids(found) == order
    assert [one.score for one in found.candidates] == pytest.approx(scores, abs=1e-6)


EVIDENCE = {"talk/0": ("D1:2", "D3:1"), "talk/1": ("D2:2",), "talk/2": ()}


@pytest.mark.parametrize(
    ("question", "expected"),
    [("talk/0", ["D1:2", "D3:1"]), ("talk/1", ["D2:2"]), ("talk/2", []), ("talk/9", [])],
)
def test_the_oracle_sees_its_question_s_evidence_alone(parts, question, expected):
    strategy = ingest_all(Oracle(parts(), None, EVIDENCE))
    retrieval = strategy.retrieve(query("The words do not matter", question))
    assert ids(retrieval) == expected
    assert retrieval.context.count("\n") == len(expected)
    assert {one.score for one in retrieval.candidates} <= {1.0}


def test_the_oracle_takes_every_memory_with_evidence_that_was_said(parts):
    windows = parts(memory=Turns("windows", before=1, after=1, lead=0))
    strategy = ingest_all(Oracle(windows, None, EVIDENCE))
    assert ids(strategy.retrieve(query("?", "talk/1"))) == ["D2:1", "D2:2", "D2:3"]
    early = Oracle(parts(), None, EVIDENCE)
    early.ingest(SESSIONS[0])
    assert ids(early.retrieve(query("?", "talk/0"))) == ["D1:2"]


SHOWN = dict.fromkeys((one.id for one in QUERIES), ("D3:1", "D1:4", "D2:1"))


NUMBERS = {"start": "vector", "seeds": 1, "damping": 0.9, "steps": 20, "weight": 0.0}
HYBRID = {**NUMBERS, "start": "hybrid", "seeds": 2, "weight": 0.3}


class TestRankings(Contract):
    @pytest.fixture(autouse=True, params=[BM25, HybridRank, partial(GraphWalk, **HYBRID)])
    def ranking(self, request: pytest.FixtureRequest) -> None:
        self.made = request.param

    def make(self, parts: Parts, k: int = 3, budget: int | None = None) -> Strategy:
        return self.made(parts, k, budget)


class TestNoMemory(Contract):
    remembers: ClassVar[bool] = False

    def make(self, parts: Parts, k: int = 3, budget: int | None = None) -> Strategy:
        return NoMemory(parts, k, budget)


class TestOracle(Contract):
    cut_by_k: ClassVar[bool] = False

    def make(self, parts: Parts, k: int = 3, budget: int | None = None) -> Strategy:
        return Oracle(parts, budget, SHOWN)


CHAIN = (
    "the copper kettle belongs to Selwyn",
    "Selwyn lives beside Ostrava mill",
    "Ostrava mill grinds barley",
    "nobody expected thunder",
    "winter came early",
)
FOUND = {f"Mara: {text}": 0.9 - 0.1 * row for row, text in enumerate(CHAIN[:1] + CHAIN[3:])}
WALKED = {f"Mara: {text}": 0.05 for text in CHAIN} | FOUND


def walk(parts: MakeParts, k: int, **own: Any) -> Strategy:
    strategy = GraphWalk(parts(Planned(WALKED)), k, None, **{**NUMBERS, **own})
    strategy.ingest(session(1, datetime(2024, 3, 2), *(("Mara", text) for text in CHAIN)))
    return strategy


def walked(strategy: Strategy) -> list[str]:
    return [
        c.memory.content.removeprefix("Mara: ") for c in strategy.retrieve(query("?")).candidates
    ]


def test_the_walk_follows_links_and_by_relevance_alone_the_start_ranking(parts):
    assert set(walked(walk(parts, 3))) == set(CHAIN[:3])
    assert walked(walk(parts, 3, weight=1.0)) == [CHAIN[0], CHAIN[3], CHAIN[4]]


def test_a_new_session_changes_the_graph(parts):
    strategy = walk(parts, 5)
    assert set(walked(strategy)[:3]) == set(CHAIN[:3])
    strategy.ingest(session(2, datetime(2024, 3, 3), ("Mara", "barley feeds the geese of Ilse")))
    # Unknown texts are most like the question: the walk starts at the new one, from the other end.
    assert walked(strategy)[:2] == ["barley feeds the geese of Ilse", CHAIN[2]]


CONF = Path(__file__).parents[2] / "conf" / "strategy"
GOLD = {"gold", "answer", "evidence", "category", "type", "adversarial", "adversarial_answer"}


STRATEGIES = sorted(path.stem for path in CONF.glob("*.yaml"))


@cache
def strategy_class(name: str) -> Any:
    """The class that an option in conf/ names, in its own file or in the file that it extends."""
    config = OmegaConf.load(CONF / f"{name}.yaml")
    if target := config.get("_target_"):
        module, _, attribute = target.rpartition(".")
        return getattr(import_module(module), attribute)
    bases = [base for base in config.defaults if isinstance(base, str) and base != "_self_"]
    return strategy_class(bases[0])


@pytest.mark.parametrize("name", STRATEGIES)
def test_only_the_oracle_sees_evidence(name):
    strategy = strategy_class(name)
    assert strategy.sees_evidence is (name == "oracle")
    assert ("evidence" in signature(strategy).parameters) is (name == "oracle")
    assert not (GOLD - {"evidence"}) & set(signature(strategy).parameters)


def test_nothing_that_passes_a_strategy_has_room_for_gold():
    assert len(STRATEGIES) > 20
    assert {field.name for field in fields(Query)} == {"id", "text", "conversation", "time"}
    records = [one for one in vars(memsys.core.types).values() if is_dataclass(one)]
    assert len(records) >= 9
    for record in records:
        assert not GOLD & {field.name for field in fields(record)}
        if record is not memsys.core.types.Candidate:  # made a hundred times a question
            assert record.__dataclass_params__.frozen  # type: ignore[attr-defined]
        assert "__slots__" in vars(record)  # nothing can be slipped in
