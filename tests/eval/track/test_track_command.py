"""`python -m eval.track`: runs that exist already."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from eval.track.__main__ import main
from tests.eval.commands import Run


def test_without_a_tracker_nothing_is_done(
    keyed: dict[str, Run], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(keyed["plain"].folder)]) == 2
    assert "name a RUN and a tracker: python -m eval.track last tracker=" in capsys.readouterr().err
    assert main(["tracker=mlflow"]) == 2


def test_an_unknown_tracker_is_refused(
    keyed: dict[str, Run], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(keyed["plain"].folder), "tracker=nosuch"]) == 2
    assert "nosuch" in capsys.readouterr().err


def test_runs_are_logged_and_those_that_cannot_be_are_named(
    keyed: dict[str, Run], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("mlflow", reason="the extra mlflow is not installed")
    broken = shutil.copytree(keyed["plain"].folder, tmp_path / "broken")
    (broken / "summary.json").unlink()
    folder, store = str(keyed["plain"].folder), f"tracker.uri={tmp_path / 'mlruns'}"
    assert main([folder, "tracker=mlflow", store]) == 0
    assert capsys.readouterr().out == "1 of 1 runs logged\n"
    assert main([str(broken), folder, "tracker=mlflow", store]) == 1
    said = capsys.readouterr()
    assert said.out == "1 of 2 runs logged\n"
    assert "warning: broken was not logged" in said.err
