"""A model that fails amid a run: nothing is lost, nothing counts as wrong, and a resumed run ends
as if it had never failed. What the client does with each kind of fault is tested at the client.
Several questions at once give the records of one after another.
"""

import pytest

from tests.eval.commands import Run
from tests.eval.run.conftest import ALL, assert_as_clean
from tests.eval.run.llm_runs.served import JUDGED, MIDDLE, MIDDLE_WORDS, Bench, requests_of, role_of
from tests.memsys.llm import faults

ONCE = "llm.retries=0"
OUT = faults.status(500)
OF_THE_JUDGE = {"scores", "judge", "judge_error", "judge_reasons", "usage"}


def check_mended(bench: Bench, answered: Run, *settings: str) -> list[str]:
    """Resumed without the fault, the run is the one that never failed; who asked is returned."""
    bench.model.recover()
    before = bench.server.requests
    bench.start(*settings, resume=True).ok()
    assert_as_clean(bench.run, answered)
    assert bench.run.summary["errors_by_kind"] == {}
    return [role_of(body) for body in bench.server.bodies[before:]]


def test_an_answer_that_fails(bench, answered):
    long = faults.status(400, "maximum context length is 512 tokens", "context_length_exceeded")
    bench.model.break_down(long, "answer", MIDDLE_WORDS)
    ended = bench.start("llm.retries=1").ok()
    assert "1 of 21 questions failed; they are in no mean" in ended.out
    ((id_, found),) = bench.errors().items()
    assert (id_, found["phase"], found["kind"]) == (MIDDLE, "answer", "RequestTooLongError")
    assert "longer than the model's context" in found["message"]
    failed = bench.run.records[ALL.index(MIDDLE)]
    assert (failed["id"], failed["status"], failed["answer"]) == (MIDDLE, "error", None)
    assert set(failed["scores"].values()) == {None}
    others = [record for record in bench.run.untimed if record["id"] != MIDDLE]
    assert others == [record for record in answered.untimed if record["id"] != MIDDLE]
    summary = bench.run.summary
    assert summary["errors_by_kind"] == {"answer: RequestTooLongError": 1}
    assert (summary["errors"], summary["judge"]["n"]) == (1, JUDGED - 1)
    right = [r["scores"]["judge"] for r in others if r["type"] == "single_hop"]
    assert summary["by_type"]["single_hop"]["judge"] == pytest.approx(sum(right) / len(right))
    # The failed question alone, and its verdict.
    assert check_mended(bench, answered, ONCE) == ["answer", "judge"]


def test_a_fault_that_passes_leaves_a_wait_and_nothing_else(bench, answered):
    bench.model.break_down(OUT, "answer", MIDDLE_WORDS, times=1)
    bench.start("llm.retries=1").ok()
    assert bench.run.untimed == answered.untimed
    record = bench.run.records[ALL.index(MIDDLE)]
    assert record["waited_ms"]["answer"] > 9  # of SOON
    assert record["latency_ms"]["answer"] < record["waited_ms"]["answer"] + 200
    assert bench.server.requests == requests_of(answered) + 1


def test_every_answer_fails(bench, answered):
    bench.patient = False  # stops after as many failures in a row as shipped
    bench.model.break_down(faults.status(503))
    ended = bench.start(ONCE, "concurrency=4", "failures.stop_after=null")
    assert (ended.code, "failed: every question failed" in ended.err) == (1, True)
    assert bench.run.manifest["status"] == "complete"
    summary = bench.run.summary
    assert (summary["errors"], summary["errors_by_kind"]) == (21, {"answer: LLMError": 21})
    cell = summary["by_type"]["overall"]
    assert (cell["f1"], cell["judge"]) == (None, None)  # not 0
    assert summary["judge"] is None
    check_mended(bench, answered)


def test_what_would_fail_every_call_ends_the_run(bench, answered):
    bench.model.break_down(faults.status(401), "answer", MIDDLE_WORDS)
    bench.start("concurrency=4").refused("HTTP 401", "resume=run")
    assert bench.run.manifest["status"] == "interrupted"
    done = [record["id"] for record in bench.run.records]
    # what was under way with others is kept, as it was paid for
    assert {*ALL[: ALL.index(MIDDLE)]} <= {*done}
    assert MIDDLE not in done
    assert len(done) < 21
    check_mended(bench, answered)


def test_a_failing_judge_takes_no_other_score_and_is_asked_again_alone(bench, answered):
    bench.model.break_down(faults.status(503, "the judge is out"), role="judge")
    ended = bench.start(ONCE, "concurrency=4").ok()
    assert f"{JUDGED} answers could not be judged" in ended.out
    assert "0 judged (18 errors)" in ended.out
    for record, right in zip(bench.run.untimed, answered.untimed, strict=True):
        assert record["status"] == "ok"
        assert {k: v for k, v in record.items() if k not in OF_THE_JUDGE} == {
            k: v for k, v in right.items() if k not in OF_THE_JUDGE
        }
        assert record["scores"] == {**right["scores"], "judge": None}
        assert (record["judge_error"] is None) == (right["judge"] is None)
    summary, right = bench.run.summary, answered.summary
    assert (summary["errors"], summary["errors_by_kind"]) == (0, {"judge: LLMError": JUDGED})
    overall = summary["by_type"]["overall"]
    assert (overall["judge_errors"], overall["judge"]) == (JUDGED, None)
    for column in ("f1", "bleu1", "evidence_recall", "context_tokens_mean", "cost_usd"):
        assert overall[column] == right["by_type"]["overall"][column]
    assert set(check_mended(bench, answered, "concurrency=4")) == {"judge"}


def test_a_dead_endpoint_ends_the_run_which_can_be_resumed(bench, answered):
    bench.patient = False
    bench.model.break_down(OUT)
    ended = bench.start(ONCE)
    assert ended.code == 1
    assert bench.server.requests == 5
    *_, command, line = ended.err.splitlines()
    assert command.endswith(f"hydra.run.dir={bench.run.folder} llm.retries=0 resume=run")
    assert line.startswith(
        "stopped: 5 questions in a row failed alike, the last one ash/4 in answer: LLMError: "
    )
    assert "out of order" in line
    assert "failures.stop_after=null" in line
    assert bench.run.manifest["status"] == "interrupted"
    assert list(bench.errors()) == ALL[:5]
    check_mended(bench, answered)


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
