"""The command: recorded verdicts give the published rates, wrong input gives one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval.audit_judge.__main__ import main
from eval.audit_judge.wrong_answers import FILES
from eval.datasets.files import shared_folder
from tests.eval.judges.judged_run import write_judged_run

LOCOMO = shared_folder() / "locomo"
published = pytest.mark.skipif(
    not all((LOCOMO / "answers" / name).is_file() for name in FILES.values()),
    reason="needs $MEMSYS_SHARED/locomo with the published wrong answers",
)


@published
def test_recorded_verdicts_reproduce_the_published_rates(tmp_path: Path) -> None:
    path = f"dataset.path={LOCOMO / 'locomo10.json'}"
    out = tmp_path / "audit"
    assert main(["judge=recorded", "dataset=locomo", path, f"out={out}"]) == 0
    told = json.loads((out / "audit.json").read_text())
    rates = {one["kind"]: one["mistaken"] for one in told["kinds"]}
    assert list(rates) == ["wrong_specific", "wrong_vague"]
    assert (rates["wrong_specific"]["count"], rates["wrong_specific"]["n"]) == (164, 1540)
    assert f"{rates['wrong_specific']['share']:.1%}" == "10.6%"
    assert f"{rates['wrong_vague']['share']:.1%}" == "62.7%"
    assert told["self_agreement"]["recorded"]["value"] == pytest.approx(0.972, abs=0.002)
    assert "| 62.7% |" in (out / "audit.md").read_text()


def test_the_stand_in_is_audited_without_anything(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "audit"
    assert main(["limit=20", "probes=null", f"out={out}"]) == 0
    shown = capsys.readouterr().out
    assert "gold_recall" in shown
    assert "not J" in shown
    told = json.loads((out / "audit.json").read_text())
    rates = {one["kind"]: one["mistaken"]["share"] for one in told["kinds"]}
    assert rates["gold"] == rates["gold_long"] == rates["empty"] == rates["refusal"] == 0
    assert told["wrong_answers"] == "wrong answers made by rule"


def test_a_run_is_corrected_under_the_stand_ins_own_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scores = [{"gold_recall": float(i % 2), "judge": None} for i in range(20)]
    run = write_judged_run(tmp_path / "run", [{"scores": one} for one in scores])
    assert main(["limit=40", f"run={run}"]) == 0
    shown = capsys.readouterr().out
    assert f"gold_recall of {run}, judged by unknown" in shown
    assert "check that they are one judge" in shown
    assert "J of" not in shown
    assert "50.0%" in shown


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["judge=llm"], "no model to judge with; add llm=openai or llm=local"),
        (["judge=llm", "judge_llm=local"], "by llm@judge_llm=local"),
        (["judge=none"], "there is no judge to audit"),
        (["judge=recorded", "dataset=sample"], "judge=recorded: no"),
        (["judge=recorded", "probes=/nowhere"], "has no ap_wrong_v1.jsonl.gz"),
        (["judge=someone"], "Could not find 'judge/someone'"),
        (["limit=0"], "limit=0: must be 1 or more"),
        (["judge.threshold=2"], "judge.threshold=2: must be"),
        (["run=/nowhere"], "no such run"),
        (["out=."], "exists and is not empty"),
        (["dataset.types=[nonsense]"], "nonsense"),
        (["limt=3"], "limt: no such setting"),
    ],
)
def test_wrong_input_is_one_line(
    settings: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(settings) == 2
    told = capsys.readouterr().err.strip()
    assert message in told
    assert told.startswith("error: ")
    assert "\n" not in told


def test_the_judging_model_is_judge_llm_as_in_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MEMSYS_CACHE", str(tmp_path))
    settings = ["judge=llm", "llm@judge_llm=openai", "judge_llm.cache=replay", "limit=1"]
    assert main(settings) == 2  # nothing is recorded there, and nothing may be asked
    assert "gpt-4o-mini" in capsys.readouterr().err
