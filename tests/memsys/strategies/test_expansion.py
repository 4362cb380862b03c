"""graph_expand and hybrid_gate on sixteen memories, two of which share a red bowl."""

from datetime import datetime
from math import log

import pytest

from memsys.core.types import Retrieval
from memsys.strategies.plain import VectorOnly
from memsys.strategies.strategy import Strategy
from tests.memsys.build import Asked, BagOfWords, Planned, ingest_all, query, session
from tests.memsys.contract import QUERIES
from tests.memsys.strategies.make import graph_expand, graph_score, hybrid_gate

OTHERS = "salt wool rain fern lamp yarn plum drum kite gold moss sail tent vest".split()
SEED, LINKED = "Mara: so a red bowl", "Mara: the red bowl cracked"
COSINES = {
    SEED: 0.9,
    **{f"Mara: {word}": 0.5 - i / 100 for i, word in enumerate(OTHERS)},
    LINKED: 0.35,
}
TALK = session(
    1, datetime(2024, 3, 2), *(("Mara", content.removeprefix("Mara: ")) for content in COSINES)
)
EDGE = 1.0  # between "bowl" and "red bowl": both memories, and no other, mention both
LINKED_SCORE = 0.6 * EDGE + 0.4 * 0.35
MENTION = log(16 / 2) / log(16)  # of the phrase, by both memories of sixteen: .75


def ingested(strategy: Strategy) -> Strategy:
    strategy.ingest(TALK)
    return strategy


def asked(strategy: Strategy) -> Retrieval:
    return ingested(strategy).retrieve(query("?"))


def contents(retrieval: Retrieval) -> list[str]:
    return [candidate.memory.content for candidate in retrieval.candidates]


def test_an_added_memory_pushes_a_direct_one_out(parts):
    planned = parts(Planned(COSINES))
    assert contents(asked(VectorOnly(planned, 2))) == [SEED, "Mara: salt"]
    retrieval = asked(graph_expand(planned, 2))
    assert contents(retrieval) == [SEED, LINKED]
    assert [one.origin for one in retrieval.candidates] == ["direct", "expanded"]
    assert [one.score for one in retrieval.candidates] == pytest.approx([0.9, LINKED_SCORE])
    (step,) = retrieval.trace.pop("expansion")
    assert retrieval.trace == {}
    numbers = {"edge": EDGE, "relevance": 0.35, "score": LINKED_SCORE}
    assert {name: step.pop(name) for name in numbers} == pytest.approx(numbers, abs=1e-6)
    assert step == {"memory": "D1:16", "seed": "D1:1", "via": "e:bowl"}


def test_memory_scores_order_what_was_found_and_what_was_added(parts):
    planned = parts(Planned(COSINES))
    weights = dict.fromkeys(("access", "recency", "importance"), 0) | {"similarity": 1, "graph": 2}
    scoring = {"rescore": "memory_score", "weights": weights}
    by_score = asked(graph_expand(planned, 16, seeds=1, **scoring))
    # Only the two with a bowl have a neighbour in the graph, and g counts double.
    assert contents(by_score)[:2] == [SEED, LINKED]
    traced = by_score.trace["memory_score"]
    g = dict(zip(traced["terms"], traced["of"]["D1:16"], strict=True))["g"]
    assert by_score.candidates[1].score == pytest.approx(0.35 + 2 * g, abs=1e-3)

    retrieval = asked(graph_expand(planned, 2, **scoring))
    assert [one.origin for one in retrieval.candidates] == ["direct", "expanded"]
    assert list(retrieval.trace["memory_score"]["of"]) == ["D1:1", "D1:16"]
    # By similarity alone, what was found directly comes first again.
    plain = {**scoring, "weights": {**weights, "graph": 0}}
    assert contents(asked(graph_expand(planned, 2, **plain))) == [SEED, "Mara: salt"]
    shut = asked(hybrid_gate(planned, 16, similarity=-1.0, **scoring))
    assert shut.trace["gate"]["open"] is False
    assert contents(shut)[:2] == [SEED, LINKED]  # rescored, whether the gate opens or not


@pytest.mark.parametrize("start", ["vector", "lexical", "hybrid"])
@pytest.mark.parametrize("make", [graph_expand, hybrid_gate])
def test_without_expansion_the_ranking_is_that_of_graph_score(parts, make, start):
    off = ingest_all(make(parts(BagOfWords()), 3, start=start, use_graph_expansion=False))
    scored = ingest_all(graph_score(parts(BagOfWords()), 3, start=start))
    for one in QUERIES:
        assert off.retrieve(one) == scored.retrieve(one)
        assert scored.retrieve(one).candidates


def test_an_added_memory_has_to_earn_its_place(parts):
    planned = parts(Planned(COSINES))
    (step,) = asked(graph_expand(planned, 2, path_weight="product")).trace["expansion"]
    assert step["edge"] == pytest.approx(MENTION, abs=1e-6)
    assert step["score"] == pytest.approx(0.6 * MENTION + 0.4 * 0.35, abs=1e-6)
    weak = asked(graph_expand(planned, 2, edge_weight=0.1, relevance_weight=0.1))
    assert contents(weak) == [SEED, "Mara: salt"]
    assert len(weak.trace["expansion"]) == 1  # followed, but not kept
    strict = asked(graph_expand(planned, 2, threshold=0.36))
    assert contents(strict) == [SEED, "Mara: salt"]
    assert strict.trace == {"expansion": []}


def test_reserved_places_are_for_what_the_graph_adds(parts):
    planned = parts(Planned(COSINES))
    weak = {"edge_weight": 0.1, "relevance_weight": 0.1}  # else it would come last and be cut
    found = asked(graph_expand(planned, 4, **weak, reserved=2))
    plain = contents(asked(graph_expand(planned, 4, **weak)))
    assert LINKED not in plain
    # One is added; the place that is left goes to the best of the rest.
    assert contents(found) == [*plain[:3], LINKED]
    assert found.candidates[3].origin == "expanded"


@pytest.mark.parametrize("reserved", [0, 15])
def test_what_was_found_directly_stays_direct(parts, reserved):
    planned = parts(Planned(COSINES))
    found = asked(graph_expand(planned, 16, reserved=reserved)).candidates
    assert len({one.memory.id for one in found}) == 16
    assert {one.origin for one in found} == {"direct"}
    assert found[-1].score == pytest.approx(0.35)


def test_only_seeds_are_expanded(parts):
    cosines = {**COSINES, SEED: 0.45, LINKED: 0.31}  # sixth: after .50 to .46
    planned = parts(Planned(cosines))
    assert LINKED not in contents(asked(graph_expand(planned, 8)))
    assert LINKED in contents(asked(graph_expand(planned, 8, seeds=9)))


def test_a_word_of_the_question_opens_the_gate(parts):
    planned = parts(Planned(COSINES, typical_similarity=0.1))
    gate = ingested(hybrid_gate(planned, 2))
    shut, opened = gate.retrieve(query("Which bowl?")), gate.retrieve(query("Which other bowl?"))
    mean = pytest.approx((0.9 + 0.5 + 0.49 + 0.48 + 0.47) / 5)  # of the five seeds
    closed = {"open": False, "rule": "closed", "mean_similarity": mean}
    assert shut.trace == {"gate": closed, "expansion": []}
    assert shut.candidates == asked(VectorOnly(planned, 2)).candidates
    expanded = asked(graph_expand(planned, 2))
    assert opened.candidates == expanded.candidates
    by_word = {"open": True, "rule": "word:other", "mean_similarity": mean}
    assert opened.trace == {"gate": by_word, **expanded.trace}


@pytest.mark.parametrize(
    ("typical", "similarity", "of", "rule"),
    [
        (0.56, None, {}, "closed"),  # the mean is .568
        (0.58, None, {}, "similarity"),
        (0.56, 0.58, {}, "similarity"),
        (0.58, 0.56, {}, "closed"),
        (0.58, None, {"en": 0.56}, "closed"),  # the language's own
        (0.58, None, {"zh": 0.56}, "similarity"),
    ],
)
def test_weak_direct_results_open_the_gate(parts, typical, similarity, of, rule):
    planned = parts(Planned(COSINES, typical))
    strategy = ingested(hybrid_gate(planned, 2, similarity=similarity))
    planned.embedder.typical_by_language = {
        strategy.store.language if one == "en" else one: value for one, value in of.items()
    }
    retrieval = strategy.retrieve(query("Which?"))
    assert retrieval.trace["gate"]["rule"] == rule
    assert contents(retrieval) == [SEED, LINKED if rule == "similarity" else "Mara: salt"]


def test_a_model_is_asked_where_no_other_rule_opens_the_gate(parts):
    model = Asked(lambda text: {"several": "bowl" in text})
    planned = parts(Planned(COSINES, typical_similarity=0.1), llm=model)
    gate = ingested(hybrid_gate(planned, 2))
    rules = [
        gate.retrieve(query(text)).trace["gate"]["rule"]
        for text in ("Which other bowl?", "Which bowl?", "Which cup?")
    ]
    assert rules == ["word:other", "domains", "closed"]
    assert len(model.texts) == 2
    assert set(gate.prompts) == {"gate"}
    ingested(hybrid_gate(planned, 2, domains=None)).retrieve(query("Which bowl?"))
    assert len(model.texts) == 2


def test_the_gate_reads_cosines_whatever_it_starts_from(parts):
    planned = parts(Planned(COSINES, typical_similarity=0.1))
    gate = ingested(hybrid_gate(planned, 1, start="lexical", seeds=1))
    retrieval = gate.retrieve(query("Who cracked it?"))
    assert contents(retrieval) == [LINKED]
    assert retrieval.candidates[0].score == 1  # BM25, the best of its query
    assert retrieval.trace["gate"]["mean_similarity"] == pytest.approx(0.35)


@pytest.mark.parametrize("make", [graph_expand, hybrid_gate])
@pytest.mark.parametrize("start", ["vector", "lexical", "hybrid"])
def test_every_start_expands_unless_the_gate_is_shut(parts, make, start):
    strategy = ingested(make(parts(Planned(COSINES)), 1, start=start, threshold=0))
    (step,) = strategy.retrieve(query("What other red thing cracked?")).trace["expansion"]
    by_vector = ("D1:1", "D1:16")
    assert (step["seed"], step["memory"]) == (by_vector[::-1] if start == "lexical" else by_vector)
    if make is hybrid_gate:
        shut = ingest_all(make(parts(), 4, start=start, similarity=-1, english=[], chinese=[]))
        relevance = shut.store.relevance(QUERIES[0].text, start)
        assert list(shut.retrieve(QUERIES[0]).candidates) == shut.best(relevance, 4)
    embedder = BagOfWords()
    ingested(graph_expand(parts(embedder), 2, start=start)).retrieve(query("red"))
    assert (embedder.batches == []) is (start == "lexical")
