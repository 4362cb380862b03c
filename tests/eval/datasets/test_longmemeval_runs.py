"""Runs over LongMemEval's layout, as a user starts them."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from eval.analyse.tabulate.__main__ import main as tabulate
from eval.metrics import Answered
from eval.metrics.registry import score
from tests.eval.commands import Run, run_main, runs_in
from tests.eval.datasets.made_longmemeval import instance, write
from tests.shared import made_once


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> list[Run]:
    """Of oracle, bm25 and no_memory: read only."""

    def make(folder: Path) -> None:
        made = write(
            folder / "made.json",
            instance("a", answer="nine cherry trees", question_type="multi-session"),
            instance("b"),
            instance("c_abs", answer="There were no pear trees."),
        )
        given = ("experiment=longmemeval", f"dataset.path={made}", "k=2")
        ended = run_main(folder, cache, "-m", *given, "strategy=oracle,bm25,no_memory")
        assert ended.code == 0, ended.err

    return runs_in(made_once(tmp_path_factory, "longmemeval-runs", make))


def test_a_run_has_the_data_sets_own_types_and_no_published_id(runs):
    first = next(run for run in runs if run.manifest["strategy"] == "oracle")
    records = {record["id"]: record for record in first.records}
    assert records["a/0"]["category"] == 14
    assert records["b/0"]["asked_at"] == "2023-06-01T09:05:00"
    assert records["b/0"]["evidence_sessions"] == ["s1", "s2"]
    assert [r["scores"]["evidence_session_recall"] for r in records.values()] == [1.0] * 3
    assert records["c_abs/0"]["gold"] is None
    cells = first.summary["by_type"]
    assert list(cells) == ["multi_session", "knowledge_update", "adversarial", "overall"]
    assert [cells[name]["n"] for name in cells] == [1, 1, 1, 2]
    assert cells["overall"]["evidence_session_recall"] == 1.0
    assert first.summary["protocols"]["locomo"]["by_type"]["overall"]["n"] == 2
    without = next(run for run in runs if run.manifest["strategy"] == "no_memory")
    assert without.summary["by_type"]["overall"]["evidence_session_recall"] == 0.0
    for path in runs[0].folder.parent.rglob("*"):
        assert path.is_dir() or b"answer_a" not in path.read_bytes(), path


@pytest.mark.parametrize(
    ("category", "gold", "answer", "f1"),
    [
        (14, "red, blue", "blue, red, green", 0.8),  # LoCoMo's type 1 splits at commas: 1.0
        (13, "yes; she likes kites", "yes", 0.4),  # LoCoMo's type 3 cuts at a semicolon: 1.0
    ],
)
def test_other_rules_than_locomos_do_not_apply(category, gold, answer, f1):
    assert score(Answered(category, gold, answer))["locomo_f1"] == pytest.approx(f1)


def test_a_table_by_type(runs, tmp_path):
    out = tmp_path / "tables"
    given = [
        f"dataset.path={runs[0].manifest['config']['dataset']['path']}",
        "k=2",
        "strategy=oracle,bm25,no_memory",
    ]
    folder = str(runs[0].folder.parent)
    assert tabulate(["longmemeval", *given, "--runs", folder, "--out", str(out)]) == 0
    text = (out / "longmemeval.md").read_text()
    assert "| by type | multi_session (1) | knowledge_update (1) | overall (2) |" in text
    assert "Evidence recall, by session" in text
    assert "multi_hop" not in text
    with (out / "longmemeval.csv").open() as file:
        rows = list(csv.DictReader(file))
    found = {(r["score"], r["type"], r["run"]): r for r in rows}
    assert len(found) == len(rows)
    one = found["evidence_session_recall", "multi_session", "strategy=oracle"]
    assert (one["n"], one["conversations"], float(one["mean"])) == ("1", "1", 1.0)
    assert found["evidence_session_recall", "overall", "strategy=oracle"]["n"] == "2"
