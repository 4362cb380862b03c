"""Several questions at once come to the records of one after another."""

from __future__ import annotations

import pytest

from tests.eval.commands import Run
from tests.eval.run.llm_runs.conftest import Make
from tests.eval.run.llm_runs.served import ALL, JUDGED, requests_of, scores


@pytest.mark.parametrize("workers", [1, 4])
def test_records_do_not_depend_on_concurrency(make: Make, answered: Run, workers: int) -> None:
    bench = make(delay_s=0.005)
    ended = bench.start(f"concurrency={workers}")
    assert ended.code == 0, ended.err
    assert bench.run.untimed == answered.untimed
    assert [record["id"] for record in bench.run.records] == ALL
    assert scores(bench.run) == scores(answered)
    calls = [(run.folder / "calls.jsonl").read_text() for run in (bench.run, answered)]
    assert calls[0] == calls[1]
    assert bench.server.requests == requests_of(answered)
    assert (bench.server.most_under_way > 1) == (workers > 1)


def test_every_answer_is_the_models_and_is_judged(answered: Run) -> None:
    verdicts = [record["scores"]["judge"] for record in answered.records]
    assert [verdict is None for verdict in verdicts] == [id_[-1] == "4" for id_ in ALL]
    assert {0.0, 1.0} <= set(verdicts)
    assert all(record["answer"].startswith("answer ") for record in answered.records)
    assert answered.summary["judge"]["n"] == JUDGED
    assert answered.summary["errors_by_kind"] == {}
    first = [record["latency_source"] for record in answered.records[:7]]
    assert first == ["live"] * 7
    assert {record["recorded"] for record in answered.records[:7]} == {None}


def test_questions_at_once_do_not_lengthen_the_latency_of_one(make: Make) -> None:
    bench = make(delay_s=0.1)
    ended = bench.start("concurrency=4", "llm.concurrency=1", "dataset.conversations=[ash]")
    assert ended.code == 0, ended.err
    waited = [record["waited_ms"]["answer"] for record in bench.run.records]
    answers = [record["latency_ms"]["answer"] for record in bench.run.records]
    assert max(waited) > 90  # for the one place
    assert min(answers) > 90
    assert sorted(answers)[len(answers) // 2] < 200
