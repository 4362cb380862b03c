"""A user's metric from docs/extend.md: in records, summary, tables, and in a rescored run."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from eval.compare.__main__ import main as compare
from eval.metrics import registry
from eval.rendering.tables import by_type
from eval.rescore.__main__ import main as rescore
from tests.eval.commands import Run, run_main, runs_in
from tests.eval.examples import EXAMPLES, write_examples

FILES = ("exact_match.py", "conf/metric/exact_match.yaml")
LINES = 18
CHOSEN = ("--config-dir", "conf", "metric=exact_match", "strategy=vector_only")


@pytest.fixture(autouse=True)
def without_own_metrics() -> Iterator[None]:
    yield
    registry.use_configured(None)
    sys.modules.pop("exact_match", None)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder, which `python -m` puts on Python's path."""
    write_examples(tmp_path, *FILES)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.fixture
def run(folder: Path, cache: Path, small: tuple[str, ...]) -> Run:
    ended = run_main(folder, cache, *CHOSEN, *small)
    assert ended.code == 0, ended.err
    (run,) = runs_in(folder)
    assert "exact match" in ended.out
    return run


def test_example_is_short() -> None:
    assert all(len(EXAMPLES[name].splitlines()) < LINES for name in FILES)


def test_records_summary_and_csv_have_the_score(run: Run) -> None:
    for record in run.records:
        equal = record["gold"] is not None and (
            record["gold"].casefold() == record["answer"].strip().casefold()
        )
        expected = None if record["gold"] is None else float(equal)
        assert record["scores"]["exact_match"] == expected
        assert list(record["scores"])[-1] == "exact_match"
    scored = [r["scores"]["exact_match"] for r in run.records if r["gold"] is not None]
    cell = run.summary["by_type"]["overall"]
    assert cell["exact_match"] == pytest.approx(sum(scored) / len(scored))
    assert 0 < cell["exact_match"] < 1
    assert cell["exact_match_ci"][0] <= cell["exact_match"] <= cell["exact_match_ci"][1]
    assert "exact match" in by_type(run.summary)[0]
    assert "exact match" in (run.folder / "report.md").read_text(encoding="utf-8")
    rows = list(csv.DictReader((run.folder / "summary.csv").open(encoding="utf-8")))
    assert float(rows[-1]["exact_match"]) == cell["exact_match"]
    assert run.manifest["config"]["metric"]["exact_match"]["_target_"] == "exact_match.ExactMatch"


def test_run_is_rescored_and_compared(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    before = run.summary["by_type"]
    lines = run.records
    for record in lines:
        del record["scores"]["exact_match"]
    text = "".join(json.dumps(record) + "\n" for record in lines)
    (run.folder / "records.jsonl").write_text(text, encoding="utf-8")
    assert rescore([str(run.folder)]) == 0
    assert run.summary["by_type"] == before
    assert "exact match" in capsys.readouterr().out
    assert compare([str(run.folder), str(run.folder), "--score", "exact_match"]) == 2
    assert "named 2 times" in capsys.readouterr().err


def test_missing_module_is_one_line(
    run: Run, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "exact_match.py").unlink()
    sys.modules.pop("exact_match")
    assert rescore([str(run.folder)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "metric=exact_match" in line
    assert "No module named 'exact_match'" in line


def test_run_without_the_metric_does_not_have_it(
    run: Run, folder: Path, cache: Path, small: tuple[str, ...]
) -> None:
    assert run_main(folder, cache, "strategy=vector_only", *small).code == 0
    plain = runs_in(folder)[-1]
    assert "exact_match" not in plain.records[0]["scores"]
    assert "exact_match" not in plain.summary["by_type"]["overall"]
    assert "metric" not in plain.manifest["config"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("# @package metric.exact_match\n", "", "the first line of the metric's YAML"),
        ("exact_match.ExactMatch", "exact_match.Missing", "Missing"),
        ("title:", "colour:", "colour"),
        ("exact_match.ExactMatch", "builtins.dict", "is no eval.metrics.Metric"),
        ("metric.exact_match", "metric.bleu1", "bleu1 is taken by bleu1"),
    ],
)
def test_wrong_settings_are_one_line(
    old: str, new: str, message: str, folder: Path, cache: Path, small: tuple[str, ...]
) -> None:
    path = folder / FILES[1]
    path.write_text(path.read_text().replace(old, new), encoding="utf-8")
    ended = run_main(folder, cache, *CHOSEN, *small)
    assert ended.code == 2
    (line,) = ended.err.splitlines()
    assert message in line


@pytest.mark.parametrize(("value", "message"), [("3", "0 to 1, or None"), ("1 / 0", "ZeroDivi")])
def test_wrong_score_is_one_line(
    value: str, message: str, folder: Path, cache: Path, small: tuple[str, ...]
) -> None:
    path = folder / FILES[0]
    text = path.read_text().replace("return float(", f"return {value}  # (")
    path.write_text(text, encoding="utf-8")
    ended = run_main(folder, cache, *CHOSEN, *small)
    assert ended.code == 2
    assert message in ended.err
    assert "metric=exact_match: question ash/" in ended.err
