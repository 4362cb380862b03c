"""A model that answers nothing ends a run early, and nothing is lost."""

from __future__ import annotations

import pytest

from tests.eval.commands import Run
from tests.eval.run.llm_runs.conftest import Make
from tests.eval.run.llm_runs.served import ALL
from tests.memsys.llm import faults

OUT = faults.status(500, "out of order")
ONCE = "llm.retries=0"


def test_a_dead_endpoint_ends_the_run_which_can_be_resumed(make: Make, answered: Run) -> None:
    bench = make()
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

    bench.model.recover()
    ended = bench.start(resume=True)
    assert ended.code == 0, ended.err
    assert bench.run.untimed == answered.untimed


@pytest.mark.parametrize("stop_after", [1, 3])
def test_the_number_can_be_set(make: Make, stop_after: int) -> None:
    bench = make()
    bench.patient = False
    bench.model.break_down(OUT)
    assert bench.start(ONCE, f"failures.stop_after={stop_after}").code == 1
    assert bench.server.requests == stop_after


def test_failures_that_are_not_in_a_row_do_not_end_the_run(make: Make) -> None:
    bench = make()
    bench.patient = False
    bench.model.break_down(OUT, times=4)
    ended = bench.start(ONCE)
    assert ended.code == 1  # 4 of 21 are more than a tenth
    assert list(bench.errors()) == ALL[:4]
    assert bench.run.manifest["status"] == "complete"


@pytest.mark.parametrize("workers", [1, 4])
def test_without_a_limit_the_run_ends_and_fails(make: Make, workers: int) -> None:
    bench = make()
    bench.patient = False
    bench.model.break_down(OUT)
    ended = bench.start(ONCE, "failures.stop_after=null", f"concurrency={workers}")
    assert ended.code == 1
    assert "failed: every question failed" in ended.err
    assert bench.run.manifest["status"] == "complete"
    assert bench.run.summary["errors"] == 21
