"""What fails is counted, told and asked again, and never passes for an answer; when failures end a
run, and when a run that ended has failed.
"""

import re
from pathlib import Path

import pytest

from eval.run.failures import Failure, FailurePolicy, FailureStreak
from tests.eval.commands import FAULTY, runs_in
from tests.eval.run.conftest import ALL, THIRD


def test_every_third_question(start, third, small, clean):
    output = third.ended.out
    assert "6 of 21 questions failed; they are in no mean" in output
    assert "the first: ash/2: retrieve: ValueError: question 2 of ash is a third one" in output
    assert f"resume={third.folder.name}" in output
    errors = {r["id"]: r["error"] for r in third.records if r["status"] != "ok"}
    assert list(errors) == [i for i in ALL if i[-1] in "25"]
    error = errors["beech/5"]
    assert (error["phase"], error["kind"]) == ("retrieve", "ValueError")
    assert error["message"] == "question 5 of beech is a third one"
    assert error["traceback"].startswith("Traceback (most recent call last):")
    assert error["traceback"].endswith("ValueError: question 5 of beech is a third one\n")
    failed = next(r for r in third.records if r["id"] == "beech/5")
    assert (failed["answer"], failed["abstained"], failed["retrieved"]) == (None, None, [])
    assert failed["answer_tokens"] == 0
    assert set(failed) == set(clean.records[0])
    assert set(failed["scores"].values()) == {None}
    assert third.manifest["status"] == "complete"
    summary = third.summary
    assert summary["errors"] == 6
    assert {name: cell["errors"] for name, cell in summary["by_type"].items()} == {
        **{"multi_hop": 0, "temporal": 0, "open_domain": 3, "single_hop": 3, "adversarial": 0},
        "overall": 6,
    }
    assert start(*THIRD, *small, f"resume={third.folder.name}").code == 0
    assert third.untimed == clean.untimed
    assert third.summary["errors"] == 0


def test_the_first_exception_is_shown_with_its_line_and_each_is_logged(broken, monkeypatch):
    monkeypatch.setenv("SHELF_KEY", "question 2 of beech")  # as if an exception repeated a key
    case = broken("strategy.fault=third")
    (line,) = [one for one in case.ended.err.splitlines() if "Error" in one]  # beside progress
    assert line.startswith("ValueError in retrieve of ash/2: question 2 of ash is a third one (")
    path, number = re.search(r"\((.*faulty\.py):(\d+)\)", line).groups()
    assert "raise ValueError" in Path(path).read_text().splitlines()[int(number) - 1]
    log = (case.run.folder / "log.txt").read_text()
    assert log.count("Traceback") == 6
    assert "retrieve of cedar/5\nTraceback" in log
    for text in (log, case.errors["beech/2"]["message"], case.errors["beech/2"]["traceback"]):
        assert "question 2 of beech" not in text
        assert "$SHELF_KEY is a third one" in text


def test_means_leave_errors_out_and_the_other_column_counts_them_as_0(failed_thirds):
    by_type, records = failed_thirds.summary["by_type"], failed_thirds.records
    # single_hop is questions 3 and 5 of three conversations, and every 5 failed
    f1 = [r["scores"]["locomo_f1"] for r in records if r["id"][-1] == "3"]
    recall = [r["scores"]["evidence_recall"] for r in records if r["id"][-1] == "3"]
    cell = by_type["single_hop"]
    assert sum(f1) > 0
    assert cell["n"] == 6
    assert cell["f1"] == pytest.approx(sum(f1) / 3)
    assert cell["f1_errors_as_zero"] == pytest.approx(sum(f1) / 6)
    assert cell["evidence_recall_errors_as_zero"] == pytest.approx(sum(recall) / 6)
    assert cell["judge_errors_as_zero"] is None
    # every question of open_domain failed: no mean, but 0 with errors as 0
    assert by_type["open_domain"]["f1"] is None
    assert by_type["open_domain"]["f1_errors_as_zero"] == 0
    assert by_type["open_domain"]["retrieve_ms_p95"] is None
    assert "f1_errors_as_zero" not in by_type["temporal"]


def test_a_session_that_cannot_be_remembered(broken, clean):
    case = broken("strategy.fault=ingest", "strategy.at=beech woke")
    assert case.ended.code == 0
    assert list(case.errors) == ALL[7:14]
    assert {tuple(error.values())[:3] for error in case.errors.values()} == {
        ("ingest session_2", "ConnectionError", "the store went away")
    }
    others = [r for r in clean.untimed if r["conversation"] != "beech"]
    assert [r for r in case.run.untimed if r["conversation"] != "beech"] == others
    broken = [line for line in case.run.ingests if line["status"] == "error"]
    assert [(i["conversation"], i["session"]) for i in broken] == [("beech", "session_2")]
    assert case.run.summary["warnings"] == []
    assert case.resume().untimed == clean.untimed


@pytest.mark.parametrize(
    ("setting", "at", "failed", "phase", "kind"),
    [
        ("strategy.fault=index", "ash", ALL[:7], "index", "MemoryError"),
        ("strategy.fault=no_number", "ash/1", ["ash/1"], "record", "ValueError"),
        ("reader=faulty", "null", ALL[3::7], "answer", "TimeoutError"),
        ("reader.fault=torn", "null", ALL[3::7], "record", "UnicodeEncodeError"),
    ],
)
def test_each_phase_of_a_question(broken, setting, at, failed, phase, kind, clean):
    reader = ("reader=faulty",) if setting.startswith("reader") else ()
    case = broken(*reader, setting, f"strategy.at={at}")
    assert case.ended.code == 0, case.ended.err
    assert list(case.errors) == failed
    assert {(e["phase"], e["kind"]) for e in case.errors.values()} == {(phase, kind)}
    assert [r["id"] for r in case.resume().records] == ALL
    assert reader or case.run.untimed == clean.untimed


def test_wrong_input_that_shows_late_ends_the_run_and_it_can_go_on(broken, clean):
    case = broken("strategy.fault=input", "strategy.at=beech/4")
    assert case.ended.code == 2
    assert "error: strategy.at: this question is not to be asked" in case.ended.err
    assert f"resume={case.run.folder.name}" in case.ended.err
    assert case.run.manifest["status"] == "interrupted"
    assert [r["id"] for r in case.run.records] == ALL[:11]
    assert case.resume().untimed == clean.untimed


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
    row = FailureStreak()
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
