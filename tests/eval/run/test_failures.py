"""When failures end a run, and when a run that ended has failed."""

from __future__ import annotations

import pytest

from eval.run.failures import Failure, FailurePolicy, FailureRow
from tests.eval.commands import FAULTY, runs_in

DEAD = Failure("answer", "LLMError", "no answer")
LATE = Failure("answer", "TimeoutError", "too late")
JUDGE = Failure("judge", "LLMError", "no verdict")
INGEST = [Failure(f"ingest session_{i}", "OSError", "the store went away") for i in (1, 2)]
OK = None


@pytest.mark.parametrize(
    ("seen", "in_a_row"),
    [
        ([("a", DEAD)] * 4, 4),
        ([("a", DEAD)] * 4 + [("a", OK)], 0),
        ([("a", OK)] + [("a", DEAD)] * 3 + [("b", DEAD)] * 2, 5),
        ([("a", DEAD)] * 4 + [("a", LATE)], 1),
        ([("a", DEAD), ("a", JUDGE), ("a", JUDGE)], 2),
        ([("a", INGEST[0])] * 3 + [("b", INGEST[1])] * 2, 5),  # nothing was ever answered
        ([("a", OK)] + [("b", INGEST[0])] * 7, 1),  # one conversation among many
        ([("a", OK)] + [("b", INGEST[0])] * 7 + [("c", INGEST[1])] * 7, 2),
        ([("a", OK)] + [("b", INGEST[0])] * 7 + [("c", OK)], 0),
    ],
)
def test_failures_in_a_row(seen, in_a_row):
    row = FailureRow()
    for conversation, failure in seen:
        row.note(conversation, failure)
    assert row.in_a_row == in_a_row


@pytest.mark.parametrize(
    ("tolerated", "failed", "is_failed"),
    [
        (0.1, 0, False),
        (0.1, 2, False),
        (0.1, 3, True),
        (0, 1, True),
        (0, 0, False),
        (1, 20, False),
        (1, 21, True),  # all
    ],
)
def test_a_run_of_21_questions_fails(tolerated, failed, is_failed):
    assert FailurePolicy(tolerated=tolerated).is_failed(failed, 21) is is_failed


def test_a_strategy_that_raises_at_once_stops_the_run(start, tmp_path, fault, small):
    command = (*FAULTY, "strategy=faulty", *small, "strategy.fault=index", "strategy.at=ash")
    ended = start(*command)
    assert ended.code == 1
    *_, resume, line = ended.err.splitlines()
    assert line.startswith(
        "stopped: 5 questions in a row failed alike, the last one ash/4 in index"
    )
    assert "MemoryError: no room for an index" in line
    (run,) = runs_in(tmp_path)
    assert resume.endswith(f"resume={run.folder.name}")
    assert run.manifest["status"] == "interrupted"
    assert len(run.records) == 5
    fault.unlink()
    assert start(*command, f"resume={run.folder.name}", "failures.stop_after=1").code == 0
    assert [record["status"] for record in run.records] == ["ok"] * 21


def test_too_many_failures_give_exit_code_1_and_a_summary(start, tmp_path, fault, small):
    command = (*FAULTY, "strategy=faulty", *small, "strategy.fault=third")
    ended = start(*command)
    assert ended.code == 1
    assert ended.err.splitlines()[-1] == (
        "failed: 6 of 21 questions failed, more than failures.tolerated=0.1 allows (exit code 1)"
    )
    (run,) = runs_in(tmp_path)
    assert run.manifest["status"] == "complete"
    assert run.summary["errors"] == 6
    again = (f"resume={run.folder.name}", "failures.tolerated=0.3")
    assert start(*command, *again).code == 0  # the setting is not part of the configuration
