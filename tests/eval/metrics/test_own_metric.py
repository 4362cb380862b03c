"""A user's metric from docs/extend.md: in records, summary, tables, and in a rescored run."""

from __future__ import annotations

import csv
import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from eval.analyse.compare.__main__ import main as compare
from eval.imports.rescore.__main__ import main as rescore
from eval.metrics import Answered, registry
from eval.rendering.tables import by_type
from memsys.core.errors import InputError
from tests.eval.commands import Run, run_once, runs_in
from tests.eval.examples import EXAMPLES, write_examples
from tests.shared import made_once

FILES = ("exact_match.py", "conf/metric/exact_match.yaml")
LINES = 18


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
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def complete(tmp_path_factory: pytest.TempPathFactory, cache: Path, small: tuple[str, ...]) -> Run:
    """A run with the metric: read only."""
    examples = made_once(
        tmp_path_factory, "own-metric", lambda folder: write_examples(folder, *FILES)
    )
    chosen = ("--config-dir", str(examples / "conf"), "metric=exact_match", "strategy=vector_only")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(examples)
        run = run_once(tmp_path_factory, cache, "own-metric-run", *chosen, *small)
    registry.use_configured(None)
    sys.modules.pop("exact_match", None)
    return run


@pytest.fixture
def run(complete: Run, folder: Path) -> Run:
    """The run in the user's folder, for a test that changes it."""
    shutil.copytree(complete.folder, folder / "results" / "runs" / complete.folder.name)
    (run,) = runs_in(folder)
    return run


def test_example_is_short():
    assert all(len(EXAMPLES[name].splitlines()) < LINES for name in FILES)


def test_records_summary_and_csv_have_the_score(complete, folder):
    assert complete.ended is not None
    assert "exact match" in complete.ended.out
    registry.use_configured(complete.manifest["config"]["metric"])
    for record in complete.records:
        equal = record["gold"] is not None and (
            record["gold"].casefold() == record["answer"].strip().casefold()
        )
        expected = None if record["gold"] is None else float(equal)
        assert record["scores"]["exact_match"] == expected
        assert list(record["scores"])[-1] == "exact_match"
    scored = [r["scores"]["exact_match"] for r in complete.records if r["gold"] is not None]
    cell = complete.summary["by_type"]["overall"]
    assert cell["exact_match"] == pytest.approx(sum(scored) / len(scored))
    assert 0 < cell["exact_match"] < 1
    assert cell["exact_match_ci"][0] <= cell["exact_match"] <= cell["exact_match_ci"][1]
    assert "exact match" in by_type(complete.summary)[0]
    assert "exact match" in (complete.folder / "report.md").read_text(encoding="utf-8")
    rows = list(csv.DictReader((complete.folder / "summary.csv").open(encoding="utf-8")))
    assert float(rows[-1]["exact_match"]) == cell["exact_match"]
    metric = complete.manifest["config"]["metric"]["exact_match"]
    assert metric["_target_"] == "exact_match.ExactMatch"


def test_run_is_rescored_and_compared(run, capsys):
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


def test_missing_module_is_one_line(run, folder, capsys):
    (folder / "exact_match.py").unlink()
    assert rescore([str(run.folder)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "metric=exact_match" in line
    assert "No module named 'exact_match'" in line


def settings() -> dict[str, dict[str, str]]:
    """The configuration that the example's YAML makes."""
    return {"exact_match": yaml.safe_load(EXAMPLES[FILES[1]])}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("name", "changed", "message"),
    [
        ("exact_match", {"_target_": "exact_match.Missing"}, "Missing"),
        ("exact_match", {"colour": "exact match"}, "colour"),
        ("exact_match", {"_target_": "builtins.dict"}, "is no eval.metrics.Metric"),
        ("bleu1", {}, "bleu1 is taken by bleu1"),
    ],
)
def test_wrong_settings_are_one_line(name, changed, message):
    with pytest.raises(InputError, match=message) as refused:
        registry.use_configured({name: settings()["exact_match"] | changed})
    assert "\n" not in str(refused.value)
    with pytest.raises(InputError, match=r"^metric\._target_: .* the first line of"):
        registry.use_configured(settings()["exact_match"])


@pytest.mark.parametrize(
    ("value", "message"),
    [("3", "the score is 3; it must be 0 to 1, or None"), ("1 / 0", "ZeroDivisionError: division")],
)
def test_wrong_score_is_one_line(value, message, folder):
    path = folder / FILES[0]
    path.write_text(path.read_text().replace("return float(", f"return {value}  # ("))
    registry.use_configured(settings())
    assert "exact_match" in registry.names()
    with pytest.raises(InputError) as refused:
        registry.score(Answered(4, "tea", "tea", id="ash/0"))
    assert str(refused.value).startswith(f"metric=exact_match: question ash/0: {message}")
    registry.use_configured(None)  # a run without the metric after one with it does not have it
    assert "exact_match" not in registry.names()
