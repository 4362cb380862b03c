"""Paid answers of models are stored for the user, and nothing deletes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.exchange.cache import __main__ as cache
from memsys.core.places import cache_folder
from memsys.llm.recording import CALLS, RecordedAnswer, Recording
from tests.eval.commands import PROJECT

ANSWER = RecordedAnswer("0" * 64, "/v1", "m", 200, '{"a": 1}', 2.0, 3, 4, "2026-01-01")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without MEMSYS_CACHE, in a folder with a cache."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MEMSYS_CACHE")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    Recording(".cache").keep([ANSWER])
    return tmp_path


def test_answers_of_another_folder_can_be_imported(home, capsys):
    into = cache_folder()
    assert cache.main(["import", ".cache/calls.sqlite", "--cache", str(into)]) == 0
    assert "1 of 1 answers are new" in capsys.readouterr().out
    assert Recording(into).find_all([ANSWER.key]) == [ANSWER]
    assert Recording(".cache").find_all([ANSWER.key]) == [ANSWER]
    Path("odd").mkdir()
    Path("odd", CALLS).write_text("no database")
    assert cache.main(["import", "odd/calls.sqlite", "--cache", str(into)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_nothing_deletes_stored_answers():
    for name in ("Makefile", ".ci/run"):
        removed = [line for line in (PROJECT / name).read_text().splitlines() if "rm -rf" in line]
        assert removed
        assert not any(".cache" in line for line in removed)
