"""Runs compared by measures of their rankings, and by the ratio of what their questions take."""

import csv
import re
from pathlib import Path

import numpy as np
import pytest

from eval.analyse.compare.__main__ import main
from eval.metrics.retrieval.registry import parse
from eval.metrics.stats.interval import ClusterBootstrap
from eval.pages.report.cards import changes_block
from eval.pages.report.runs import load as load_reported
from eval.rendering.blocks import Deck
from eval.summary import retrieval
from eval.summary.contrast import contrast
from eval.summary.measures import choose, share
from eval.summary.quantities import find, ratio
from memsys.core.errors import InputError
from tests.eval import factory
from tests.eval.analyse.compare.made_runs import load, record, write_run
from tests.eval.analyse.retrieval.conftest import ranked, records

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
    for other, name, expected in (
        (shallow, "recall@20", "shallow: depth 10: recall@20 is unknown; run it with "),
        (shallow, "mrr", "whole ranking, which is 100 deep in one and 10 in shallow; use mrr@10"),
        (bare, "recall@20", "bare: no rankings are recorded; run it again with retrieval"),
        (shallow, "recal@10", "did you mean recall@10?"),
        (shallow, "recal", "no record has the score 'recal'; it has none; rankings have"),
        (shallow, "first_rank", "first_rank: has no value where nothing is found; use mrr"),
    ):
        assert expected in refused(main, one, other, "--score", name)
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


PRICES = {"as_of": "2025-01-01", "models": {"small": {"input": 1.0, "output": 2.0}}}
TEN = tuple("abcdefghij")


def rows(tokens: float, ms: float, count: int = 12, seed: int = 7) -> list[dict]:
    """`count` questions of each conversation; times vary from question to question."""
    made, drawn = [], np.random.default_rng(seed)
    for c, name in enumerate(TEN):
        for i in range(count):
            spent = ms * float(drawn.lognormal(0, 0.5))
            times = {"retrieve": spent / 4, "answer": spent * 3 / 4, "total": spent}
            own = {"calls": 1, "input_tokens": int(tokens + 10 * c + i), "output_tokens": 5}
            usage = {"retrieve": {}, "answer": own | {"by_model": {"small": own}}}
            fields = {"context_tokens": int(tokens) + i, "latency_ms": times, "usage": usage}
            made.append(record(name, i, 1 + i % 4, 0.5, **fields))
    return made


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("taken")
    return [
        factory.write_run(folder / name, rows(*taken), name, pricing=PRICES)
        for name, taken in {"full": (25_000, 9000.0), "kept": (1700, 900.0)}.items()
    ]


def test_the_ratio_has_an_interval_by_conversations_and_a_verdict(pair, said, tmp_path):
    scores = ("context_tokens", "cost_usd", "total_ms_p95")
    asked = [part for one in scores for part in ("--score", one)]
    out = said(main, *pair, *asked, "--type", "overall", "--out", tmp_path / "out")
    assert "kept takes less than full on types 1-4: context_tokens -93.2% (95% interval -93" in out
    assert "kept takes less than full on types 1-4: total_ms_p95 -" in out
    assert "minimum detectable change at 80% power: " in out
    assert "d_z" not in out
    assert "sign-flip" not in out
    with (tmp_path / "out" / "compare.csv").open(encoding="utf-8") as file:
        lines = [one for one in csv.DictReader(file) if one["run"] == "kept"]
    assert [one["score"] for one in lines] == [*scores]
    for one in lines:
        low, value, high = (float(one[name]) for name in ("ratio_low", "ratio", "ratio_high"))
        assert 0 < low <= value <= high < 1
        assert (one["difference"], one["verdict"]) == ("", "less")
    assert "-93.2%" in (tmp_path / "out" / "compare.md").read_text("utf-8")


def test_a_ratio_of_means_has_the_interval_of_the_bootstrap_of_sums():
    names, drawn = np.repeat(TEN, 9), np.random.default_rng(7)
    one, other = drawn.lognormal(1, 0.6, 90), drawn.lognormal(0, 0.6, 90)
    bootstrap = ClusterBootstrap(names.tolist(), 0)
    found = ratio(find("total_ms_mean"), other, one, bootstrap)
    log = bootstrap.of_sums(np.stack([other, one], 1), lambda sums: np.log(sums[:, 0] / sums[:, 1]))
    assert found.estimate.value == pytest.approx(other.mean() / one.mean())
    ends = (found.estimate.low, found.estimate.high)
    assert ends == pytest.approx((np.exp(log.low), np.exp(log.high)))
    assert found.p < 0.05
    assert 0 < found.detectable < 1


@pytest.mark.parametrize("clusters", [10, 2])
def test_a_percentile_is_that_of_all_questions_and_its_interval_is_about_it(clusters):
    values = np.random.default_rng(7).lognormal(0, 0.5, 60)
    bootstrap = ClusterBootstrap([TEN[i % clusters] for i in range(60)], 0)
    quantity = find("retrieve_ms_p95")
    found = quantity.interval(values, bootstrap)
    assert found.value == np.percentile(values, 95)
    assert 0 <= found.low < found.value < found.high
    same = ratio(quantity, values, values, bootstrap)
    assert (same.estimate.value, same.estimate.low, same.estimate.high, same.p) == (1, 1, 1, 1)


def test_noise_shows_no_difference_and_nothing_is_less_than_something(pair, said, tmp_path):
    full = pair[0]
    same = factory.write_run(tmp_path / "same", rows(25_000, 9000.0, seed=11), "same")
    none = factory.write_run(tmp_path / "none", rows(0, 1, 1), "none")
    why = "context_tokens is 0 in none; name another run"
    for first, other, score, expected in (
        (full, same, "total_ms_p95", "No difference shown between same and full on types 1-4"),
        (full, none, "context_tokens", "context_tokens -100.0% (95% interval -100.0% to"),
        (none, full, "context_tokens", f"No ratio of full to none on types 1-4: {why}"),
    ):
        assert expected in said(main, first, other, "--score", score, "--type", "overall")


def test_one_question_has_no_interval_and_a_row_of_zeros_no_ratio(said, tmp_path):
    free, folders = {"as_of": "2025-01-01", "models": {"small": {"input": 0.0, "output": 0.0}}}, []
    for name, ms in {"slow": 9000.0, "fast": 900.0}.items():
        first, *others = rows(10, ms, 2)
        of_one_type = [first, *(one for one in others if one["type"] != first["type"])]
        folders.append(factory.write_run(tmp_path / name, of_one_type, name, pricing=free))
    asked = ("--score", "total_ms", "--score", "cost_usd")
    text = said(main, *folders, *asked, "--out", tmp_path / "out")
    assert "No ratio of fast to slow on types 1-4: cost_usd is 0 in both." in text
    assert "fast takes less than slow on types 1-4: total_ms -" in text
    page = (tmp_path / "out" / "compare.md").read_text("utf-8")
    (alone,) = (line for line in page.splitlines() if "| fast | 1 |" in line and "%" in line)
    assert re.search(
        r"\d \[-, -\] \| -\d+\.\d% \[-, -\] \| 1\.0000 \| no diff[a-z ]+ \| - \|$", alone
    )
    assert "| fast | 11 | 0.00000000 [0.00000000, 0.00000000] | - | 1.0000 | no diff" in page
    assert "nan" not in page
    text = " ".join(said(main, *folders, "--score", "total_ms", "--type", "multi_hop").split())
    assert "(no interval, p = 1.0000; 1 question of 1 conversation); too few" in text


def test_latencies_that_were_not_live_or_of_another_machine_are_refused(
    pair, said, refused, tmp_path
):
    made, p95 = rows(1700, 900.0, 2), ("--score", "total_ms_p95")
    for name, source, fields, expected in (
        ("replayed", "recorded", {}, "all latencies of replayed are replayed; run it with "
         "llm.cache=record fresh_queries=true and a new folder as cache="),
        ("cached", "vectors", {}, "all latencies of cached are partly read from the cache of"),
        ("away", "live", {"machine": {"cores": 99}},
         "full and away ran on different machines (cores)"),
    ):  # fmt: skip
        changed = [one | {"latency_source": source} for one in made]
        folder = factory.write_run(tmp_path / name, changed, name, **fields)
        assert expected in refused(main, pair[0], folder, *p95)
        said(main, pair[0], folder, "--score", "context_tokens")
    half = [row | {"latency_source": "recorded"} for row in made[::2]]
    some = factory.write_run(tmp_path / "some", [*half, *made[1::2]], "some")
    assert "10 without this score" in " ".join(said(main, pair[0], some, *p95).split())


def test_what_is_not_known_is_refused(pair, refused, tmp_path):
    unknown = [one | {"usage": None} for one in rows(9, 1.0, 1)]
    line = refused(
        main, pair[0], factory.write_run(tmp_path / "unknown", unknown), "--score", "cost_usd"
    )
    assert "unknown: cost_usd is not known of any question" in line
    assert find("context_words") is find("total_ms_p0") is find("f1") is None


def test_of_one_run_the_best_is_that_which_takes_least(pair, said):
    asked = ("--score", "total_ms_p95", "--against", "best", "--type", "overall")
    expected = "full takes more than kept on types 1-4: total_ms_p95 +"
    assert expected in said(main, *pair, *asked)
