"""Shares of true relations: merging entities by similar names is shown to make them false."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval.studies.truth import main
from tests.eval.commands import run_main
from tests.eval.datasets.synthetic.test_written_memories import SMALL
from tests.eval.factory import hashed

FEW = (*SMALL, "dataset.sessions=5")


def shares(
    tmp_path: Path, cache: Path, capsys: pytest.CaptureFixture[str], *options: str
) -> list[float]:
    """Shares of the shown relations: true at the end, true before, never stated."""
    folder = tmp_path / "run"
    ended = run_main(tmp_path, cache, *FEW, *options, f"hydra.run.dir={folder}")
    assert ended.code == 0, ended.err
    assert main([str(folder)]) == 0
    line = capsys.readouterr().out.splitlines()[-1].removeprefix(str(folder))
    cells = [cell for cell in line.split("  ") if cell.strip()]
    return [float(cell.split()[0]) for cell in cells[1:]]


def test_every_relation_of_a_correct_graph_is_or_was_true(tmp_path, cache, capsys):
    ended = "strategy.graph.on_conflict=invalidate"
    at_end, before, never = shares(tmp_path, cache, capsys, "strategy=mem0_graph", ended)
    assert at_end > 0.2
    assert before > 0.2
    assert never == 0.0


def test_merged_names_give_relations_that_were_never_stated(tmp_path, cache, capsys):
    merged = ("strategy=mem0_graph", "strategy.graph.merge=0.4")
    at_end, _, never = shares(tmp_path, cache, capsys, *merged)
    assert never > 0.3
    assert at_end < 0.7


def test_runs_without_known_facts_or_relations_are_refused(tmp_path, cache, capsys):
    folder = tmp_path / "run"
    ended = run_main(tmp_path, cache, *FEW, "strategy=bm25", f"hydra.run.dir={folder}")
    assert ended.code == 0, ended.err
    assert main([str(folder)]) == 2
    assert "no relation was shown" in capsys.readouterr().err
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["data"][0]["sha256"] = "0"
    path.write_text(json.dumps(manifest))
    assert main([str(folder)]) == 2
    assert "are not those that the run read" in capsys.readouterr().err
    manifest["config"]["dataset"]["_target_"] = "eval.datasets.files.LoCoMo"
    path.write_text(json.dumps(hashed(manifest)))
    assert main([str(folder)]) == 2
    assert "not a run on dataset=synthetic" in capsys.readouterr().err
