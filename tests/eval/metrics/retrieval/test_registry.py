"""Names of measures: every one is read as it is written, and what is meant is suggested."""

import pytest

from eval.metrics.retrieval import Judged
from eval.metrics.retrieval.registry import BUDGETS, CUTOFFS, all_measures, parse
from memsys.core.errors import InputError


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
