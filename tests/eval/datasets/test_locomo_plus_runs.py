"""Runs over LoCoMo-Plus's layout, as a user starts them: nothing scores a missing gold answer."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from eval.analyse.compare.__main__ import main as compare
from eval.analyse.diagnose.__main__ import main as diagnose
from eval.analyse.retrieval.__main__ import main as measure
from eval.audit_judge.__main__ import main as audit
from eval.datasets.reload import config_of, load_dataset_of
from eval.exchange.export.__main__ import main as export
from eval.imports.rescore.__main__ import main as rescore
from eval.pages.report.__main__ import main as report
from tests.eval.commands import Run, run_main, runs_in
from tests.eval.datasets.made_locomo_plus import sample, write
from tests.shared import made_once

_OF_ANSWERS = ("locomo_f1", "bleu1", "f1_strict", "judge")


def options(folder: Path) -> tuple[str, ...]:
    """Options for a data set that is written into `folder`."""
    kinds = ("causal", "state", "goal", "value", "goal", "state")
    plus, locomo = write(folder, *(sample(relation_type=kind) for kind in kinds))
    return ("dataset=locomo_plus", f"dataset.path={plus}", f"dataset.locomo={locomo}", "k=2")


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> list[Run]:
    """Runs of three strategies: read only."""

    def make(folder: Path) -> None:
        chosen = ("-m", *options(folder), "strategy=oracle,bm25,hybrid_rank")
        ended = run_main(folder, cache, *chosen)
        assert ended.code == 0, ended.err

    return runs_in(made_once(tmp_path_factory, "locomo-plus-runs", make))


def test_answers_without_gold_have_no_score(answered):
    for run in answered:
        for record in run.records:
            assert (record["gold"], record["status"]) == (None, "ok")
            assert record["answer"] is not None
            assert all(record["scores"].get(name) is None for name in _OF_ANSWERS)
            assert record["asked_at"] == "2023-04-08T09:00:00"
        cells = run.summary["by_type"]
        assert [cells[name]["n"] for name in ("causal", "state", "goal", "value")] == [1, 2, 2, 1]
        overall = cells["overall"]
        assert (overall["n"], overall["errors"]) == (6, 0)
        assert overall["f1"] is overall["bleu1"] is overall["judge"] is None
        assert overall["evidence_recall"] is not None
        protocol = run.summary["protocols"]["locomo"]["by_type"]["overall"]
        assert (protocol["n"], protocol["f1"]) == (6, None)
    first = next(run for run in answered if run.manifest["strategy"] == "oracle")
    assert first.summary["by_type"]["overall"]["evidence_recall"] == 1.0


def test_commands_know_the_types_and_that_there_is_no_gold(answered, tmp_path, capsys):
    shutil.copytree(answered[0].folder.parent, tmp_path / "results" / "runs")
    runs = {run.manifest["strategy"]: run for run in runs_in(tmp_path)}
    by_strategy = {name: str(run.folder) for name, run in runs.items()}
    bm25, folders = by_strategy["bm25"], [by_strategy["bm25"], by_strategy["hybrid_rank"]]

    def printed(code: int) -> str:
        assert code == 0
        shown = capsys.readouterr().out
        assert "types 1-4 " not in shown.replace("n, types 1-4", "")
        return shown

    shown = printed(compare(folders))
    assert "recall@10" in shown
    assert "overall (all but type 5)" in shown
    shown = printed(diagnose([bm25]))
    assert "no gold answers, so that no answer has locomo_f1" in shown.replace("\n", " ")
    assert "6 questions of all but type 5" in printed(measure([bm25]))
    printed(report(folders))
    text = next(Path(folders[0]).glob("comparison.md")).read_text(encoding="utf-8")
    assert "Scores of all but type 5, unless another type is named." in text
    assert "phrase match; abstention" not in text
    before = runs["bm25"].records
    assert rescore([bm25]) == 0
    assert runs["bm25"].records == before
    assert export([bm25, "--to", "trec", "--out", str(tmp_path / "trec")]) == 0
    qrels = (tmp_path / "trec" / "qrels.trec").read_text().splitlines()
    assert qrels[:2] == ["ash/0 0 ash:C0:1 1", "ash/0 0 ash:C0:2 1"]
    assert len(qrels) == 12


def test_judges_and_audits_of_gold_answers_are_refused(start, tmp_path, capsys):
    given = options(tmp_path)
    ended = start(*given, "strategy=bm25", "judge=gold_recall")
    assert ended.code == 2
    assert "dataset=locomo_plus has none, only cues; use judge=llm" in ended.err
    assert audit([*given[:3]]) == 2
    assert "locomo_plus: has no gold answers" in capsys.readouterr().err


def test_rankings_of_others_find_the_data_set(tmp_path, monkeypatch):
    monkeypatch.setattr("eval.datasets.files.DATA", tmp_path)
    write(tmp_path, sample())
    data = load_dataset_of(config_of("locomo_plus", "original", None))
    assert (data.name, [one.id for one in data.questions]) == ("locomo_plus", ["ash/0"])
