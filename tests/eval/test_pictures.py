"""The pictures of README are drawn from the committed tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.pictures import main

TABLES = Path(__file__).parents[2] / "results" / "tables"


def test_both_pictures_are_drawn(tmp_path: Path) -> None:
    assert main(["--out", str(tmp_path)]) == 0
    for name in ("strategies.png", "budget.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


def test_a_missing_table_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--tables", str(tmp_path), "--out", str(tmp_path)]) == 2
    assert "python -m eval.tabulate five_strategies" in capsys.readouterr().err


def test_the_pictures_show_what_the_tables_say(tmp_path: Path) -> None:
    table = (TABLES / "five_strategies.csv").read_text(encoding="utf-8")
    main(["--out", str(tmp_path)])
    drawn = (tmp_path / "strategies.png").read_bytes()
    for name in ("five_strategies.csv", "budget.csv"):
        (tmp_path / name).write_bytes((TABLES / name).read_bytes())
    other = table.replace("0.22569928133237366", "0.24569928133237366")
    (tmp_path / "five_strategies.csv").write_text(other, encoding="utf-8")
    main(["--tables", str(tmp_path), "--out", str(tmp_path)])
    assert (tmp_path / "strategies.png").read_bytes() != drawn
