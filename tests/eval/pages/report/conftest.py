"""A data set and two runs on it; the second scores .1 more on every question."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.eval.pages.report.made_report import data_file, records, write_run


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return data_file(tmp_path / "made.json")


@pytest.fixture
def first(tmp_path: Path, data: Path) -> Path:
    return write_run(tmp_path / "first", records(), "plain", data)


@pytest.fixture
def second(tmp_path: Path, data: Path) -> Path:
    return write_run(tmp_path / "second", records(0.1), "better<i>", data)
