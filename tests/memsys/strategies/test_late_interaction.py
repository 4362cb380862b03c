from functools import partial
from typing import Any

import pytest

from memsys.core.errors import InputError
from memsys.strategies.plain import VectorOnly
from tests.memsys.build import BagOfTokens, BagOfWords, MakeParts, ingest_all, query
from tests.memsys.contract import QUERIES
from tests.memsys.strategies.make import option

late = partial(option, "late_interaction")


@pytest.fixture
def parts(parts: MakeParts) -> MakeParts:
    return lambda embedder=None, **other: parts(embedder or BagOfTokens(), **other)


def ranked(strategy: Any, text: str) -> list[str]:
    return [one.memory.id for one in ingest_all(strategy).rank(query(text))[0]]


def test_without_weight_the_start_ranking_is_unchanged(parts):
    for one in QUERIES:
        start = ranked(VectorOnly(parts(), 10), one.text)
        assert ranked(late(parts(), 10, weight=0), one.text) == start


def test_maxsim_alone_orders_the_pool(parts):
    strategy = ingest_all(late(parts(), 10, weight=1))
    found, _ = strategy.rank(query("My bowl cracked in the kiln"))
    scores = strategy.store.max_sim("My bowl cracked in the kiln")
    rows = strategy.store.rows
    assert found[0].memory.id == "D2:2"
    by_hand = [scores[rows[one.memory.id]] for one in found]
    assert by_hand == sorted(by_hand, reverse=True)


def test_below_the_pool_the_start_ranking_continues(parts):
    text = "Where did Mara sell a bowl at the market?"
    start = ranked(VectorOnly(parts(), 10), text)
    found = ranked(late(parts(depth=10), 3, pool=4, weight=1), text)
    assert sorted(found[:4]) == sorted(start[:4])
    assert found[4:] == start[4:]


def test_the_token_vectors_count_in_the_size(parts):
    strategy = ingest_all(late(parts()))
    before = strategy.size()["bytes"]
    strategy.retrieve(QUERIES[0])
    contents = [one.content for one in strategy.store.memories]
    tokens = sum(len(BagOfTokens().tokens_of(content).ids) for content in contents)
    vectors = 4 * 64 * 10
    assert strategy.size()["bytes"] == before + vectors + 2 * 64 * tokens


def test_an_embedder_without_tokens_is_refused_at_once(parts):
    with pytest.raises(InputError, match=r"^other: .*embedder\.pooling=tokens"):
        late(parts(BagOfWords("other")))


class Chinese(BagOfTokens):
    languages = frozenset(("zh",))


@pytest.mark.parametrize(
    ("embedder", "why"),
    [(BagOfWords("fallback"), "no token vectors"), (Chinese(), "language")],
)
def test_without_fit_token_vectors_the_start_ranking_is_left(parts, embedder, why):
    given = parts(embedder)
    given.embedder.is_fallback = embedder.name == "fallback"
    strategy = ingest_all(late(given, 10, start="hybrid"))
    for one in QUERIES[:3]:
        ranked, trace = strategy.rank(one)
        assert ranked == strategy.best(strategy.store.ranking(one.text, "hybrid"))
        assert trace == {"late_interaction": why}
