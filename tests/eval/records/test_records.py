"""Lines on disk and in CSV, locks, ids in the formats of TREC, and the description of fields."""

import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from eval.analyse.compare.__main__ import main as compare
from eval.datasets.pooled import POOLED
from eval.imports.rescore.__main__ import main
from eval.records import schema
from eval.records.comma_separated import read_cell, write_rows
from eval.records.files import LineWriter, read_lines, write_json, write_lines
from eval.records.folder import locked
from eval.records.manifest import command
from eval.records.trec import decode, document_of, encode, qrels_lines, read_run, run_lines
from memsys.core.errors import InputError


@pytest.mark.parametrize("torn", ["", "{", '{"a": 2', '{"a": "\N{SNOWMAN}'])
def test_a_torn_line_is_cut_off_before_the_next(tmp_path, torn, capsys):
    path = tmp_path / "lines"
    path.write_bytes(('{"a": 1}\n' + torn).encode()[: -1 if torn.endswith("\N{SNOWMAN}") else None])
    writer = LineWriter(path)
    writer.write({"a": 3})
    writer.close()
    assert list(read_lines(path)) == [{"a": 1}, {"a": 3}]
    warning = f"warning: {path}: the last line was incomplete and is removed\n"
    assert capsys.readouterr().err == (warning if torn else "")


def test_a_line_is_on_disk_when_written(tmp_path):
    assert list(read_lines(tmp_path / "lines")) == []
    writer = LineWriter(tmp_path / "lines")
    writer.write({"a": "\N{SNOWMAN}"})
    assert list(read_lines(tmp_path / "lines")) == [{"a": "\N{SNOWMAN}"}]
    writer.close()


def test_nan_is_never_written(tmp_path):
    (tmp_path / "a").write_text("old")
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "a", {"x": float("nan")})
    with pytest.raises(ValueError, match="JSON"):
        write_lines(tmp_path / "a", [{"x": float("inf")}])
    assert (tmp_path / "a").read_text() == "old"


def test_the_command_of_a_run_is_quoted_and_that_of_a_sweep_names_one_run():
    assert command(["dataset.types=[temporal, multi_hop]"], []) == (
        "python -m eval.run 'dataset.types=[temporal, multi_hop]'"
    )
    arguments = ["--config-dir", "mine", "-m", "strategy=a,b", "+x=1,2", "hydra.sweep.dir=there"]
    assert command(arguments, ["strategy=b", "+x=1"]) == (
        "python -m eval.run --config-dir mine strategy=b +x=1 hydra.sweep.dir=there"
    )


HOLD = "import sys; from pathlib import Path; from eval.records.folder import locked\n"
HOLD += "with locked(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"


def test_a_folder_is_locked_once_and_free_again_also_after_a_process_that_dies(tmp_path):
    def refused() -> None:
        with pytest.raises(InputError, match="another process is writing"), locked(tmp_path):
            pass

    with locked(tmp_path):
        refused()
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"held\n"
        refused()
        process.kill()
        process.wait()
        with locked(tmp_path):
            pass
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"file: cannot be written"), locked(tmp_path / "file"):
        pass


# Blanks of several kinds, percent signs, control and non-ASCII characters.
IDS = ["D1:3", "a b", "100%", "%20", "tab\there", "\x00\x1f\x85", "旅行\u3000计划", "\ufeffé", ":"]


@pytest.mark.parametrize("id_", IDS)
@pytest.mark.parametrize("store", ["conv-26", "ash: oak", "会话 1%"])
def test_an_id_comes_back_from_one_field_of_a_line(store, id_):
    document = document_of(store, id_)
    assert document.split() == [document]
    assert tuple(map(decode, document.split(":", 1))) == (store, id_)
    assert decode(encode(id_)) == id_
    assert decode(document_of(POOLED, id_)) == id_


def test_lines_come_back():
    (first, second) = read_run(run_lines("q", ["a:1", "a:2"], "bm25"), "run")
    assert (first.query, first.document, first.rank, first.tag) == ("q", "a:1", 1, "bm25")
    assert first.score > second.score
    assert list(qrels_lines("q", ["a:1", "a:2"])) == ["q 0 a:1 1\n", "q 0 a:2 1\n"]


def test_other_programs_write_tabs_empty_lines_and_marks_of_byte_order():
    text = "\ufeffq\tQ0\td\t1\t-2.5e-3\tx\r\n\n  \n"
    assert list(map(tuple, read_run(text.split("\n"), "run"))) == [("q", "d", 1, -0.0025, "x")]


NUMBERS_OF_A_RUN = "write a whole number and a finite number"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q Q0 d 1 .5", "run: line 2: has 5 fields; write 6: query Q0 document rank score tag"),
        ("q Q0 d 1 nan t", f"run: line 2: rank '1', score 'nan'; {NUMBERS_OF_A_RUN}"),
        ("q Q0 d 1 high t", f"run: line 2: rank '1', score 'high'; {NUMBERS_OF_A_RUN}"),
        ("q Q0 d 1.5 2 t", f"run: line 2: rank '1.5', score '2'; {NUMBERS_OF_A_RUN}"),
    ],
)
def test_a_line_of_a_run_that_cannot_be_read_is_named(line, message):
    with pytest.raises(InputError) as raised:
        list(read_run(["q Q0 d 1 2 t", line], "run"))
    assert str(raised.value) == message


FORMULAS = ["=1+1", "+1+1", "-1+cmd|' /C calc'!A0", "@SUM(A1)", "\t=1", "'=1", "''@x"]
TEXTS = ["", "a", "'a", "bm25", "1=1", "沈"]
NUMBERS = ["-0.5", "+1", "-1e-05", "0.1", "-inf"]


@pytest.mark.parametrize(
    ("text", "written"),
    [*((one, f"'{one}") for one in FORMULAS), *((one, one) for one in [*TEXTS, *NUMBERS])],
)
def test_a_formula_is_marked_as_text_and_all_is_read_again(text, written):
    file = io.StringIO(newline="")
    write_rows(file, [["x", text, -0.5, None]])
    [[_, cell, number, empty]] = csv.reader(io.StringIO(file.getvalue(), newline=""))
    assert cell == written
    assert read_cell(cell) == text
    assert (number, empty) == ("-0.5", "")


def test_the_name_of_a_system_is_no_formula(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = '{{"sample_id": "harbour", "qa_index": {0}, "prediction": "x {0}"}}\n'
    Path("a.jsonl").write_text("".join(map(answer.format, range(20))))
    for out, name in (("one", "--name==1+1"), ("two", "--name=@two")):
        assert main(["a.jsonl", "--dataset", "sample", name, "--out", out]) == 0
    assert compare(["one", "two", "--out", "both"]) == 0
    text = Path("both/compare.csv").read_text(encoding="utf-8")
    cells = {cell for row in csv.reader(io.StringIO(text)) for cell in row}
    assert {"'=1+1", "'@two"} <= cells
    assert not [one for one in cells if one[:1] in "=@" and one]


PAGE = Path(__file__).parents[3] / "docs" / "records.md"


def test_the_table_of_records_is_that_of_the_schema():
    (shown,) = re.findall(
        r"<!-- fields of records.jsonl -->\n(.*?)<!-- end -->", PAGE.read_text("utf-8"), re.S
    )
    assert shown == schema.table("records.jsonl")


def test_the_command_prints_every_field_or_those_of_a_file(capsys):
    assert schema.main([]) == 0
    everything = capsys.readouterr().out
    for name, of_file in schema.json_schema().items():
        assert f"\n## {name}\n" in everything
        assert all(f"\n| `{field}` | " in everything for field in of_file["properties"])
    assert schema.main(["contexts.jsonl"]) == 0
    assert "`text`" in (few := capsys.readouterr().out)
    assert "`run_id`" not in few
    assert schema.main(["--json"]) == 0
    assert json.loads(capsys.readouterr().out) == schema.json_schema()
    assert schema.main(["contexts.jsonl", "--json"]) == 0
    assert json.loads(capsys.readouterr().out).keys() == {"contexts.jsonl"}
    for more in ([], ["--json"]):
        assert schema.main(["nope.json", *more]) == 2
        assert "file: 'nope.json' is none of " in capsys.readouterr().err


def test_every_field_is_described():
    for of_file in schema.json_schema().values():
        for one in (of_file, *of_file.get("$defs", {}).values()):
            assert all(len(field["description"]) > 3 for field in one["properties"].values())
