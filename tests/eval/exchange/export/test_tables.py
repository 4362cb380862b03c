"""Parquet and CSV files have the values of the records, the rankings and the summary."""

import csv
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from eval.exchange.export.__main__ import main
from eval.records.comma_separated import read_cell
from eval.records.run import load_run
from eval.summary.summarise import summarise
from tests.eval import factory
from tests.eval.exchange.export import ranked


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run with a failed question, and with values of all shapes."""
    folder = ranked.write(tmp_path / "run", ranked.SAMPLE)
    rows = ranked.read_lines(folder / "records.jsonl")
    for row in rows:
        row["scores"]["locomo_f1"] = 0.1 + 0.2
    rows[0] |= factory.error()
    rows[1] |= {
        **{"answer": "=1+1, said\n“她”", "abstained": True, "evidence_sessions": ["D1", "D2"]},
        **{"retrieved": [["D1:1", ["D1:1"], 0.1, "direct"]], "trace": {"own": {"open": [1]}}},
        **{"judge": {"one": [True]}, "own": {"of": "a user"}},
    }
    ranked.write_lines(folder / "records.jsonl", rows)
    return folder


def rebuilt(row: dict[str, Any], record: dict[str, Any]) -> dict[str, Any]:
    """The fields of `record` from a row of the table."""
    found: dict[str, Any] = {}
    for name, value in record.items():
        if name in row:
            json_text = not isinstance(value, str) and isinstance(row[name], str)
            found[name] = json.loads(row[name]) if json_text else row[name]
        else:
            cells = {key: row[f"{name}_{key}"] for key in value or {}}
            found[name] = None if value is None else cells
    return found


def test_parquet_has_every_value_of_the_records_and_each_ranked_memory(run):
    assert main([str(run), "--to", "parquet"]) == 0
    rows = parquet.read_table(run / "parquet" / "records.parquet").to_pylist()
    records: list[Any] = list(load_run(run).records.values())
    assert {row["run"] for row in rows} == {"run"}
    assert len(rows) == len(records)
    assert [rebuilt(row, one) for row, one in zip(rows, records, strict=True)] == records
    schema = parquet.read_schema(run / "parquet" / "records.parquet")
    types = [str(schema.field(name).type) for name in ("k", "scores_locomo_f1")]
    assert types == ["int64", "double"]
    assert str(schema.field("evidence").type).startswith("list")

    rows = parquet.read_table(run / "parquet" / "rankings.parquet").to_pylist()
    loaded = load_run(run)
    assert [(row["question"], row["rank"], row["memory"], row["score"]) for row in rows] == [
        (id_, rank, memory, score)
        for id_, one in loaded.rankings.items()
        for rank, (memory, score) in enumerate(one.memories, 1)
    ]
    first = next(iter(loaded.rankings.values()))
    assert first.turns is not None
    turns = [turn for row in rows if row["question"] == first.question for turn in row["turns"]]
    assert tuple(dict.fromkeys(turns)) == first.turns.ids
    assert {row["tokens"] for row in rows} == {9}


def test_parquet_of_a_run_without_rankings_says_so(run, said):
    (run / "rankings.jsonl").unlink()
    assert "there is no rankings.parquet" in said(main, run, "--to", "parquet")
    assert [path.name for path in (run / "parquet").iterdir()] == ["records.parquet"]


def test_without_pyarrow_the_extra_is_named(run, monkeypatch, said):
    monkeypatch.setitem(sys.modules, "pyarrow", None)  # to import it is an ImportError
    assert "pip install -e '.[parquet]'" in said(main, run, "--to", "parquet", code=2)
    assert not (run / "parquet").exists()


def test_csv_has_the_ends_of_intervals_apart_and_no_formula(run):
    assert main([str(run), "--to", "csv"]) == 0
    with (run / "csv" / "summary.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["type"]: row for row in csv.DictReader(file)}
    loaded = load_run(run)
    cells = summarise(loaded.records.values(), loaded.manifest, loaded.seed)["by_type"]
    assert list(rows) == list(cells)
    for type_, cell in cells.items():
        for column in ("f1", "abstained"):
            low, high = cell[f"{column}_ci"] or (None, None)
            ends = {"": cell[column], "_ci_low": low, "_ci_high": high}
            for end, value in ends.items():
                assert rows[type_][column + end] == ("" if value is None else str(value))
        assert f"{column}_ci" not in rows[type_]

    with (run / "csv" / "records.csv").open(encoding="utf-8", newline="") as file:
        records = list(csv.DictReader(file))
    second = list(load_run(run).records.values())[1]
    assert records[1]["answer"].startswith("'=")
    assert read_cell(records[1]["answer"]) == second["answer"]
    assert float(records[1]["scores_locomo_f1"]) == 0.1 + 0.2
    assert json.loads(records[1]["evidence"]) == second["evidence"]
