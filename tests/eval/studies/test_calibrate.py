"""Calibration of the typical similarity of an embedder."""

from __future__ import annotations

from statistics import fmean, median

from eval.studies.calibrate import main
from tests.eval.commands import runs_in


def test_prints_the_line_of_the_embedders_file(start, tmp_path, small, capsys):
    assert start("strategy=vector_only", *small, "k=6").code == 0
    (run,) = runs_in(tmp_path)
    assert main([str(run.folder)]) == 0
    means = [
        fmean(sorted((s for _, _, s, _ in r["retrieved"]), reverse=True)[:5]) for r in run.records
    ]
    out = capsys.readouterr().out
    assert f"conf/embedder/minilm.yaml: typical_similarity: {median(means):.2f}" in out
    assert "21 questions" in out
    assert f"50%  {median(means):.3f}" in out


def test_refuses_scores_that_are_not_cosines_and_a_folder_that_is_no_run(keyed, tmp_path, capsys):
    assert main([str(keyed["plain"].folder)]) == 2
    assert "scores of bm25 are not cosines" in capsys.readouterr().err
    assert main([str(tmp_path)]) == 2
    (tmp_path / "manifest.json").write_text("[]")
    assert main([str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 2
