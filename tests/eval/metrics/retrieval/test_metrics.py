"""Each metric by hand, and on rankings of many shapes as ir_measures has it; names of measures."""

import random
from collections.abc import Mapping
from math import log2
from typing import Any

import pytest

from eval.metrics.evidence import RECORDED
from eval.metrics.retrieval import Judged
from eval.metrics.retrieval.registry import BUDGETS, CUTOFFS, all_measures, parse
from eval.records.run import load_run
from eval.summary.measures import value as recorded
from eval.summary.retrieval import by_type, value
from memsys.core.errors import InputError


def judged_of(ranked: str, relevant: str, size: int | None = None) -> Judged:
    """A ranking of one-letter ids."""
    return Judged(tuple(ranked), tuple(relevant), size)


def shapes(count: int = 400, seed: int = 7) -> dict[str, Judged]:
    """Rankings by question id; every evidence set has units that the ranking may lack."""
    draw = random.Random(seed)  # noqa: S311 - shapes, not secrets
    found = {}
    for number in range(count):
        store = [f"c:D{i // 7}:{i}" for i in range(draw.choice([1, 2, 5, 30, 130, 400]))]
        ranked = draw.sample(store, draw.randint(1, min(len(store), 120)))
        relevant = set(draw.sample(store, draw.randint(1, min(len(store), 25))))
        if draw.random() < 0.3:
            relevant = relevant - set(ranked) or {"c:D99:1"}  # nothing is found
        elif draw.random() < 0.3:
            relevant = set(ranked[: len(relevant)])  # everything comes first
        tokens = tuple(30 * (i + 1) for i in range(len(ranked)))
        found[f"c/{number}"] = Judged(tuple(ranked), sorted(relevant), len(store), tokens)
    return found


# Evidence at ranks 2 and 5, and one unit that is not found.
RANKED = judged_of("axbcydef", "xyz", size=20)
DCG = 1 / log2(3) + 1 / log2(6)
IDEAL = 1 + 1 / log2(3) + 1 / log2(4)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [  # cutoffs: the comparison with ir_measures
        ("recall@2", 1 / 3),
        ("recall", 2 / 3),
        ("recall_any@2", 1.0),
        ("recall_all@100", 0.0),
        ("precision@2", 0.5),
        ("precision", 2 / 8),
        ("ndcg@2", 1 / log2(3) / (1 + 1 / log2(3))),
        ("ndcg", DCG / IDEAL),
        ("mrr", 0.5),
        ("map", (1 / 2 + 2 / 5) / 3),
        ("r_precision", 1 / 3),
        ("first_rank", 2.0),
        ("store_share@5", 0.25),
        ("store_share@100", 1.0),
        ("store_share", 8 / 20),
    ],
)
def test_known_scores(name, wanted):
    assert parse(name).score(RANKED) == pytest.approx(wanted, abs=1e-12)


def test_nothing_found_is_zero_and_has_no_first_rank():
    for one in (judged_of("abc", "xy", size=9), judged_of("", "xy", size=9)):
        for measure in all_measures():
            cut = measure.tokens or measure.turns
            if cut is None and measure.metric.name != "store_share":
                wanted = None if measure.metric.name == "first_rank" else 0.0
                assert measure.score(one) == wanted, str(measure)
    assert parse("precision").score(judged_of("", "x")) == 0.0


@pytest.mark.parametrize(
    ("name", "ranked", "relevant", "wanted"),
    [
        ("ndcg@3", "xab", "xyz", 1 / IDEAL),  # of all evidence, not of what was found
        ("recall@2", "xa", "xxy", 0.5),  # evidence named twice counts once
        ("mrr", "ax", "x", 0.5),
        ("mrr", "xa", "x", 1.0),
        *((unknown, "ax", "x", None) for unknown in ("recall@256tokens", "store_share@10")),
    ],
)
def test_only_order_evidence_and_known_sizes_count(name, ranked, relevant, wanted):
    assert parse(name).score(judged_of(ranked, relevant)) == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("recall@99tokens", 0.0),
        ("recall@255tokens", 0.0),
        ("recall@256tokens", 0.5),
        ("recall_any@256tokens", 1.0),
        ("recall_all@299tokens", 0.0),
        ("recall_all@300tokens", 1.0),
    ],
)
def test_a_token_budget_counts_the_ranks_within_it(name, wanted):
    one = Judged(tuple("axbc"), ("x", "c"), tokens=(100, 256, 256, 300))
    assert parse(name).score(one) == wanted


# Name of a measure, and of the same one in ir_measures; recall_all is R@k rounded down.
AT = {"recall": "R", "recall_any": "Success", "precision": "P", "ndcg": "nDCG", "mrr": "RR"}
AT |= {"map": "AP"}
WHOLE = {"ndcg": "nDCG", "mrr": "RR", "map": "AP", "r_precision": "Rprec"}
NAMES = {f"{ours}@{k}": f"{theirs}@{k}" for ours, theirs in AT.items() for k in CUTOFFS} | WHOLE


def trec(questions: Mapping[str, Judged]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Judgements and scores by question and unit, as other libraries take them."""
    qrels = {id_: dict.fromkeys(one.relevant, 1) for id_, one in questions.items()}
    runs = {
        id_: {unit: float(len(one.ranked) - rank) for rank, unit in enumerate(one.ranked)}
        for id_, one in questions.items()
    }
    return qrels, runs


def differences(questions: Mapping[str, Judged]) -> dict[str, float]:
    """By measure, the largest difference to ir_measures on a question."""
    measures = pytest.importorskip("ir_measures")
    theirs = {measures.parse_measure(name): ours for ours, name in NAMES.items()}
    largest = dict.fromkeys(NAMES, 0.0)
    seen = 0
    for row in measures.iter_calc(list(theirs), *trec(questions)):
        ours = theirs[row.measure]
        mine = parse(ours).score(questions[row.query_id])
        assert mine is not None
        largest[ours] = max(largest[ours], abs(mine - row.value))
        seen += 1
        if ours.startswith("recall@"):
            every = parse(ours.replace("recall", "recall_all")).score(questions[row.query_id])
            assert every == float(row.value == 1.0)
    assert seen == len(NAMES) * len(questions)
    return largest


def test_generated_rankings_score_as_in_ir_measures():
    assert max(differences(shapes()).values()) < 1e-9


def test_generated_rankings_score_as_in_ranx():
    ranx = pytest.importorskip("ranx", reason="ranx is not installed; pip install -e '.[ranx]'")
    questions = shapes(60)
    judged, scored = trec(questions)
    names = {"recall@10": "recall@10", "recall_any@10": "hit_rate@10", "ndcg@10": "ndcg@10"}
    names |= {"precision@10": "precision@10", "mrr": "mrr", "map": "map"}
    names |= {"r_precision": "r-precision"}
    qrels = ranx.Qrels(judged)
    found = ranx.evaluate(qrels, ranx.Run(scored), list(names.values()), return_mean=False)
    order = list(qrels.keys())
    for ours, theirs in names.items():
        mine = [parse(ours).score(questions[id_]) for id_ in order]
        assert mine == pytest.approx(list(found[theirs]), abs=1e-9), ours


@pytest.mark.parametrize("name", RECORDED)
def test_records_have_the_score_of_their_ranking(keyed, name):
    run, measure = load_run(keyed["plain"].folder), parse(name)
    scores = {id_: recorded(record, name) for id_, record in run.records.items()}
    assert scores == {id_: value(run, id_, measure) for id_ in run.records}
    found = by_type(run, [measure], seed=0)[0]["overall"][name]
    known = [scores[one["id"]] for one in run.counted if one["category"] != 5]
    known = [score for score in known if score is not None]
    assert (found.n, found.value) == (len(known), pytest.approx(sum(known) / len(known)))


def test_every_measure_is_read_as_it_is_written():
    measures = all_measures()
    assert len({str(measure) for measure in measures}) == len(measures)
    assert [parse(str(measure)) for measure in measures] == list(measures)


def test_all_measures_are_both_units_at_all_cutoffs_and_budgets():
    names = {str(measure) for measure in all_measures()}
    for unit in ("", "session_"):
        for metric in ("recall", "recall_any", "recall_all", "precision", "ndcg", "mrr", "map"):
            assert {f"{unit}{metric}@{cutoff}" for cutoff in CUTOFFS} <= names
        assert {f"{unit}recall@{budget}tokens" for budget in BUDGETS} <= names
        assert {f"{unit}{name}" for name in ("mrr", "map", "r_precision", "first_rank")} <= names
        assert f"{unit}store_share@10" in names
        assert f"{unit}recall" not in names  # of a mere selection


def test_parts_of_a_measure():
    measure = parse("session_recall_any@5")
    assert (measure.unit, measure.metric.name, measure.cutoff) == ("session", "recall_any", 5)
    assert measure.title == "session any@5"
    measure = parse("recall@512tokens")
    assert (measure.unit, measure.cutoff, measure.tokens) == ("turn", None, 512)
    measure = parse("session_recall_any@10turns")
    assert (measure.unit, measure.cutoff, measure.turns) == ("session", None, 10)
    assert measure.title == "session any@10turns"
    assert [parse(name).whole for name in ("mrr", "map", "mrr@5", "recall", "r_precision")] == [
        *(True, True, False, False, False)
    ]


def test_sessions_of_the_first_turns():
    judged = Judged(["D1", "D2", "D3"], ["D2", "D3"], turns=(1, 3, 11))
    assert [parse(f"session_recall@{n}turns").score(judged) for n in (2, 3, 10, 11)] == [
        *(0.0, 0.5, 0.5, 1.0)
    ]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("recall@0", "recall@10"),
        ("recall@-5", "recall@5"),
        ("recall@", "recall@10"),
        ("recall@10 tokens", "recall@10tokens"),
        ("ndgc@10", "ndcg@10"),
        ("nDCG@10", "ndcg@10"),
        ("Recall_Any@5", "recall_any@5"),
        ("hit@5", "recall_any@5"),
        ("Success@3", "recall_any@3"),
        ("R@10", "recall@10"),
        ("RR", "mrr"),
        ("AP@100", "map@100"),
        ("P@5", "precision@5"),
        ("Rprec", "r_precision"),
        ("turn_recall@10", "recall@10"),
        ("session recall@5", "session_recall@5"),
        ("session-recal-any@5", "session_recall_any@5"),
    ],
)
def test_another_spelling_is_no_measure_and_the_right_one_is_suggested(text, meant):
    with pytest.raises(InputError) as caught:
        parse(text)
    assert f"did you mean {meant}?" in str(caught.value)
    assert str(caught.value).startswith(repr(text))


@pytest.mark.parametrize("text", ["", "@", "foo", "foo@10", "session_", "recall@٣", "ndcg@1@2"])
def test_what_is_no_measure_is_refused_with_what_is(text):
    with pytest.raises(InputError, match="recall"):
        parse(text)


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("r_precision@10", "write r_precision"),
        ("first_rank@3", "write first_rank"),
        ("mrr@512tokens", "write mrr or mrr@10"),
        ("recall@10turns", "write recall or recall@10 or recall@512tokens"),
        ("session_ndcg@10turns", "write session_ndcg or session_ndcg@10"),
    ],
)
def test_a_cutoff_that_a_metric_does_not_have_is_refused(text, remedy):
    with pytest.raises(InputError) as caught:
        parse(text)
    assert str(caught.value) == f"{text}: {remedy}"
