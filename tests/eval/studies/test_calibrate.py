"""Calibration of the typical similarity of an embedder."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean, median

import pytest

from eval.studies.calibrate import main
from tests.eval.commands import Run, run_main, runs_in


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, cache: Path, small: tuple[str, ...]) -> Run:
    folder = tmp_path_factory.mktemp("calibrate")
    assert run_main(folder, cache, "strategy=vector_only", *small, "k=6").code == 0
    return runs_in(folder)[0]


def test_prints_the_line_of_the_embedders_file(run, capsys):
    assert main([str(run.folder)]) == 0
    means = [
        fmean(sorted((s for _, _, s, _ in r["retrieved"]), reverse=True)[:5]) for r in run.records
    ]
    out = capsys.readouterr().out
    assert f"conf/embedder/minilm.yaml: typical_similarity: {median(means):.2f}" in out
    assert "21 questions" in out
    assert f"50%  {median(means):.3f}" in out


def test_refuses_scores_that_are_not_cosines(start, tmp_path, small, capsys):
    start("strategy=bm25", *small)
    (other,) = runs_in(tmp_path)
    assert main([str(other.folder)]) == 2
    assert "scores of bm25 are not cosines" in capsys.readouterr().err


def test_refuses_a_folder_that_is_not_a_run(tmp_path, capsys):
    assert main([str(tmp_path)]) == 2
    (tmp_path / "manifest.json").write_text("[]")
    assert main([str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 2
