"""What each strategy says that it holds, and large stores: the same is found there."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from baselines.rankings import BM25, HybridRank, Oracle
from memsys.core.errors import InputError
from memsys.core.tokens import count_tokens
from memsys.index.rank import IndexSettings
from memsys.knowledge.memory.turns import Turns
from memsys.stores.size import lines
from memsys.strategies.plain import FullContext, VectorOnly
from memsys.strategies.store import Parts
from memsys.strategies.strategy import Strategy
from tests.memsys.build import SESSIONS, BagOfWords, Planned, query
from tests.memsys.build import ingest_all as ingested
from tests.memsys.contract import QUERIES
from tests.memsys.strategies import make
from tests.memsys.strategies.make import large, option

DIMENSION = 64
EMPTY = ("memories", "tokens", "bytes", "nodes", "edges")
SHUT: dict[str, Any] = {"english": [], "chinese": [], "similarity": -1.0}
Make = Callable[[Parts], Strategy]


def of_memories(strategy: Strategy) -> int:
    assert len(strategy.store.memories) == 10
    return lines(strategy.store.memories)


WORDS_ALONE: dict[str, Make] = {
    "bm25": lambda parts: BM25(parts, 3),
    "full_context": FullContext,
    "oracle": lambda parts: Oracle(parts, None, {"talk/0": ["D1:1"]}),
}
GRAPHS: dict[str, Make] = {
    "graph_score": lambda parts: make.graph_score(parts, pool=99),
    "graph_expand": make.graph_expand,
    "hybrid_gate": make.hybrid_gate,
    "from words": lambda parts: make.graph_expand(parts, start="lexical"),
}


@pytest.mark.parametrize("name", WORDS_ALONE)
def test_a_strategy_without_vectors_counts_none(parts, name):
    embedder = BagOfWords()
    strategy = ingested(WORDS_ALONE[name](parts(embedder)))
    for _ in range(2):
        assert strategy.size() == {
            "memories": 10,
            "tokens": sum(count_tokens(one.content) for one in strategy.store.memories),
            "bytes": of_memories(strategy),
        }
        strategy.retrieve(QUERIES[0])
    assert embedder.batches == []


@pytest.mark.parametrize(
    ("strategy", "kind"),
    [(HybridRank, "exact"), *((VectorOnly, kind) for kind in ("exact", "flat", "ivf", "hnsw"))],
)
def test_vectors_count_once_they_are_there_and_a_large_index_as_saved(parts, strategy, kind):
    index = IndexSettings(k1=0.9, b=0.4, alpha=0.5, vectors=kind)
    made = ingested(strategy(parts(index=index), 3))
    if kind == "exact":
        assert made.size()["bytes"] == of_memories(made)
    made.retrieve(QUERIES[0])
    beyond = made.size()["bytes"] - of_memories(made) - 10 * DIMENSION * 4
    assert beyond == 0 if kind == "exact" else 0 < beyond < 10_000  # its head, lists and links
    assert made.size().keys() == {"memories", "tokens", "bytes"}


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("store", ["networkx", "csr"])
def test_a_graph_has_nodes_edges_and_bytes(parts, name, store):
    assert GRAPHS[name](parts()).size() == dict.fromkeys(EMPTY, 0)
    strategy = ingested(GRAPHS[name](parts(graph=replace(parts().graph, store=store))))
    strategy.retrieve(QUERIES[1])
    held = strategy.size()
    around = strategy.store.graph.store
    names = {"m:" + one.id for one in strategy.store.memories}
    linked = {name for name in names if around.neighbours([name])[0]}
    linked |= {edge.node for name in linked for edge in around.neighbours([name])[0]}
    ends = sum(len(edges) for edges in around.neighbours(sorted(linked)))
    assert held["nodes"] == len(linked) > 10 >= len(linked & names) > 3
    assert held["edges"] == ends / 2 > 10
    vectors = 0 if name == "from words" else 10 * DIMENSION * 4
    assert held["bytes"] == of_memories(strategy) + vectors + around.size()["bytes"]


def test_behind_a_closed_gate_the_graph_counts_and_stays_unbuilt(parts, monkeypatch):
    strategy = ingested(make.hybrid_gate(parts(), **SHUT))
    assert strategy.retrieve(query("bowl")).trace["gate"]["open"] is False
    open_one = ingested(make.graph_expand(parts()))
    open_one.retrieve(query("bowl"))
    assert strategy.size() == open_one.size()
    assert "graph" not in vars(strategy.store)
    assert "graph" in vars(open_one.store)


def test_graph_walk_stores_only_mentions(parts):
    assert make.option("graph_walk", parts()).size() == dict.fromkeys(EMPTY, 0)
    walk = ingested(make.option("graph_walk", parts(), start="lexical"))
    held, expanding = walk.size(), ingested(make.graph_expand(parts())).size()
    assert held["nodes"] == expanding["nodes"]
    around = ingested(make.graph_expand(parts())).store.graph.store
    mentions = around.neighbours(["m:" + one.id for one in walk.store.memories])
    assert held["edges"] == sum(len(edges) for edges in mentions) < expanding["edges"]
    assert of_memories(walk) < held["bytes"] < expanding["bytes"]


def test_a_strategy_of_one_s_own_need_not_say_that_it_asks_for_the_graph(parts):
    class Own(BM25):
        def rank(self, asked: Any) -> Any:
            assert self.store.graph
            return super().rank(asked)

    strategy = ingested(Own(parts(), 3))
    assert "nodes" not in strategy.size()
    strategy.retrieve(QUERIES[0])
    assert strategy.size()["nodes"] > 10


CONTENTS = [m.content for session in SESSIONS for m in Turns("turns", lead=0).build(session)]
# No two alike: of equals, indexes return whichever comes first to them.
EMBEDDER = Planned({text: 0.9 - 0.07 * (i * 7 % 10) for i, text in enumerate(CONTENTS)})
ASKED = [query(t, f"talk/{i}") for i, t in enumerate(["Where did Mara sell a bowl?", "tomato"])]


def found(strategy: Strategy) -> list[list[tuple[str, str]]]:
    for session in SESSIONS:
        strategy.ingest(session)
        strategy.retrieve(ASKED[0])  # so that later sessions are added to an index that is there
    return [[(c.memory.id, c.origin) for c in strategy.retrieve(q).candidates] for q in ASKED]


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
