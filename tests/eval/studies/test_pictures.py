"""The pictures of README and docs are drawn from the committed tables."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from eval.studies.pictures import _overall, _ticks, budget, curves, main, strategies

TABLES = Path(__file__).parents[3] / "results" / "tables"
NAMES = ("strategies", "budget", "synthetic", "kept", "scale")


@pytest.mark.slow
def test_all_pictures_are_drawn_and_show_what_their_tables_say(tmp_path):
    assert main(["--out", str(tmp_path)]) == 0
    for name in NAMES:
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (tmp_path / f"{name}.svg").read_text(encoding="utf-8")
    draw = {"default_sweep": strategies, "budget": budget}
    for table, picture, figure, other in (
        ("budget", "budget", ",0.20002005183004196,", ",0.20002005183004196,"),
        ("budget", "budget", ",0.20002005183004196,", ",0.24,"),
        ("default_sweep", "strategies", ",0.22569928133237366,", ",0.24569928133237366,"),
    ):
        text = (TABLES / f"{table}.csv").read_text(encoding="utf-8")
        assert figure in text
        (tmp_path / "table.csv").write_text(text.replace(figure, other), encoding="utf-8")
        before = (tmp_path / f"{picture}.svg").read_bytes()
        draw[table](_overall(tmp_path / "table.csv"), tmp_path / picture)
        after = (tmp_path / f"{picture}.svg").read_bytes()
        assert (before == after) == (figure == other)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["synthetic", "kept"])
def test_curves_show_f1_alone(name, tmp_path):
    pictures = []
    for number, scores in enumerate((".", "score|locomo_f1")):
        folder = tmp_path / str(number)
        folder.mkdir()
        for table in TABLES.glob("*.csv"):
            rows = table.read_text(encoding="utf-8").splitlines(keepends=True)
            kept = "".join(row for row in rows if re.match(scores, row))
            (folder / table.name).write_text(kept, encoding="utf-8")
        curves(name, folder, folder / name)
        pictures.append((folder / f"{name}.svg").read_bytes())
    assert pictures[0] == pictures[1]


def test_a_missing_table_is_named(tmp_path, capsys):
    assert main(["--tables", str(tmp_path), "--out", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "docs/reproduce.md gives the command for default_sweep" in said


def test_numbers_are_placed_to_scale_and_labels_do_not_touch():
    assert _ticks([0.0, 0.5, 0.8, 0.95]) == ["0", "0.5", "", "0.95"]
    assert _ticks([1.0, 4.0, 8.0]) == ["1", "4", "8"]
