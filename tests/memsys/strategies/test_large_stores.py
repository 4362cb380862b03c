"""Strategies over the parts of a large store find what they find over those of a small one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memsys.core.errors import InputError
from memsys.graph.build import GraphSettings
from memsys.index.rank import IndexSettings
from memsys.knowledge.memory.turns import Turns
from memsys.strategies.plain import VectorOnly
from memsys.strategies.store import Parts
from memsys.strategies.strategy import Strategy
from tests.memsys.build import SESSIONS, Planned, query
from tests.memsys.strategies import make

CONTENTS = [m.content for session in SESSIONS for m in Turns("turns", lead=0).build(session)]
# No two alike: of equals, indexes return whichever comes first to them.
EMBEDDER = Planned({text: 0.9 - 0.07 * (i * 7 % 10) for i, text in enumerate(CONTENTS)})
QUERIES = [query(t, f"talk/{i}") for i, t in enumerate(["Where did Mara sell a bowl?", "tomato"])]
STRATEGIES: list[Callable[[Parts], Strategy]] = [
    lambda parts: VectorOnly(parts, 3),
    lambda parts: make.graph_expand(parts, 3, None),
    lambda parts: make.hybrid_gate(parts, 3, None),
]


def found(strategy: Strategy) -> list[list[tuple[str, str]]]:
    for session in SESSIONS:
        strategy.ingest(session)
        strategy.retrieve(QUERIES[0])  # so that later sessions are added to an index that is there
    return [[(c.memory.id, c.origin) for c in strategy.retrieve(q).candidates] for q in QUERIES]


def large(vectors: str) -> dict[str, object]:
    return {
        "index": IndexSettings(0.9, 0.4, 0.5, vectors=vectors, lexical="sparse"),  # type: ignore[arg-type]
        "graph": GraphSettings(8, 0.1, 0.7, 1.0, store="csr"),
    }


@pytest.mark.parametrize("vectors", ["flat", "ivf", "hnsw"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_same_is_found(parts, strategy, vectors):
    # Ten memories are one list of an inverted file: nothing can be missed.
    assert found(strategy(parts(EMBEDDER, **large(vectors)))) == found(strategy(parts(EMBEDDER)))


def test_a_strategy_that_scores_all_says_what_it_needs(parts):
    with pytest.raises(InputError, match=r"index\.vectors=flat"):
        found(make.graph_score(parts(**large("ivf")), 3, None))
    assert found(make.graph_score(parts(**large("flat")), 3, None))
