"""What fails is counted, told and asked again; it never ends a run nor passes for an answer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.eval.run.conftest import ALL, THIRD


def test_every_third_question(start, third, small, clean):
    said = third.ended.out
    assert "6 of 21 questions failed; they are in no mean" in said
    assert "the first: ash/2: retrieve: ValueError: question 2 of ash is a third one" in said
    assert f"resume={third.folder.name}" in said
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
