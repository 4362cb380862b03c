from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from memsys.core.errors import InputError
from memsys.core.types import UNDATED
from memsys.embed.cache import CachedEmbedder
from memsys.index.rank import IndexSettings, min_max
from memsys.index.weights import WEIGHTS
from memsys.strategies.fusion import Fusion
from memsys.strategies.plain import VectorOnly
from memsys.strategies.store import Store
from tests.memsys.build import BagOfTokens, BagOfWords, ids, ingest_all, memory, query, session
from tests.memsys.contract import QUERIES
from tests.memsys.strategies.make import large, option

STARTING = "graph_expand graph_score hybrid_gate graph_walk late_interaction decompose".split()
TEXT = "Where did Mara sell a bowl at the market?"


class EnglishOnly(BagOfWords):
    languages = frozenset({"en"})


@pytest.mark.parametrize("name", STARTING)
def test_every_strategy_starts_from_the_fusion(parts, name, monkeypatch):
    embedder = BagOfTokens()
    strategy = ingest_all(option(name, parts(embedder), 4, start="fusion"))
    store = strategy.store
    for one in QUERIES:
        found = strategy.retrieve(one).candidates
        assert len(found) == 4
        # The direct results alone: those of the start, unless all memories tie.
        if name in ("graph_expand", "hybrid_gate", "decompose"):
            best = {store.memories[row].id for row in np.argsort(-store.fused(one.text))[:4]}
            direct = {c.memory.id for c in found if c.origin == "direct"}
            assert direct <= best
    asked: list[str] = []
    fused = Store.fused

    def counted(store: Store, text: str, *more: Any) -> Any:
        asked.append(text)
        return fused(store, text, *more)

    monkeypatch.setattr(Store, "fused", counted)
    strategy.retrieve(query(TEXT))
    assert asked == [TEXT]  # TEXT has no conjuncts
    assert sum(TEXT in batch for batch in embedder.batches) == 1


def test_it_ranks_by_the_fused_score_from_0_to_1(parts):
    strategy = ingest_all(Fusion(parts(), 10))
    store, (found, trace) = strategy.store, strategy.rank(query(TEXT))
    fused = store.fused(TEXT)
    scores = min_max(fused).tolist()
    assert [one.score for one in found] == sorted(scores, reverse=True)
    assert found[0].memory.id == "D3:1"
    assert trace == {}
    assert store.relevance(TEXT, "fusion").tolist() == scores
    assert store.ranking(TEXT, "fusion").best(10) == [
        (row, pytest.approx(scores[row])) for row in np.argsort(-fused, kind="stable")
    ]
    known = store.signals.of(TEXT, store.similarity(TEXT))
    assert store.fused(TEXT, known).tolist() == fused.tolist()
    # Neither the conversation nor the time of a question changes it.
    other = replace(query(TEXT), id="D2:2", conversation="?", time=datetime(1999, 1, 1))
    assert strategy.rank(other) == (found, trace)


CHINESE = session(
    1,
    datetime(2024, 3, 2),
    ("李雷", "我上周开始在柳树工作室上陶艺课,老师说我做的碗很好看。"),
    ("韩梅梅", "我的菜园被水淹了,番茄苗只剩下两棵。"),
    ("李雷", "我在灯笼市场卖了一只碗,卖了三十块钱。"),
)


def test_vectors_of_another_language_do_not_count(parts, monkeypatch):
    def refuse(*_: object) -> None:
        raise AssertionError("embedded")

    for name in ("query", "documents"):
        monkeypatch.setattr(CachedEmbedder, name, refuse)
    for index in (large("ivf"), {}):
        strategy = Fusion(parts(EnglishOnly(), **index), 3)
        strategy.ingest(CHINESE)
        assert not strategy.store.understood
        assert ids(strategy.retrieve(query("李雷在哪里卖了碗?")))[0] == "D1:3"


def weights_file(folder: Path, **weights: float) -> str:
    """The shipped weights, but in the set `all` only `weights` are not 0."""
    content = yaml.safe_load(WEIGHTS.read_text("utf-8"))
    content["all"] = {**dict.fromkeys(content["all"], 0.0), **weights}
    path = folder / "mine.yaml"
    path.write_text(yaml.safe_dump(content), "utf-8")
    return str(path)


def test_weights_of_a_file(parts, tmp_path, monkeypatch):
    path = weights_file(tmp_path, speaker=1.0)
    strategy = ingest_all(Fusion(parts(index=IndexSettings(0.9, 0.4, 0.5, fusion=path)), 10))
    scores = strategy.store.fused("What did Theo do?")
    assert scores.tolist() == [float(m.speaker == "Theo") for m in strategy.store.memories]
    monkeypatch.chdir(tmp_path)
    for name, other in (("one", "length"), ("two", "question")):
        (tmp_path / name).mkdir()
        weights_file(tmp_path / name, **{other: 1.0})
        monkeypatch.chdir(tmp_path / name)  # a relative path is of the current folder
        relative = IndexSettings(0.9, 0.4, 0.5, fusion="mine.yaml")
        store = ingest_all(Fusion(parts(index=relative), 10)).store
        assert store.fused("What?").tolist() == store.signals.of("What?", None)[other].tolist()


@pytest.mark.parametrize("strategy", [Fusion, VectorOnly])
def test_a_missing_file_is_an_error_before_anything_is_ingested(parts, tmp_path, strategy):
    missing = IndexSettings(0.9, 0.4, 0.5, fusion=str(tmp_path / "none.yaml"))
    with pytest.raises(InputError, match=r"^index\.fusion=.*none\.yaml: no such file"):
        strategy(parts(index=missing), 3)


def test_a_store_of_documents_without_a_time_answers_a_question_with_a_date(parts):
    store = Store(parts())
    store.add([memory(f"d{i}", f"document {i}", time=UNDATED) for i in range(3)])
    assert store.fused("Which document 1 was of yesterday, 7 May?").argmax() == 1
