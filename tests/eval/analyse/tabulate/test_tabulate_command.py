"""A sweep and its table, as they are called."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from eval.analyse.tabulate.__main__ import main
from tests.eval.commands import runs_in


@pytest.fixture(autouse=True)
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the runs of `start` are."""
    monkeypatch.chdir(tmp_path)


def rows(text: str) -> list[list[str]]:
    """The rows of the last table of a page."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_an_experiment_becomes_a_page_and_a_csv(start, tmp_path, small, capsys):
    given = ("dataset=sample", *small[:2], "strategy=bm25", "context=flat,layered", "k=2")
    ended = start("-m", "experiment=injection", *given)
    assert ended.code == 0, ended.err
    assert main(["injection", *given]) == 0
    path = tmp_path / "results" / "tables" / "injection.md"
    assert not path.exists()  # that of the experiment without other arguments
    said = capsys.readouterr().out
    assert "written to results/tables: injection-dataset=sample-" in said
    assert main(["injection", *given, "--out", str(path.parent.resolve())]) == 0
    page = path.read_text(encoding="utf-8")
    assert capsys.readouterr().out.rstrip() == page.rstrip()
    assert said.startswith(page.rstrip())
    runs = runs_in(tmp_path)
    header, _, *lines = rows(page)
    assert header[0] == "context"
    for run, line in zip(runs, lines, strict=True):
        cell = run.summary["by_type"]["overall"]
        assert line[0] == f"`{run.manifest['choices']['context']}`"
        assert line[1] == str(cell["n"])
        assert line[2].startswith(f"{cell['f1']:.3f} [")
        assert line[8].startswith(f"{cell['context_tokens_mean']:.0f} [")
        assert line[9] == f"`{run.manifest['config_sha256'][:10]}`"
    assert lines[0][3] == "reference"
    assert lines[1][3].endswith("none shown")
    assert "2 runs of 21 questions (0 failed)" in page
    with (tmp_path / "results" / "tables" / "injection.csv").open(encoding="utf-8") as file:
        found = list(csv.DictReader(file))
    assert {line["run_id"] for line in found} == {run.folder.name for run in runs}
    assert main(["injection", *given, "--picture", "--out", "tables"]) == 2
    assert "no number to draw scores over; leave out --picture" in capsys.readouterr().err


def test_a_sweep_over_a_number_is_drawn(start, tmp_path, small, capsys):
    given = ("dataset=sample", *small[:2], "strategy=bm25,auto", "strategy.budget=16,128")
    assert start("-m", "experiment=budget", *given).code == 0
    assert main(["budget", *given, "--picture", "--out", "drawn"]) == 0
    assert (
        "written to drawn: budget.md, budget.csv, budget.png, budget.svg" in capsys.readouterr().out
    )
    svg = (tmp_path / "drawn" / "budget.svg").read_text(encoding="utf-8")
    assert all(f"<!-- {word} -->" in svg for word in ("bm25", "auto", "strategy.budget", "128"))


def test_runs_that_are_missing_are_asked_for(tmp_path, capsys):
    assert main(["memory_unit", "k=3"]) == 2
    told = capsys.readouterr().err
    assert "9 of 9 runs are missing" in told
    assert "run python -m eval.run -m experiment=memory_unit k=3" in told
    assert not (tmp_path / "results").exists()
