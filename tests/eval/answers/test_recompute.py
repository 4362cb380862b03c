import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval.datasets.types import Dataset
from eval.imports.rescore.imports import read_import, write_import
from eval.imports.rescore.recompute import recompute
from eval.records.jsonl import read_lines, write_lines
from eval.records.manifest import load_manifest

Rows = list[dict[str, Any]]


@pytest.fixture
def run(tmp_path: Path, rows: Rows, lines: Callable[..., Path], dataset: Dataset) -> Path:
    """The folder of an import with one judged row."""
    rows[0] |= {"judge": False, "context_tokens": 7}
    folder = tmp_path / "run"
    write_import(read_import(lines(rows), None, "mine", dataset), folder, {"dataset": "talks"})
    return folder


def _read(folder: Path) -> dict[str, Any]:
    """Every file of the folder but the lock."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("[!.]*")}
    return {name: json.loads(t) if name.endswith(".json") else t for name, t in texts.items()}


def test_scores_come_back_and_nothing_else_moves(run):
    before = _read(run)
    records = list(read_lines(run / "records.jsonl"))
    for record in records:
        record["scores"] |= {"locomo_f1": 0.123, "bleu1": None}
    write_lines(run / "records.jsonl", records)
    (run / "summary.json").unlink()
    (run / "report.md").unlink()
    summary, changed = recompute(run)
    assert changed == len(records)
    after = _read(run)
    assert len(after["manifest.json"].pop("rescored")) == 1
    assert after == before
    assert summary == before["summary.json"]
    assert recompute(run)[1] == 0
    assert len(load_manifest(run)["rescored"]) == 2


def test_verdicts_and_answers_stay(run):
    records = list(read_lines(run / "records.jsonl"))
    records[1]["scores"]["judge"] = 0.5
    records[1]["scores"]["by_hand"] = 1.0
    records[1]["answer"] = "in another year"
    write_lines(run / "records.jsonl", records)
    recompute(run)
    again = list(read_lines(run / "records.jsonl"))
    assert again[0]["scores"]["judge"] == 0.0
    assert (again[1]["scores"]["judge"], again[1]["scores"]["by_hand"]) == (0.5, 1.0)
    assert (again[1]["answer"], again[1]["scores"]["locomo_f1"]) == ("in another year", 0.0)


def test_evidence_is_counted_where_retrieval_is_known(run):
    records = list(read_lines(run / "records.jsonl"))
    records[0]["retrieved"] = [["m1", ["D1:1"], 0.5, "direct"], ["m2", [], 0.1, "expanded"]]
    records[1]["retrieved"] = []
    records[2] |= {
        "status": "error",
        "error": {"phase": "answer", "kind": "E", "message": "m"},
        "answer": None,
        "scores": dict.fromkeys(records[2]["scores"]),
    }
    write_lines(run / "records.jsonl", records)
    recompute(run)
    again = [record["scores"] for record in read_lines(run / "records.jsonl")]
    assert [scores["evidence_recall"] for scores in again[:4]] == [1.0, 0.0, None, None]
    assert set(again[2].values()) == {None}
