"""Several questions at once give the records of one after another, and a slow call holds up no
other question, of its conversation or of a later one.
"""

from __future__ import annotations

import time

from tests.eval.commands import Run
from tests.eval.run.llm_runs.served import (
    ALL,
    JUDGED,
    Bench,
    requests_of,
    role_of,
    scores,
    text_of,
)
from tests.memsys.llm.answers import Body, right_answer
from tests.memsys.llm.server import Behaviour, Handler

SLOW = "flute with ash"  # words of ash/3 alone
WAIT_S = 60


def check_same(bench: Bench, answered: Run) -> None:
    """The bench's run has the records, in order, the scores and the calls of `answered`."""
    assert [record["id"] for record in bench.run.records] == ALL
    assert bench.run.untimed == answered.untimed
    assert scores(bench.run) == scores(answered)
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
    ended = bench.start("concurrency=4", "llm.concurrency=4")
    assert ended.code == 0, ended.err
    assert "is lower than" not in ended.err
    check_same(bench, answered)
    assert bench.server.requests == requests_of(answered)
    assert bench.server.most_under_way > 1
    one_by_one = make("one by one", delay_s=0.005)
    assert one_by_one.start("judge=none", "dataset.limit=7").code == 0
    assert one_by_one.server.most_under_way == 1


def test_questions_at_once_do_not_lengthen_the_latency_of_one(make):
    bench = make(delay_s=0.1)
    ended = bench.start("concurrency=4", "llm.concurrency=1", "dataset.conversations=[ash]")
    assert ended.code == 0, ended.err
    assert ended.err.count("llm.concurrency=1 is lower than concurrency=4") == 1
    waited = [record["waited_ms"]["answer"] for record in bench.run.records]
    answers = [record["latency_ms"]["answer"] for record in bench.run.records]
    assert max(waited) > 90  # for the one place
    assert min(answers) > 90
    assert sorted(answers)[len(answers) // 2] < 200


def hold_back(bench: Bench) -> None:
    """Answer one question only after WAIT_S, or when the run has ended."""
    right = bench.model

    def answer_late(handler: Handler, body: Body) -> None:
        until = time.monotonic() + WAIT_S
        while bench.done() < len(ALL) and time.monotonic() < until:
            time.sleep(0.01)
        handler.reply(200, right_answer(body))

    def script(body: Body) -> Behaviour | None:
        if role_of(body) == "answer" and SLOW in text_of(body):
            return answer_late
        return right(body)

    bench.server.choose = script


def test_a_run_that_is_killed_loses_what_is_under_way_alone(bench, answered):
    """All others are answered and written meanwhile."""
    hold_back(bench)
    with bench.process("concurrency=4", "llm.timeout_s=90") as process:
        until = time.monotonic() + WAIT_S
        while bench.done() < len(ALL) - 1 and time.monotonic() < until:
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        process.kill()
        process.wait()
    assert bench.run.manifest["status"] == "running"
    before, paid = bench.run.untimed, bench.server.requests
    assert sorted(record["id"] for record in before) == sorted(set(ALL) - {"ash/3"})
    bench.server.choose = bench.model
    ended = bench.start("concurrency=4", "llm.timeout_s=90", resume=True)
    assert ended.code == 0, ended.err
    assert bench.run.untimed == answered.untimed
    assert bench.server.requests == paid + 2  # an answer and a verdict
