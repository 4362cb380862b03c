"""Deletion of turns from the stores that the contract of strategies does not cover."""

from __future__ import annotations

import numpy as np
import pytest

from baselines.rankings import BM25
from memsys.core.types import Session
from memsys.index.vector import LargeVectors
from memsys.strategies.plain import VectorOnly
from memsys.strategies.store import Store
from tests.memsys.build import SESSIONS, TURN_IDS, BagOfWords, ingest_all, memory
from tests.memsys.contract import GONE, QUERIES
from tests.memsys.left import files_with
from tests.memsys.strategies.make import large, option


def test_a_strategy_with_a_store_elsewhere_does_not_claim_a_deletion(parts):
    class Elsewhere(BM25):
        def ingest(self, session: Session) -> int:
            return len(session.turns)

    strategy = Elsewhere(parts(), 3)
    strategy.ingest(SESSIONS[0])
    assert strategy.forget(["D1:1"]) is None


@pytest.mark.parametrize("vectors", ["flat", "ivf", "hnsw"])
def test_an_index_for_large_stores_drops_the_vectors(parts, vectors, tmp_path):
    given = parts(BagOfWords(), **large(vectors))
    strategy = ingest_all(VectorOnly(given, 9))
    strategy.retrieve(QUERIES[0])
    assert strategy.forget(GONE) == 3
    never = VectorOnly(given, 9)
    for one in SESSIONS:
        never.ingest(one.without(GONE))
    assert [strategy.retrieve(one) for one in QUERIES] == [never.retrieve(one) for one in QUERIES]
    assert strategy.size() == never.size()
    index = strategy.store.by_vector
    assert isinstance(index, LargeVectors)
    (folder := tmp_path / "index").mkdir()
    index.save(folder / "saved")
    gone, there = given.embedder.documents(
        ["Theo: Only two tomato seedlings did.", "Theo: Kiln accidents happen."]
    )
    assert files_with(folder, there) == ["saved"]
    assert not files_with(folder, gone)
    strategy.forget(TURN_IDS)
    assert strategy.size()["bytes"] == 0


def test_vectors_that_remain_are_not_embedded_again(parts):
    embedder = BagOfWords("counted")
    store = Store(parts(embedder))
    store.add([memory(f"m{i}", f"word{i}") for i in range(5)])
    before = store.by_vector.vectors().copy()
    embedder.batches.clear()
    removed = store.replace(1, 3, [memory("m3", "word3"), memory("m9", "word9")])
    assert [one.id for one in removed] == ["m1", "m2"]
    assert embedder.batches == [["word9"]]
    vectors = store.by_vector.vectors()
    assert embedder.batches == [["word9"]]
    assert np.array_equal(vectors[[0, 1, 3]], before[[0, 3, 4]])


def test_a_walk_over_as_many_memories_as_before_is_a_new_one(parts):
    given = parts()
    strategy = ingest_all(option("graph_walk", given, start="hybrid"))
    strategy.retrieve(QUERIES[0])
    strategy.forget([turn.id for turn in SESSIONS[0].turns])
    again = Session("9", SESSIONS[2].time, SESSIONS[0].turns)
    strategy.ingest(again)
    never = option("graph_walk", given, start="hybrid")
    for one in (*SESSIONS[1:], again):
        never.ingest(one)
    assert [strategy.retrieve(one) for one in QUERIES] == [never.retrieve(one) for one in QUERIES]
