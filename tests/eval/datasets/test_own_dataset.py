"""A user's data set from docs/extend.md is run and reported."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from eval.datasets.reload import load_original
from memsys.core.errors import InputError
from tests.eval.commands import Ended, run_main, runs_in
from tests.eval.examples import write_examples

FILES = ("diary.json", "diary.py", "conf/dataset/mine.yaml")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    write_examples(tmp_path, *FILES)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.modules.pop("diary", None)


def run(folder: Path, cache: Path) -> Ended:
    chosen = ("--config-dir", "conf", "dataset=mine", "strategy=bm25")
    return run_main(folder, cache, *chosen)


def test_own_data_set_runs(folder, cache, monkeypatch):
    ended = run(folder, cache)
    assert ended.code == 0, ended.err
    (done,) = runs_in(folder)
    assert [record["type"] for record in done.records] == ["diary_fact"] * 2 + ["adversarial"]
    assert done.summary["by_type"]["diary_fact"]["n"] == 2
    assert done.manifest["data"][0]["name"] == "diary.json"
    with pytest.raises(InputError, match=r"diary\.Diary is not trusted"):
        load_original(done.manifest)
    monkeypatch.setenv("MEMSYS_TRUSTED", "diary")
    assert len(load_original(done.manifest).questions) == 3


def test_wrong_input_is_one_line(folder, cache):
    (folder / "diary.json").write_text('{"author": "Ada"}')
    ended = run(folder, cache)
    assert ended.code == 2
    assert "diary.json: KeyError('days'); correct the file or dataset.path" in ended.err
