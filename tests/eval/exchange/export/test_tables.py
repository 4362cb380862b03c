"""Tables have the values of a run; an export is whole or absent, and says whose texts it has."""

import csv
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from eval.exchange.export import collection
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


@pytest.fixture
def generated(tmp_path: Path) -> Path:
    return ranked.write(tmp_path / "run", ranked.SYNTHETIC)


def test_files_are_replaced_on_demand_only(generated, tmp_path, refused):
    out = tmp_path / "out"
    out.mkdir()
    (out / "notes.txt").write_text("mine")
    (out / "topics.tsv").write_text("mine, too")
    arguments = (generated, "--to", "trec", "--out", out)
    assert f"{out / 'topics.tsv'}: exists" in refused(main, *arguments)
    assert {path.name for path in out.iterdir()} == {"notes.txt", "topics.tsv"}
    assert (out / "topics.tsv").read_text() == "mine, too"

    assert main([*map(str, arguments), "--force"]) == 0
    assert (out / "notes.txt").read_text() == "mine"
    assert (out / "topics.tsv").read_text(encoding="utf-8").startswith("world-0/0\t")


def test_nothing_is_left_of_an_export_that_fails(generated, tmp_path, monkeypatch, refused):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(
        collection, "left_out", full
    )  # after the corpus and the queries are written
    assert "No space left" in refused(main, generated, "--to", "beir", "--out", tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_file_is_no_folder(generated, tmp_path, refused):
    out = tmp_path / "out"
    out.write_text("mine")
    assert "is a file; name a folder" in refused(main, generated, "--to", "csv", "--out", out)
    out.unlink()
    (out / "qrels.trec").mkdir(parents=True)
    message = refused(main, generated, "--to", "trec", "--out", out, "--force")
    assert "qrels.trec: is a folder" in message
    assert [path.name for path in out.iterdir()] == ["qrels.trec"]


def test_texts_are_those_of_the_run_or_none(tmp_path, refused):
    data = tmp_path / "data.json"
    data.write_text(Path("data/sample/harbour.json").read_text(encoding="utf-8"), encoding="utf-8")
    generated = ranked.write(tmp_path / "run", {**ranked.SAMPLE, "path": str(data)})
    data.write_text(data.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert "sha256 differs" in refused(main, generated, "--to", "trec")
    data.unlink()
    assert "no such file" in refused(main, generated, "--to", "beir")
    assert not (generated / "trec").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--to", "trec", "--depth", "0"], "--depth: 0; use a whole number of 1 or more"),
        (["--to", "beir", "--depth", "3"], "--depth does not apply to --to beir"),
        (["--to", "csv", "--unit", "session"], "--unit does not apply to --to csv"),
    ],
)
def test_arguments_without_effect_are_refused(generated, refused, arguments, message):
    assert message in refused(main, generated, *arguments)


def test_rankings_that_are_absent_or_of_the_other_unit_are_named(generated, refused):
    ranked.by_session(generated)
    expected = "has no ranking of turns; use --unit session"
    assert expected in refused(main, generated, "--to", "trec", "--unit", "turn")
    (generated / "rankings.jsonl").unlink()
    expected = "has no rankings; run it again with retrieval.depth=100"
    assert expected in refused(main, generated, "--to", "trec")


def test_the_licence_of_the_texts_is_printed(tmp_path, said):
    config = {**ranked.SAMPLE, "name": "locomo"}  # the sample under a published name
    generated = ranked.write(tmp_path / "run", config)
    assert (
        "note: corpus.jsonl and topics.tsv: with texts of the data set locomo, which remain under "
        "its licence (CC BY-NC 4.0 (no commercial use))\n"
    ) in said(main, generated, "--to", "trec")


def test_nothing_of_an_earlier_export_changes_the_meaning_of_the_next(tmp_path, refused):
    for to, file in (
        ("trec", "qrels/other_type.trec"),
        ("beir", "candidates.jsonl"),
        ("parquet", "rankings.parquet"),
    ):
        out = tmp_path / to
        (out / "qrels").mkdir(parents=True)
        (out / file).write_text("of another run")
        (out / "notes.txt").write_text("mine")
        pooled = ranked.write(tmp_path / f"{to}-run", {**ranked.SAMPLE, "pooled": True})
        if to == "parquet":
            (pooled / "rankings.jsonl").unlink()
        assert f"{out / file}: exists" in refused(main, pooled, "--to", to, "--out", out)
        assert main([str(pooled), "--to", to, "--out", str(out), "--force"]) == 0
        assert not (out / file).exists()
        assert (out / "notes.txt").read_text() == "mine"
