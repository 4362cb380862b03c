"""An export is whole or absent, replaces nothing unasked, and says whose texts it contains."""

from pathlib import Path

import pytest

from eval.exchange.export import collection
from eval.exchange.export.__main__ import main
from tests.eval.exchange.export import ranked


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return ranked.write(tmp_path / "run", ranked.SYNTHETIC)


def test_files_are_replaced_on_demand_only(run, tmp_path, refused):
    out = tmp_path / "out"
    out.mkdir()
    (out / "notes.txt").write_text("mine")
    (out / "topics.tsv").write_text("mine, too")
    arguments = (run, "--to", "trec", "--out", out)
    assert f"{out / 'topics.tsv'}: exists" in refused(main, *arguments)
    assert {path.name for path in out.iterdir()} == {"notes.txt", "topics.tsv"}
    assert (out / "topics.tsv").read_text() == "mine, too"

    assert main([*map(str, arguments), "--force"]) == 0
    assert (out / "notes.txt").read_text() == "mine"
    assert (out / "topics.tsv").read_text(encoding="utf-8").startswith("world-0/0\t")


def test_nothing_is_left_of_an_export_that_fails(run, tmp_path, monkeypatch, refused):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(
        collection, "left_out", full
    )  # after the corpus and the queries are written
    assert "No space left" in refused(main, run, "--to", "beir", "--out", tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_file_is_no_folder(run, tmp_path, refused):
    out = tmp_path / "out"
    out.write_text("mine")
    assert "is a file; name a folder" in refused(main, run, "--to", "csv", "--out", out)
    out.unlink()
    (out / "qrels.trec").mkdir(parents=True)
    message = refused(main, run, "--to", "trec", "--out", out, "--force")
    assert "qrels.trec: is a folder" in message
    assert [path.name for path in out.iterdir()] == ["qrels.trec"]


def test_texts_are_those_of_the_run_or_none(tmp_path, refused):
    data = tmp_path / "data.json"
    data.write_text(Path("data/sample/harbour.json").read_text(encoding="utf-8"), encoding="utf-8")
    run = ranked.write(tmp_path / "run", {**ranked.SAMPLE, "path": str(data)})
    data.write_text(data.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert "sha256 differs" in refused(main, run, "--to", "trec")
    data.unlink()
    assert "no such file" in refused(main, run, "--to", "beir")
    assert not (run / "trec").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--to", "trec", "--depth", "0"], "--depth: 0; use a whole number of 1 or more"),
        (["--to", "beir", "--depth", "3"], "--depth does not apply to --to beir"),
        (["--to", "csv", "--unit", "session"], "--unit does not apply to --to csv"),
    ],
)
def test_arguments_without_effect_are_refused(run, refused, arguments, message):
    assert message in refused(main, run, *arguments)


def test_rankings_that_are_absent_or_of_the_other_unit_are_named(run, refused):
    ranked.by_session(run)
    told = "has no ranking of turns; use --unit session"
    assert told in refused(main, run, "--to", "trec", "--unit", "turn")
    (run / "rankings.jsonl").unlink()
    told = "has no rankings; run it again with retrieval.depth=100"
    assert told in refused(main, run, "--to", "trec")


def test_the_licence_of_the_texts_is_printed(tmp_path, said):
    config = {**ranked.SAMPLE, "name": "locomo"}  # the sample under a published name
    run = ranked.write(tmp_path / "run", config)
    assert (
        "note: corpus.jsonl and topics.tsv: with texts of the data set locomo, which remain under "
        "its licence (CC BY-NC 4.0 (no commercial use))\n"
    ) in said(main, run, "--to", "trec")


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
