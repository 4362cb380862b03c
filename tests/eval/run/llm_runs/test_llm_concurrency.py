"""Several questions at once give the records of one after another."""

from __future__ import annotations

from tests.eval.commands import Run
from tests.eval.run.conftest import ALL, assert_as_clean
from tests.eval.run.llm_runs.served import JUDGED, Bench, requests_of


def check_same(bench: Bench, answered: Run) -> None:
    """The bench's run has the records, in order, the scores and the calls of `answered`."""
    assert [record["id"] for record in bench.run.records] == ALL
    assert_as_clean(bench.run, answered)
    calls = [(run.folder / "calls.jsonl").read_text() for run in (bench.run, answered)]
    assert calls[0] == calls[1]


def test_every_answer_is_the_models_and_is_judged(answered):
    verdicts = [record["scores"]["judge"] for record in answered.records]
    assert [verdict is None for verdict in verdicts] == [id_[-1] == "4" for id_ in ALL]
    assert {0.0, 1.0} <= set(verdicts)
    assert all(record["answer"].startswith("answer ") for record in answered.records)
    assert answered.summary["judge"]["n"] == JUDGED
    assert answered.summary["errors_by_kind"] == {}
    assert answered.manifest["reply_formats"] == {"gpt-4o-mini, generous": "json_schema"}
    for record in answered.records[:7]:
        assert (record["latency_source"], record["recorded"]) == ("live", None)


def test_records_do_not_depend_on_concurrency(make, answered):
    bench = make(delay_s=0.005)
    ended = bench.start("concurrency=4", "llm.concurrency=4").ok()
    assert "is lower than" not in ended.err
    check_same(bench, answered)
    assert bench.server.requests == requests_of(answered)
    assert bench.server.most_under_way > 1
    one_by_one = make("one by one", delay_s=0.005)
    assert one_by_one.start("judge=none", "dataset.limit=7").code == 0
    assert one_by_one.server.most_under_way == 1


def test_questions_at_once_do_not_lengthen_the_latency_of_one(make):
    bench = make(delay_s=0.1)
    ended = bench.start("concurrency=4", "llm.concurrency=1", "dataset.conversations=[ash]").ok()
    assert ended.err.count("llm.concurrency=1 is lower than concurrency=4") == 1
    waited = [record["waited_ms"]["answer"] for record in bench.run.records]
    answers = [record["latency_ms"]["answer"] for record in bench.run.records]
    assert max(waited) > 90  # for the one place
    assert min(answers) > 90
    assert sorted(answers)[len(answers) // 2] < 200
