"""Runs compared by measures of their rankings, those without answers among them."""

from pathlib import Path

import pytest

from eval.analyse.compare.__main__ import main
from eval.metrics.retrieval.registry import parse
from eval.pages.report.cards import changes_block
from eval.pages.report.runs import load as load_reported
from eval.rendering.blocks import Deck
from eval.summary import retrieval
from eval.summary.contrast import contrast
from eval.summary.measures import choose, share
from memsys.core.errors import InputError
from tests.eval import factory
from tests.eval.analyse.compare.made_runs import load, write_run
from tests.eval.analyse.retrieval.ranked_runs import ranked, records

ANSWERED = {"answer": "answer", "abstained": False, "scores": {"locomo_f1": 0.5}}


def test_a_measure_of_rankings_is_compared_as_a_score(tmp_path, said):
    one = ranked(tmp_path / "one", (6, 30), "one", by_conversation={"a": (2, 30)})
    other = ranked(tmp_path / "other", (2, 30), "other")
    names = ["recall_any@5", "ndcg@10", "session_mrr", "recall@10tokens"]
    text = said(main, one, other, *(part for name in names for part in ("--score", name)))
    assert "other is better than one on types 1-4: recall_any@5 +0.833" in text
    assert "p (McNemar)" in text
    runs = load(Path(one), Path(other))
    measures = choose(runs, names, None)
    tables = contrast([(measure, share(runs, measure)) for measure in measures], 0)
    for measure, (*_, overall) in zip(measures, tables, strict=True):
        for run, mean in zip(runs, overall.means, strict=True):
            of_run = retrieval.by_type(run, [parse(measure.key)], 0)[0]["overall"][measure.key]
            assert (mean.value, mean.low, mean.high) == (of_run.value, of_run.low, of_run.high)


def test_what_cannot_be_compared_is_one_line_and_what_does_not_depend_on_the_depth_is(
    tmp_path, said, refused
):
    one = ranked(tmp_path / "one", strategy="one")
    shallow = ranked(tmp_path / "shallow", strategy="shallow", length=10, depth=10)
    bare = ranked(tmp_path / "bare", strategy="bare")
    (tmp_path / "bare" / "rankings.jsonl").unlink()
    for other, name, told in (
        (shallow, "recall@20", "shallow: depth 10: recall@20 is unknown; run it with "),
        (shallow, "mrr", "whole ranking, which is 100 deep in one and 10 in shallow; use mrr@10"),
        (bare, "recall@20", "bare: no rankings are recorded; run it again with retrieval"),
        (shallow, "recal@10", "did you mean recall@10?"),
        (shallow, "recal", "no record has the score 'recal'; it has none; rankings have"),
        (shallow, "first_rank", "first_rank: has no value where nothing is found; use mrr"),
    ):
        assert told in refused(main, one, other, "--score", name)
    assert "bare: no rankings are recorded" in refused(main, one, bare)
    for name in ("mrr@10", "r_precision", "recall@40tokens"):
        assert "all scores are equal" in said(main, one, shallow, "--score", name)


def test_a_score_of_the_records_goes_before_a_measure_of_its_name(tmp_path):
    rows = [factory.record(f"{name}/1", scores={"precision": 0.5}) for name in "abcd"]
    runs = load(*(write_run(tmp_path / name, rows, name) for name in ("one", "other")))
    (measure,) = choose(runs, ["precision"], None)
    assert measure.score(runs[0], "a/1") == 0.5
    with pytest.raises(InputError, match="no rankings are recorded"):
        choose(runs, ["ndcg@10"], None)


@pytest.mark.parametrize(
    ("rows", "scoring"), [(records(), ["locomo"]), (records(**ANSWERED), ["mem0"])]
)
def test_runs_without_answers_are_compared_by_their_rankings(tmp_path, said, rows, scoring):
    first = ranked(tmp_path / "first", (12, 40), "first", rows=rows, scoring=scoring)
    out = said(main, first, ranked(tmp_path / "theirs", (2, 40), "theirs"))
    *_, recall, ndcg = out.splitlines()
    assert recall.startswith("theirs is better than first on types 1-4: recall@10 +0.500")
    assert ndcg.startswith("theirs is better than first on types 1-4: ndcg@10 +0.387")


def test_answers_come_first_where_all_runs_have_some(tmp_path):
    rows = records(**ANSWERED)
    runs = [ranked(tmp_path / name, rows=rows, strategy=name) for name in ("one", "two")]
    assert [measure.key for measure in choose(load(*map(Path, runs)), (), None)] == [
        "locomo_f1",
        "abstained",
    ]


def test_whole_sessions_are_compared_by_measures_of_sessions(tmp_path, said):
    # None of their names is that of a session with evidence.
    theirs = ranked(tmp_path / "theirs", (1, 2), "theirs", unit="session")
    read = ranked(tmp_path / "read", (2, 3), "read", rows=records(**ANSWERED))
    unread = ranked(tmp_path / "unread", (2, 3), "unread")
    for mine in (read, unread):
        *_, recall, ndcg = said(main, theirs, mine).splitlines()
        better = f"{Path(mine).name} is better than theirs on types 1-4"
        assert f"{better}: session_recall@10 +1.0" in recall
        assert f"{better}: session_ndcg@10 +" in ndcg
    block = changes_block(load_reported([theirs, unread]))
    (deck,) = (part for part in block.parts if isinstance(part, Deck))
    assert deck.title == "unread against theirs: 10 of 48 gains in session_recall@10 (+1.00)"
    assert "unread has no losses against theirs in session_recall@10." in block.parts
