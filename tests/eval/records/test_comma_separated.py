"""CSV whose texts no spreadsheet takes for formulas."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from eval.compare.__main__ import main as compare
from eval.records.comma_separated import read_cell, write_rows
from eval.rescore.__main__ import main

FORMULAS = ["=1+1", "+1+1", "-1+cmd|' /C calc'!A0", "@SUM(A1)", "\t=1", "'=1", "''@x"]
TEXTS = ["", "a", "'a", "bm25", "1=1", "沈"]
NUMBERS = ["-0.5", "+1", "-1e-05", "0.1", "-inf"]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_is_marked_as_text_and_read_again(text: str) -> None:
    file = io.StringIO(newline="")
    write_rows(file, [[text, -0.5, None]])
    [[cell, number, empty]] = csv.reader(io.StringIO(file.getvalue(), newline=""))
    assert cell == f"'{text}"
    assert read_cell(cell) == text
    assert (number, empty) == ("-0.5", "")


@pytest.mark.parametrize("text", [*TEXTS, *NUMBERS])
def test_other_texts_and_numbers_stay(text: str) -> None:
    file = io.StringIO(newline="")
    write_rows(file, [["x", text]])
    [[_, cell]] = csv.reader(io.StringIO(file.getvalue(), newline=""))
    assert cell == text
    assert read_cell(cell) == text


def test_the_name_of_a_system_is_no_formula(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_text(
        "".join(
            f'{{"sample_id": "harbour", "qa_index": {n}, "prediction": "x {n}"}}\n'
            for n in range(20)
        )
    )
    for out, name in (("one", "--name==1+1"), ("two", "--name=@two")):
        assert main(["a.jsonl", "--dataset", "sample", name, "--out", out]) == 0
    assert compare(["one", "two", "--out", "both"]) == 0
    text = Path("both/compare.csv").read_text(encoding="utf-8")
    cells = {cell for row in csv.reader(io.StringIO(text)) for cell in row}
    assert {"'=1+1", "'@two"} <= cells
    assert not [one for one in cells if one[:1] in "=@" and one]
