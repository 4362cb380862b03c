"""The pictures of README and docs are drawn from the committed tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.studies.pictures import main

TABLES = Path(__file__).parents[3] / "results" / "tables"


def test_all_pictures_are_drawn(tmp_path: Path) -> None:
    assert main(["--out", str(tmp_path)]) == 0
    for name in ("strategies", "budget", "synthetic", "kept", "scale"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (tmp_path / f"{name}.svg").read_text(encoding="utf-8")


def test_a_missing_table_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--tables", str(tmp_path), "--out", str(tmp_path)]) == 2
    assert "docs/reproduce.md gives the command for default_sweep" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("table", "figure", "other", "picture"),
    [
        ("five_strategies", ",0.22569928133237366,", ",0.24569928133237366,", "strategies"),
        ("synthetic_hops", "175,5,0.7771428571428571,", "175,5,0.6,", "synthetic"),
        ("kept_hops", "175,5,0.9685714285714285,", "175,5,0.95,", "kept"),
    ],
)
def test_the_pictures_show_what_the_tables_say(
    tmp_path: Path, table: str, figure: str, other: str, picture: str
) -> None:
    main(["--out", str(tmp_path)])
    drawn = {path.stem: path.read_bytes() for path in tmp_path.glob("*.png")}
    for path in TABLES.glob("*.csv"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    text = (TABLES / f"{table}.csv").read_text(encoding="utf-8")
    assert figure in text
    (tmp_path / f"{table}.csv").write_text(text.replace(figure, other), encoding="utf-8")
    main(["--tables", str(tmp_path), "--out", str(tmp_path)])
    again = {path.stem: path.read_bytes() for path in tmp_path.glob("*.png")}
    assert {name for name in drawn if drawn[name] != again[name]} == {picture}
