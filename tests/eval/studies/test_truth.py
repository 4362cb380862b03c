"""How true the shown relations are: by a merge of names they are false, and the share says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval.studies.truth import main
from tests.eval.commands import run_main
from tests.eval.datasets.synthetic.test_written_memories import SMALL


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def shares(
    tmp_path: Path, cache: Path, capsys: pytest.CaptureFixture[str], *options: str
) -> list[float]:
    """Of the shown relations: hold in the end, held before, never told."""
    folder = tmp_path / "run"
    ended = run_main(tmp_path, cache, *SMALL, *options, f"hydra.run.dir={folder}")
    assert ended.code == 0, ended.err
    assert main([str(folder)]) == 0
    line = capsys.readouterr().out.splitlines()[-1].removeprefix(str(folder))
    cells = [cell for cell in line.split("  ") if cell.strip()]
    return [float(cell.split()[0]) for cell in cells[1:]]


def test_what_was_told_holds_or_held(
    tmp_path: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = "strategy.graph.on_conflict=invalidate"
    holds, before, never = shares(tmp_path, cache, capsys, "strategy=mem0_graph", ended)
    assert holds > 0.2
    assert before > 0.2
    assert never == 0.0


def test_names_that_are_merged_make_relations_that_nobody_told(
    tmp_path: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    merged = ("strategy=mem0_graph", "strategy.graph.merge=0.4")
    holds, _, never = shares(tmp_path, cache, capsys, *merged)
    assert never > 0.3
    assert holds < 0.7


def test_runs_of_which_nothing_can_be_told_are_refused(
    tmp_path: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    made = run_main(tmp_path, cache, *SMALL, "strategy=bm25", f"hydra.run.dir={folder}")
    assert made.code == 0, made.err
    assert main([str(folder)]) == 2
    assert "no relation was shown" in capsys.readouterr().err
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["data"][0]["sha256"] = "0"
    path.write_text(json.dumps(manifest))
    assert main([str(folder)]) == 2
    assert "are not those that the run read" in capsys.readouterr().err
    manifest["config"]["dataset"]["_target_"] = "eval.datasets.files.LoCoMo"
    path.write_text(json.dumps(manifest))
    assert main([str(folder)]) == 2
    assert "not of dataset=synthetic" in capsys.readouterr().err
