"""A model that fails amid a run: nothing is lost, nothing counts as wrong, and a resumed run ends
as if it had never failed.
"""

from __future__ import annotations

import json
import signal
import time
from typing import Any

import pytest

from tests.eval.commands import Run
from tests.eval.run.llm_runs.conftest import Make
from tests.eval.run.llm_runs.served import (
    ALL,
    JUDGED,
    MIDDLE,
    MIDDLE_WORDS,
    Bench,
    requests_of,
    scores,
)
from tests.memsys.llm import faults
from tests.memsys.llm.server import Behaviour

QUICK = ("llm.timeout_s=5", "llm.retries=0")  # for what is never answered
TWICE = ("llm.retries=1",)

ANSWERS: dict[str, tuple[Behaviour, tuple[str, ...], str]] = {
    "429": (faults.status(429, "slow down", headers={}), TWICE, "HTTP 429"),
    "429 with retry-after": (faults.status(429, "slow down"), TWICE, "slow down"),
    "500": (faults.status(500), TWICE, "HTTP 500"),
    "400": (faults.status(400), (), "HTTP 400"),
    "hang": (faults.hang(), QUICK, "no whole answer within 5 s"),
    "slow drip": (faults.drip(0.05), QUICK, "no whole answer within 5 s"),
    "reset": (faults.reset, TWICE, "the connection failed"),
    "half a body": (faults.half_body, TWICE, "the connection failed"),
    "invalid JSON": (faults.raw(b'{"choices": [{'), TWICE, "not a JSON object"),
    "empty choices": (faults.answer({"choices": []}), (), "no choices"),
    "no content": (faults.says(None), (), "no content"),
    "empty content": (faults.says(""), (), "content is empty; finish_reason stop"),
    "used up": (faults.says("", "length"), (), "max_completion_tokens"),
    "filtered": (faults.says("", "content_filter"), (), "finish_reason content_filter"),
    "too long": (
        faults.status(400, "maximum context length is 512 tokens", "context_length_exceeded"),
        (),
        "longer than the model's context",
    ),
}
VERDICTS: dict[str, tuple[Behaviour, str]] = {
    "wrong schema": (faults.says(json.dumps({"reason": "so", "verdict": "MAYBE"})), "verdict"),
    "no JSON": (faults.says("I should think it is right."), "not the JSON"),
    "cut off": (faults.says('{"reason": "so', "length"), "cut off"),
    "500": (faults.status(500), "HTTP 500"),
}


def check_failed(bench: Bench, phase: str, words: str, answered: Run) -> dict[str, Any]:
    """MIDDLE alone failed, is told of, and is in no mean; its record is returned."""
    ((id_, error),) = bench.errors().items()
    assert id_ == MIDDLE
    kind = "RequestTooLongError" if words.startswith("longer") else "LLMError"
    assert (error["phase"], error["kind"]) == (phase, kind)
    assert words in error["message"]
    (failed,) = [record for record in bench.run.records if record["id"] == MIDDLE]
    is_judged = phase == "judge"  # the other scores then count
    assert (failed["status"], failed["error"] is None) == (
        "ok" if is_judged else "error",
        is_judged,
    )
    right = answered.records[ALL.index(MIDDLE)]["scores"]
    assert failed["scores"] == {**(right if is_judged else dict.fromkeys(right)), "judge": None}
    others = [record for record in bench.run.untimed if record["id"] != MIDDLE]
    assert others == [record for record in answered.untimed if record["id"] != MIDDLE]
    summary = bench.run.summary
    assert summary["errors_by_kind"] == {f"{phase}: {kind}": 1}
    assert (summary["errors"], summary["judge"]["n"]) == (not is_judged, JUDGED - 1)
    right = [r["scores"]["judge"] for r in others if r["type"] == "single_hop"]
    assert summary["by_type"]["single_hop"]["judge"] == pytest.approx(sum(right) / len(right))
    return failed


def check_mended(bench: Bench, answered: Run) -> None:
    """Resumed without the fault, the run is the one that never failed."""
    bench.model.recover()
    before = bench.server.requests
    ended = bench.start("llm.retries=0", resume=True)
    assert ended.code == 0, ended.err
    assert bench.server.requests - before <= 2  # the failed question alone, and its verdict
    assert bench.run.untimed == answered.untimed
    assert scores(bench.run) == scores(answered)
    assert bench.run.summary["errors_by_kind"] == {}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_that_fails(bench: Bench, answered: Run, name: str) -> None:
    fault, settings, words = ANSWERS[name]
    bench.model.break_down(fault, "answer", MIDDLE_WORDS)
    ended = bench.start(*(settings or ("llm.retries=1",)))
    assert ended.code == 0, ended.err
    assert "1 of 21 questions failed; they are in no mean" in ended.out
    failed = check_failed(bench, "answer", words, answered)
    assert failed["answer"] is None
    check_mended(bench, answered)


@pytest.mark.parametrize("name", VERDICTS)
def test_a_verdict_that_fails(bench: Bench, answered: Run, name: str) -> None:
    fault, words = VERDICTS[name]
    bench.model.break_down(fault, "judge", MIDDLE_WORDS)
    ended = bench.start("llm.retries=1")
    assert ended.code == 0, ended.err
    failed = check_failed(bench, "judge", words, answered)
    assert failed["answer"] == answered.records[ALL.index(MIDDLE)]["answer"]
    assert failed["judge"] is None
    check_mended(bench, answered)


@pytest.mark.parametrize("fault", [faults.status(500), faults.reset])
def test_a_fault_that_passes_leaves_a_wait_and_nothing_else(
    bench: Bench, answered: Run, fault: Behaviour
) -> None:
    bench.model.break_down(fault, "answer", MIDDLE_WORDS, times=1)
    ended = bench.start("llm.retries=1")
    assert ended.code == 0, ended.err
    assert bench.run.untimed == answered.untimed
    record = bench.run.records[ALL.index(MIDDLE)]
    assert record["waited_ms"]["answer"] > 9  # of SOON, or of the client's own pause
    assert record["latency_ms"]["answer"] < record["waited_ms"]["answer"] + 200
    assert bench.server.requests == requests_of(answered) + 1


def test_every_answer_fails(bench: Bench, answered: Run) -> None:
    bench.model.break_down(faults.status(503))
    ended = bench.start("llm.retries=0", "concurrency=4")
    assert (ended.code, "failed: every question failed" in ended.err) == (1, True)
    assert bench.run.summary["errors_by_kind"] == {"answer: LLMError": 21}
    cell = bench.run.summary["by_type"]["overall"]
    assert (cell["f1"], cell["judge"]) == (None, None)  # not 0
    assert bench.run.summary["judge"] is None
    bench.model.recover()
    assert bench.start(resume=True).code == 0
    assert bench.run.untimed == answered.untimed


@pytest.mark.parametrize("workers", [1, 4])
@pytest.mark.parametrize("code", [401, 404])
def test_what_would_fail_every_call_ends_the_run(
    bench: Bench, answered: Run, code: int, workers: int
) -> None:
    bench.model.break_down(faults.status(code), "answer", MIDDLE_WORDS)
    ended = bench.start(f"concurrency={workers}")
    assert ended.code == 2
    assert f"HTTP {code}" in ended.err
    assert "resume=run" in ended.err
    assert bench.run.manifest["status"] == "interrupted"
    done = [record["id"] for record in bench.run.records]
    # what was under way with others is kept, as it was paid for
    assert {*ALL[: ALL.index(MIDDLE)]} <= {*done}
    assert MIDDLE not in done
    assert len(done) < 21
    bench.model.recover()
    assert bench.start(resume=True).code == 0
    assert bench.run.untimed == answered.untimed


def test_a_gate_whose_model_fails(make: Make) -> None:
    gate = (
        "strategy=hybrid_gate",
        "strategy.gate.english=[]",
        "strategy.gate.similarity=-1",
        "judge=none",
    )
    clean, bench = make("clean"), make("faulty")
    assert clean.start(*gate, "concurrency=4").code == 0
    assert clean.run.summary["errors_by_kind"] == {}
    bench.model.break_down(faults.says("Perhaps."), "gate", MIDDLE_WORDS)
    ended = bench.start(*gate, "llm.retries=0", "concurrency=4")
    assert ended.code == 0, ended.err
    assert bench.run.summary["errors_by_kind"] == {"retrieve: LLMError": 1}
    assert list(bench.errors()) == [MIDDLE]
    bench.model.recover()
    assert bench.start(*gate, resume=True).code == 0
    assert bench.run.untimed == clean.run.untimed


@pytest.mark.parametrize("workers", [1, 4])
def test_a_killed_run_goes_on_and_pays_nothing_twice(
    bench: Bench, answered: Run, workers: int
) -> None:
    bench.model.break_down(faults.hang(), "answer", MIDDLE_WORDS)
    with bench.process(f"concurrency={workers}") as process:
        until = time.monotonic() + 60
        while bench.done() < ALL.index(MIDDLE):
            assert process.poll() is None, process.communicate()[1]
            assert time.monotonic() < until, "the run did not come so far"
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert bench.run.manifest["status"] == "running"
    bench.model.recover()
    ended = bench.start(f"concurrency={workers}", resume=True)
    assert ended.code == 0, ended.err
    assert bench.run.untimed == answered.untimed
    # sent again: at most what was under way
    assert 0 <= bench.server.requests - requests_of(answered) <= workers
