"""The pictures of README and docs are drawn from the committed tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.studies.pictures import _overall, _ticks, budget, main, strategies

TABLES = Path(__file__).parents[3] / "results" / "tables"


NAMES = ("strategies", "budget", "synthetic", "kept", "scale")


@pytest.mark.slow
def test_all_pictures_are_drawn(tmp_path):
    assert main(["--out", str(tmp_path)]) == 0
    for name in NAMES:
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (tmp_path / f"{name}.svg").read_text(encoding="utf-8")


def test_a_missing_table_is_named(tmp_path, capsys):
    assert main(["--tables", str(tmp_path), "--out", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "docs/reproduce.md gives the command for default_sweep" in said


@pytest.mark.parametrize(
    ("table", "figure", "other", "draw"),
    [
        ("default_sweep", ",0.22569928133237366,", ",0.24569928133237366,", strategies),
        ("budget", ",0.20002005183004196,", ",0.24,", budget),
    ],
)
def test_a_picture_shows_what_its_table_says(tmp_path, table, figure, other, draw):
    text = (TABLES / f"{table}.csv").read_text(encoding="utf-8")
    assert figure in text
    pictures = []
    for name, rows in (("a", text), ("b", text), ("c", text.replace(figure, other))):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "table.csv").write_text(rows, encoding="utf-8")
        draw(_overall(folder / "table.csv"), folder / "drawn")
        pictures.append((folder / "drawn.svg").read_bytes())
    assert pictures[0] == pictures[1]
    assert pictures[0] != pictures[2]


def test_numbers_are_placed_to_scale_and_labels_do_not_touch():
    assert _ticks([0.0, 0.5, 0.8, 0.95]) == ["0", "0.5", "", "0.95"]
    assert _ticks([1.0, 4.0, 8.0]) == ["1", "4", "8"]
