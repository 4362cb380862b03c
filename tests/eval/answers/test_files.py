import csv
import hashlib
from pathlib import Path
from typing import Any

from eval.answers.files import read_answers

Rows = list[dict[str, Any]]
IN_ORDER = {"first": "0", "second": "1"}


def _write_csv(path: Path, rows: Rows, delimiter: str = ",", start: str = "") -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        file.write(start)
        writer = csv.DictWriter(file, rows[0], delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_every_format_is_detected_and_says_the_same(rows, lines, mem0, tmp_path):
    files = {
        "jsonl": lines(rows),
        "mem0": mem0(rows, IN_ORDER),
        "csv": _write_csv(tmp_path / "answers.csv", rows),
    }
    read = {name: read_answers(path, None) for name, path in files.items()}
    places = {"jsonl": "lines", "mem0": "*", "csv": "csv"}
    assert {name: file.format for name, file in read.items()} == places
    expected = [(row["question"], row["answer"], str(row["category"])) for row in rows]
    for file in read.values():
        assert [(row.question, row.answer, row.category) for row in file.rows] == expected
    assert [row.index for row in read["csv"].rows] == [row["qa_index"] for row in rows]
    assert read["mem0"].columns["answer"] == ("response",)
    assert read["mem0"].columns["gold"] == ("answer",)
    assert [row.gold for row in read["mem0"].rows] == [str(row["gold"]) or None for row in rows]
    assert [row.conversation for row in read["mem0"].rows][::6] == ["0", "1"]


def test_gzip_is_known_by_its_bytes_and_hashed_as_it_lies(rows, lines):
    packed = lines(rows, "answers.jsonl.gz")
    unmarked = packed.rename(packed.with_name("answers.jsonl"))
    file = read_answers(unmarked, None)
    assert file.format == "lines"
    assert len(file.rows) == len(rows)
    assert file.source.bytes == unmarked.stat().st_size
    assert file.source.sha256 == hashlib.sha256(unmarked.read_bytes()).hexdigest()


def test_mem0_on_a_single_line_is_not_taken_for_json_lines(tmp_path):
    path = tmp_path / "one.json"
    path.write_text('{"0": [{"question": "Q", "answer": "g", "response": "r"}]}')
    assert read_answers(path, None).format == "*"


def test_line_separators_of_unicode_do_not_cut_lines(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"sample_id": "s", "question": "Q", "answer": "a\u2028b\x85c"}\n\n')
    assert [row.answer for row in read_answers(path, None).rows] == ["a\u2028b\x85c"]
