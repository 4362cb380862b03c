"""Strategies that weigh several signals: fusion, and auto, which adds a walk over the graph."""

from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from memsys.core.errors import InputError
from memsys.core.types import UNDATED
from memsys.embed.cache import CachedEmbedder
from memsys.index.rank import IndexSettings, min_max
from memsys.index.weights import AUTO_SETS, WEIGHTS, load_auto_weights, shares, weighted
from memsys.knowledge.relations.written_graph import WrittenByModel
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


QUESTION = query("Where did Mara sell a bowl at the market?")
AUTO_WEIGHTS = load_auto_weights()


made = partial(option, "auto")


def test_the_ranking_is_the_weighted_sum_of_its_signals(parts):
    strategy = ingest_all(made(parts(), k=10))
    signals = strategy.signals(QUESTION)
    own = AUTO_WEIGHTS.of(signals, QUESTION.text)
    assert own == AUTO_WEIGHTS.with_vectors
    assert set(signals) == {*AUTO_SETS["with_vectors"], "length"}
    expected = sum(own[name] * signals[name] for name in own)
    order = np.argsort(-expected, kind="stable")
    retrieved = strategy.retrieve(QUESTION)
    trace = retrieved.trace
    assert sum(trace["shares"].values()) == pytest.approx(1, abs=0.03)
    assert trace["decision"].startswith(f"the walk brought {trace['walked']} of 10 memories; ")
    assert f"words {trace['shares']['words']:g}" in trace["decision"]
    assert ids(retrieved) == [strategy.store.memories[row].id for row in order]
    assert [one.score for one in retrieved.candidates] == pytest.approx(sorted(expected)[::-1])


def test_which_weights_count_follows_from_embedder_language_and_question(parts):
    signals = ingest_all(made(parts(BagOfTokens()))).signals(QUESTION)
    assert AUTO_WEIGHTS.of(signals, QUESTION.text) == AUTO_WEIGHTS.with_tokens
    foreign = made(parts(EnglishOnly()))
    foreign.ingest(CHINESE)
    signals = foreign.signals(QUESTION)
    assert not {"cosine", "max_sim"} & set(signals)
    assert AUTO_WEIGHTS.of(signals, QUESTION.text) == AUTO_WEIGHTS.with_words
    assert foreign.retrieve(query("李雷的碗卖了多少钱?")).candidates[0].memory.turns == ("D1:3",)


def test_tokens_are_compared_within_the_pool_alone(parts):
    strategy = ingest_all(made(parts(BagOfTokens()), pool=4))
    signals, store = strategy.signals(QUESTION), strategy.store
    lead = min_max(store.fused(QUESTION.text)) + min_max(signals["walk"])
    pool = np.argsort(-lead, kind="stable")[:4]
    scores = store.max_sim(QUESTION.text, pool.tolist())
    expected = (scores - scores.mean()) / scores.std()
    assert signals["max_sim"][pool] == pytest.approx(expected)
    outside = np.delete(signals["max_sim"], pool)
    assert outside == pytest.approx(np.full(6, expected.min()))


@pytest.mark.parametrize(("covered", "trust"), [(0.0, 0.0), (0.5, 0.5), (1.0, 1.0), (2.0, 1.0)])
def test_the_words_of_a_remark_count_by_their_coverage(covered, trust):
    none, full = AUTO_WEIGHTS.coverage
    signals = {name: np.zeros(4) for name in AUTO_SETS["with_vectors"]}
    signals["window_words"][2] = none + covered * (full - none)
    own = AUTO_WEIGHTS.of(signals, "My knee hurts again.")
    assert own["words"] == pytest.approx(trust * AUTO_WEIGHTS.with_vectors["words"])
    both = trust * AUTO_WEIGHTS.with_vectors["window_cosine"]
    both += (1 - trust) * AUTO_WEIGHTS.remark["window_cosine"]
    assert own["window_cosine"] == pytest.approx(both)
    assert AUTO_WEIGHTS.of(signals, "Does my knee hurt?") == AUTO_WEIGHTS.with_vectors


def test_the_walk_is_compared_with_one_that_is_spread_evenly(parts):
    strategy = ingest_all(made(parts()))
    walk = strategy.signals(QUESTION)["walk"]
    chances = np.expm1(walk) / len(walk)
    assert 0 < chances.sum() <= 1 + 1e-9  # the share of a memory without mentions is lost
    fused = strategy.store.fused(QUESTION.text)
    assert int(walk.argmax()) in np.argsort(-fused)[:5]


def test_a_share_is_the_part_of_the_lead_of_the_best():
    signals = {"words": np.array([1.0, 0, 0, 0]), "walk": np.array([3.0, 0, 0, 3.0])}
    weights = {"words": 2.0, "walk": 1.0}
    # words: 2 (1 - .25) = 1.5; walk: 3 - 1.5 = 1.5
    assert shares(weights, signals, [0]) == {"words": 0.5, "vectors": 0, "walk": 0.5, "cues": 0}
    assert weighted(weights, signals).tolist() == [5.0, 0, 0, 3.0]
    assert set(shares(weights, signals, [1]).values()) == {0.0}


def test_a_graph_that_a_model_writes_is_refused(parts):
    written = WrittenByModel.__new__(WrittenByModel)
    with pytest.raises(InputError, match="strategy=auto: walks a graph that rules make"):
        made(parts(graph=written))
