from functools import partial

import numpy as np
import pytest

from memsys.core.errors import InputError
from memsys.index.rank import min_max
from memsys.index.weights import AUTO_SETS, load_auto_weights, shares, weighted
from memsys.knowledge.relations.written_graph import WrittenByModel
from tests.memsys.build import BagOfTokens, ids, ingest_all, query
from tests.memsys.strategies.make import option
from tests.memsys.strategies.test_fusion import CHINESE, EnglishOnly

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
