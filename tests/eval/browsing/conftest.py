"""The runs of the report's tests: the first two, and one with failures and abstentions."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "reporting"))
from made_report import data_file, made, record, records, write_run

from eval.browsing.questions import Questions
from eval.reporting.runs import Reported


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    root = tmp_path_factory.mktemp("runs")
    data = data_file(root / "made.json")
    other = records(0.1)
    failure = {"phase": "answer", "kind": "Timeout", "message": "late"}
    changes = {
        "ash/0": {"status": "error", "error": failure, "answer": None},
        "ash/1": {"abstained": True, "answer": "I do not know."},
        "ash/4": {"abstained": True, "answer": "Not mentioned."},
        "ash/5": {"answer": "A zebra, in Straße 5"},
        "ash/6": {"scores": record("ash/6", f1=0.01)["scores"]},
    }
    third = [row | changes.get(row["id"], {}) for row in other[:-1]]
    return [
        write_run(root / "first", records(), "plain", data),
        write_run(root / "second", other, "better<i>", data),
        write_run(root / "third", third, "odd", data),
    ]


@pytest.fixture(scope="session")
def runs(folders: list[Path]) -> list[Reported]:
    return made(*folders)


@pytest.fixture(scope="session")
def questions(runs: list[Reported]) -> Questions:
    return Questions(runs)
