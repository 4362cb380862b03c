"""Rankings by cosine, by memory score and by single tokens, and the whole conversation in order."""

from dataclasses import replace
from datetime import datetime
from functools import partial
from math import exp, log
from typing import Any

import pytest

from memsys.core.errors import InputError
from memsys.core.tokens import count_tokens
from memsys.strategies.plain import FullContext, VectorOnly
from tests.memsys.build import (
    SESSIONS,
    TURN_IDS,
    BagOfTokens,
    BagOfWords,
    MakeParts,
    Planned,
    ids,
    ingest_all,
    query,
    session,
)
from tests.memsys.contract import QUERIES
from tests.memsys.strategies.make import graph_score, option


def test_full_context_is_all_turns_in_their_order_or_the_newest_of_a_budget(parts):
    embedder = BagOfWords()
    retrieval = ingest_all(FullContext(parts(embedder))).retrieve(QUERIES[0])
    whole = retrieval.context.splitlines(keepends=True)
    expected = [f"{turn.speaker}: {turn.text}" for one in SESSIONS for turn in one.turns]
    assert [line.strip().split("] ", 1)[1] for line in whole] == expected
    assert ids(retrieval) == TURN_IDS
    assert retrieval.context.startswith("[2 March 2024, 10:00] Mara: I started")
    assert embedder.batches == []

    budget = count_tokens("".join(whole[-4:]))
    retrieval = ingest_all(FullContext(parts(), budget=budget)).retrieve(QUERIES[0])
    assert retrieval.context == "".join(whole[-4:])
    assert ids(retrieval) == TURN_IDS[-4:]
    assert retrieval.context_tokens == budget


COSINES = {"Mara: bread": 0.2, "Mara: rain": 0.9, "Mara: salt": -0.4, "Mara: wool": 0.6}
TALK = session(
    1, datetime(2024, 3, 2), *(("Mara", content.removeprefix("Mara: ")) for content in COSINES)
)


def test_vector_only_ranks_by_cosine_of_equals_the_older_first(parts):
    strategy = VectorOnly(parts(Planned(COSINES)), k=3)
    strategy.ingest(TALK)
    found = strategy.retrieve(query("?")).candidates
    assert [one.memory.content for one in found] == ["Mara: rain", "Mara: wool", "Mara: bread"]
    assert [one.score for one in found] == pytest.approx([0.9, 0.6, 0.2], abs=1e-6)
    assert {one.origin for one in found} == {"direct"}
    equal = VectorOnly(parts(Planned(dict.fromkeys(COSINES, 0.5))), k=3)
    equal.ingest(TALK)
    assert ids(equal.retrieve(query("?"))) == ["D1:1", "D1:2", "D1:3"]


NONE = {"similarity": 0, "access": 0, "recency": 0, "importance": 0, "graph": 0}


def test_the_terms_of_a_score_are_in_the_trace(parts):
    weights = {"similarity": 0.6, "access": 0.1, "recency": 0.1, "importance": 0.1, "graph": 0.1}
    strategy = ingest_all(graph_score(parts(), 3))
    for one in QUERIES:
        found = strategy.retrieve(one)
        names, terms = found.trace["memory_score"]["terms"], found.trace["memory_score"]["of"]
        assert list(terms) == ids(found)
        for candidate in found.candidates:
            parts_of = dict(zip(names, terms[candidate.memory.id], strict=True))
            n, e, w = (parts_of.pop(name) for name in "new")
            g = 0.4 * min(n / 10, 1) + 0.3 * min(e / 20, 1) + 0.3 * min(w, 1)
            assert parts_of["g"] == pytest.approx(g, abs=1e-3)
            parts_of["graph"] = parts_of.pop("g")
            score = sum(weights[name] * value for name, value in parts_of.items())
            assert candidate.score == pytest.approx(score, abs=1e-3)


# A bowl comes back once, a month later; nothing else is shared.
MARCH, APRIL = datetime(2024, 3, 1), datetime(2024, 3, 31)
BOWL = (
    session(1, MARCH, ("Mara", "bowl"), ("Mara", "rain, sea, wool")),
    session(2, APRIL, ("Mara", "bowl")),
)
FLAT = {"Mara: bowl": 0.5, "Mara: rain, sea, wool": 0.5}


def scored(parts: MakeParts, now: datetime = APRIL, **weights: Any) -> dict[str, float]:
    strategy = graph_score(parts(Planned(FLAT)), 3, **{**NONE, **weights})
    for one in BOWL:
        strategy.ingest(one)
    found = strategy.retrieve(query("?", time=now)).candidates
    return {one.memory.id: one.score for one in found}


# g of both bowls, whose title is "bowl": one neighbour, one edge, of weight ln(3/2) / ln(3); g of
# the memory between them, whose title "rain" is its own: one edge of weight 1
G = 0.4 / 10 + 0.3 / 20 + 0.3 * log(3 / 2) / log(3)
OWN = 0.4 / 10 + 0.3 / 20 + 0.3


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ({"similarity": 0.4}, (0.2, 0.2, 0.2)),
        ({"access": 0.5}, (0.5 * log(2) / log(101), 0, 0)),  # only by the later session
        ({"recency": 2, "decay_per_day": 0.01}, (2, 2 * exp(-0.3), 2)),  # the access is recent
        ({"importance": 1}, (2 / 20, 4 / 20, 2 / 20)),
        ({"graph": 1}, (G, OWN, G)),
        (
            dict.fromkeys(NONE, 1) | {"decay_per_day": 0.02},
            (1.6 + log(2) / log(101) + G, 0.7 + exp(-0.6) + OWN, 1.6 + G),
        ),
    ],
)
def test_the_score_by_hand(parts, weights, expected):
    found = scored(parts, **weights)
    assert [found[id_] for id_ in ("D1:1", "D1:2", "D2:1")] == pytest.approx(expected, abs=1e-6)
    later = scored(parts, now=datetime(2024, 4, 10), recency=1, decay_per_day=0.01)
    assert later["D2:1"] == pytest.approx(exp(-0.1))  # as of the question's time


@pytest.mark.parametrize("start", ["vector", "lexical", "hybrid"])
def test_graph_score_reorders_what_the_start_finds(parts, start):
    strategy = graph_score(parts(), 2, start=start, pool=2, **{**NONE, "similarity": 1})
    strategy = ingest_all(strategy)  # type: ignore[assignment]
    relevance = strategy.store.relevance(QUERIES[0].text, start)
    best = sorted(range(10), key=lambda row: -relevance[row])[:2]
    assert ids(strategy.retrieve(QUERIES[0])) == [TURN_IDS[row] for row in best]
    # What is outside the pool never comes in, however important.
    important = graph_score(parts(), 2, start=start, pool=2, **{**NONE, "importance": 1})
    assert set(ids(ingest_all(important).retrieve(QUERIES[0]))) == {TURN_IDS[row] for row in best}
    if start == "vector":
        vector = ingest_all(VectorOnly(parts(), 2))
        for one in QUERIES:
            assert replace(strategy.retrieve(one), trace={}) == vector.retrieve(one)


def test_the_starts_differ_and_by_words_nothing_is_embedded(parts):
    embedder = BagOfWords()
    by_word = ingest_all(graph_score(parts(embedder), 1, start="lexical", pool=1))
    by_vector = ingest_all(graph_score(parts(Planned({})), 1, start="vector", pool=1))
    asked = query("Who will drain the field?")
    assert ids(by_word.retrieve(asked)) == ["D2:1"]
    assert embedder.batches == []
    assert ids(by_vector.retrieve(asked)) == ["D1:1"]  # all cosines are equal: the oldest


late = partial(option, "late_interaction")


@pytest.fixture
def token_parts(parts: MakeParts) -> MakeParts:
    return lambda embedder=None, **other: parts(embedder or BagOfTokens(), **other)


def ranked(strategy: Any, text: str) -> list[str]:
    return [one.memory.id for one in ingest_all(strategy).rank(query(text))[0]]


def test_without_weight_the_start_ranking_is_unchanged(token_parts):
    for one in QUERIES:
        start = ranked(VectorOnly(token_parts(), 10), one.text)
        assert ranked(late(token_parts(), 10, weight=0), one.text) == start


def test_maxsim_alone_orders_the_pool(token_parts):
    strategy = ingest_all(late(token_parts(), 10, weight=1))
    found, _ = strategy.rank(query("My bowl cracked in the kiln"))
    scores = strategy.store.max_sim("My bowl cracked in the kiln", range(10))
    rows = strategy.store.rows
    assert found[0].memory.id == "D2:2"
    by_hand = [scores[rows[one.memory.id]] for one in found]
    assert by_hand == sorted(by_hand, reverse=True)


def test_below_the_pool_the_start_ranking_continues(token_parts):
    text = "Where did Mara sell a bowl at the market?"
    start = ranked(VectorOnly(token_parts(), 10), text)
    found = ranked(late(token_parts(depth=10), 3, pool=4, weight=1), text)
    assert sorted(found[:4]) == sorted(start[:4])
    assert found[4:] == start[4:]


def test_the_token_vectors_count_in_the_size(token_parts):
    strategy = ingest_all(late(token_parts()))
    before = strategy.size()["bytes"]
    strategy.retrieve(QUERIES[0])
    contents = [one.content for one in strategy.store.memories]
    tokens = sum(len(BagOfTokens().tokens_of(content).ids) for content in contents)
    vectors = 4 * 64 * 10
    assert strategy.size()["bytes"] == before + vectors + 2 * 64 * tokens


def test_an_embedder_without_tokens_is_refused_at_once(token_parts):
    with pytest.raises(InputError, match=r"^other: .*embedder\.pooling=tokens"):
        late(token_parts(BagOfWords("other")))


class Chinese(BagOfTokens):
    languages = frozenset(("zh",))


@pytest.mark.parametrize(
    ("embedder", "why"),
    [(BagOfWords("fallback"), "no token vectors"), (Chinese(), "language")],
)
def test_without_fit_token_vectors_the_start_ranking_is_left(token_parts, embedder, why):
    given = token_parts(embedder)
    given.embedder.is_fallback = embedder.name == "fallback"
    strategy = ingest_all(late(given, 10, start="hybrid"))
    for one in QUERIES[:3]:
        ranked, trace = strategy.rank(one)
        assert ranked == strategy.best(strategy.store.ranking(one.text, "hybrid"))
        assert trace == {"late_interaction": why}
