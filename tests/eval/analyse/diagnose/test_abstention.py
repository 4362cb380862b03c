"""Both sides of abstention."""

from __future__ import annotations

from eval.analyse.diagnose.gate import abstention
from tests.eval.analyse.diagnose.made_runs import made_run, record, sentences, tables, values

SIDES = ("n, type 5", "abstained (correct)", "official phrase match", "n, types 1-4")


def english(abstained: str = "1100", refused: str = "10000") -> list[dict]:
    """A digit a question: whether it abstained on type 5, or refused on types 1-4."""
    rows = [
        record(f"{'ab'[i % 2]}/{i}", category=5, abstained=digit == "1", f1=float(i == 0))
        for i, digit in enumerate(abstained)
    ]
    return rows + [
        record(f"{'ab'[i % 2]}/1{i}", category=1 + i % 4, abstained=digit == "1")
        for i, digit in enumerate(refused)
    ]


def chinese(rows: list[dict]) -> list[dict]:
    return [row | {"id": f"{row['id']}z", "question": "他说了什么？"} for row in rows]


def test_right_and_false_refusals_stand_side_by_side(tmp_path):
    section = abstention(made_run(tmp_path / "run", english()))
    (table,) = tables(section)
    assert values(table, "all", *SIDES, "false refusals") == ("4", "50.0%", "25.0%", "5", "20.0%")
    assert [row[0] for row in table.rows] == ["all"]
    assert "unknown" not in sentences(section)
    # one side alone is pointed out
    section = abstention(made_run(tmp_path / "one", english("", "10")))
    assert "no question of type 5" in sentences(section)
    assert values(tables(section)[0], "all", *SIDES) == ("0", "-", "-", "2")
    section = abstention(made_run(tmp_path / "two", english("10", "")))
    assert "no question of types 1-4" in sentences(section)
    assert values(tables(section)[0], "all", "false refusals") == ("-",)


def test_languages_stand_apart_where_there_are_two(tmp_path):
    rows = english() + chinese(english("1110", "01111"))
    (table,) = tables(abstention(made_run(tmp_path / "run", rows)))
    assert [row[0] for row in table.rows] == ["all", "English", "Chinese"]
    columns = ("n, type 5", "abstained (correct)", "n, types 1-4", "false refusals")
    assert values(table, "all", *columns) == ("8", "62.5%", "10", "50.0%")
    assert values(table, "English", *columns) == ("4", "50.0%", "5", "20.0%")
    assert values(table, "Chinese", *columns) == ("4", "75.0%", "5", "80.0%")
