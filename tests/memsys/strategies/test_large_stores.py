from __future__ import annotations

import pytest

from memsys.core.errors import InputError
from memsys.knowledge.memory.turns import Turns
from memsys.strategies.strategy import Strategy
from tests.memsys.build import SESSIONS, Planned, query
from tests.memsys.strategies.make import large, option

CONTENTS = [m.content for session in SESSIONS for m in Turns("turns", lead=0).build(session)]
# No two alike: of equals, indexes return whichever comes first to them.
EMBEDDER = Planned({text: 0.9 - 0.07 * (i * 7 % 10) for i, text in enumerate(CONTENTS)})
QUERIES = [query(t, f"talk/{i}") for i, t in enumerate(["Where did Mara sell a bowl?", "tomato"])]


def found(strategy: Strategy) -> list[list[tuple[str, str]]]:
    for session in SESSIONS:
        strategy.ingest(session)
        strategy.retrieve(QUERIES[0])  # so that later sessions are added to an index that is there
    return [[(c.memory.id, c.origin) for c in strategy.retrieve(q).candidates] for q in QUERIES]


@pytest.mark.parametrize("vectors", ["flat", "ivf", "hnsw"])
@pytest.mark.parametrize("name", ["vector_only", "graph_expand", "hybrid_gate"])
def test_the_same_is_found(parts, name, vectors):
    # Ten memories are one list of an inverted file: nothing can be missed.
    of_large, of_small = parts(EMBEDDER, **large(vectors)), parts(EMBEDDER)
    assert found(option(name, of_large)) == found(option(name, of_small))


@pytest.mark.parametrize("name", ["graph_score", "fusion"])
def test_a_strategy_that_scores_all_says_what_it_needs(parts, name):
    with pytest.raises(InputError, match=r"index\.vectors=flat"):
        found(option(name, parts(EMBEDDER, **large("ivf"))))
    flat = found(option(name, parts(EMBEDDER, **large("flat"))))
    assert flat == found(option(name, parts(EMBEDDER)))
