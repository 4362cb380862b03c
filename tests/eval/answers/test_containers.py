"""Lists of objects in files of answers: where they are found, and the rows in them."""

import gzip
import hashlib
import json
import tracemalloc
from typing import Any

import pytest

from eval.answers.containers import row_lists
from eval.answers.places import KEY
from eval.datasets.types import SourceFile
from memsys.core.errors import InputError

Row = dict[str, Any]


def row(text: str, number: int, **more: Any) -> Row:
    return {"question": f"What did {text} do {number}?", "answer": f"this {number}", **more}


def rows(text: str, count: int = 3, **more: Any) -> list[Row]:
    return [row(text, number, **more) for number in range(count)]


Summary = [{"category": 1, "f1": 0.5}, {"category": 2, "f1": 0.25}]
Container = tuple[Any, dict[str, int], str, str | None, Row]
CONTAINERS: dict[str, Container] = {
    "an array": (rows("a"), {"": 3}, "[2]", None, {}),
    "in an object": (
        {"model": "m", "detailed_results": rows("a"), "summary": Summary},
        {"detailed_results": 3, "summary": 2},
        "detailed_results[2]",
        None,
        {"model": "m"},
    ),
    "of conversations": (
        {"conversations": [{"id": f"conv-{n}", "results": rows(f"{n}")} for n in range(2)]},
        {"conversations": 2, "conversations[].results": 6},
        "conversations[1].results[2]",
        None,
        {"id": "conv-1"},
    ),
    "three levels down": (
        {"item_results": [{"metrics": {"detailed_results": rows("a")}, "conv": "x"}]},
        {"item_results": 1, "item_results[].metrics.detailed_results": 3},
        "item_results[0].metrics.detailed_results[2]",
        None,
        {"conv": "x"},
    ),
    "by conversation": (
        {"0": rows("a"), "1": [], "2": rows("b"), "model": "m"},
        {"*": 6},
        "key '2', item 2",
        "2",
        {"model": "m"},
    ),
    "one conversation": ({"conv-26": rows("a")}, {"*": 3}, "key 'conv-26', item 2", "conv-26", {}),
    "by conversation, below": (
        {"results": {"conv-1": {"qa": rows("a")}, "conv-2": {"qa": rows("b")}}},
        {"results.*": 2, "results.*.qa": 6},
        "results['conv-2'].qa[2]",
        "conv-2",
        {},
    ),
    "by conversation and category": (
        {f"conv-{n}": {"1": rows(f"a{n}"), "4": rows(f"b{n}")} for n in range(2)},
        {"*": 2, "*.*": 12},
        "key 'conv-1'['4'][2]",
        "4",
        {},
    ),
    "by question": (
        {f"conv-1/{one['answer']}": one for one in rows("a")},
        {"*": 3},
        "key 'conv-1/this 2'",
        "conv-1/this 2",
        {},
    ),
    "lists of lists": ([rows("a"), rows("b")], {"[]": 6}, "[1][2]", "1", {}),
    "by many questions": (
        {f"q{n}": [row(f"{n}", 2)] for n in range(150)},
        {"*": 150},
        "key 'q149', item 0",
        "q149",
        {},
    ),
}


@pytest.mark.parametrize("name", CONTAINERS)
@pytest.mark.parametrize("packed", ["", ".gz"])
def test_rows_are_found_wherever_they_are(name, packed, write):
    value, paths, place, group, fields = CONTAINERS[name]
    path = write(value, f"answers.json{packed}", indent=None if packed else 1)
    found = row_lists(path)
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()  # of the file as it is on disk
    assert found.sources == (SourceFile(path.name, path.stat().st_size, sha256),)
    assert {one.path: one.count for one in found.lists} == paths
    with_question = [one for one in found.lists if "question" in one.sample[-1].fields]
    last = list(with_question[0].items())[-1]
    assert (last.place, last.fields.get(KEY)) == (place, group)
    answer = {key: last.fields[key] for key in ("answer", *fields)}
    assert answer == {"answer": "this 2", **fields}


def test_both_keys_around_a_row_are_known(write):
    (_, found) = row_lists(write(CONTAINERS["by conversation and category"][0])).lists
    above = [(one.fields["@key2"], one.fields[KEY]) for one in found.items()]
    assert above[::6] == [("conv-0", "1"), ("conv-1", "1")]


@pytest.mark.parametrize("other", ["failed", "run_2", "2"])
def test_lists_of_the_same_questions_are_not_one(other, write):
    found = row_lists(write({"1": rows("a", 9), other: rows("a", 4, reason="no")}))
    assert {one.path: one.count for one in found.lists} == {"1": 9, other: 4}


def test_objects_inside_of_every_row_are_its_fields(write):
    value = [
        {"input": {"question": f"Who is it, {n}?"}, "output": row("a", n), "expected": row("b", n)}
        for n in range(9)
    ]
    (found,) = row_lists(write(value)).lists
    assert (found.path, found.count) == ("", 9)
    assert next(found.items()).fields["expected.question"] == "What did b do 0?"


def test_inner_fields_win_and_nested_ones_are_flattened(write):
    judged = {"llm_judgments": {"judge_1": [True, False]}, "metrics": {"f1": 0.5}}
    value = {
        "run": {"name": "r", "about": {"year": 2026}},
        "score": 1,
        "ids": [1, 2],
        "results": [row("a", 0, score=0, **judged), row("a", 1)],
        "late": "after the rows",
    }
    (found,) = row_lists(write(value)).lists
    first, second = found.items()
    above = {"run.name": "r", "run.about.year": 2026, "late": "after the rows"}
    assert second.fields == {**above, "score": 1, **row("a", 1)}
    assert first.fields == {
        **above,
        **row("a", 0, score=0, **judged),
        "llm_judgments.judge_1": [True, False],
        "metrics.f1": 0.5,
    }
    assert first.inherited == set(above)
    assert second.inherited == {*above, "score"}


def test_large_nested_values_are_left_out(write):
    wide = dict.fromkeys(map(str, range(300)), 1)
    value = [row("a", 0, vector=[0.5] * 999, meta={"conv": "x", "turns": ["t"] * 999}, wide=wide)]
    (found,) = row_lists(write(value)).lists
    (item,) = found.items()
    assert item.fields == {**row("a", 0), "meta.conv": "x"}


def test_samples_are_spread_and_their_texts_cut(write):
    value = rows("a", 4_500)
    value[3]["answer"] = "long " * 2_000
    (found,) = row_lists(write(value)).lists
    assert [one.place for one in found.sample[:3]] == ["[0]", "[3]", "[6]"]
    assert len(found.sample) == 1_500
    assert len(found.sample[1].fields["answer"]) == 2_000
    assert len(next(one for one in found.items() if one.place == "[3]").fields["answer"]) == 10_000


def test_json_lines(write):
    lines = "\n \n".join(json.dumps(one) for one in rows("a"))
    found = row_lists(write("\ufeff" + lines, "a.jsonl"))
    assert [(one.path, one.count) for one in found.lists] == [("lines", 3)]
    assert [one.place for one in found.lists[0].items()] == ["line 1", "line 3", "line 5"]
    nested = [{"sample_id": text, "qa": rows(text)} for text in "ab"]
    data = "\r\n".join(json.dumps(one) for one in nested)
    _, found_below = row_lists(write(data, "b.json.gz")).lists
    assert found_below.path == "lines[].qa"
    last = list(found_below.items())[-1]
    assert (last.place, last.fields["sample_id"]) == ("line 2: qa[2]", "b")
    (single,) = row_lists(write(row("a", 0, judged=[True]), "c.json", indent=None)).lists
    assert (single.path, single.count) == ("lines", 1)
    # Line separators of Unicode do not cut lines.
    (found,) = row_lists(write('{"answer": "a\u2028b\x85c"}\n\n', "d.jsonl")).lists
    assert [one.fields["answer"] for one in found.items()] == ["a\u2028b\x85c"]


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_csv(mark, end, write):
    table = [["question", "answer"], ["Who?", '"Bo\nor\r\nCy"'], [], ["Why?", f'"a{mark}b"']]
    data = "".join(mark.join(line) + end for line in table)
    (found,) = row_lists(write("\ufeff" + data, "a.csv")).lists
    assert (found.path, found.count) == ("csv", 2)
    assert [one.fields["answer"] for one in found.items()] == ["Bo\nor\r\nCy", f"a{mark}b"]


def test_a_folder_has_the_rows_of_its_files(write):
    for n in (10, 2, 0):
        write({"results": rows(f"{n}"), "n": n}, f"parts/sample_{n}.json")
    write({"f1": 0.5}, "parts/summary.json")
    write(b"About these files", "parts/README.md")
    write(b"\x00", "parts/.hidden.json")
    folder = write(b"question,answer\nWho?,Bo\n", "parts/more.csv.gz").parent
    found = row_lists(folder)
    assert [(one.path, one.count) for one in found.lists] == [("results", 9), ("csv", 1)]
    items = list(found.lists[0].items())
    assert [one.fields[KEY] for one in items[::3]] == ["sample_0", "sample_2", "sample_10"]
    assert (items[4].place, items[4].fields["n"]) == ("sample_2.json: results[1]", 2)
    (line,) = found.lists[1].items()
    assert (line.place, line.fields[KEY]) == ("more.csv.gz: line 2", "more")
    assert [one.name for one in found.sources] == [
        *("more.csv.gz", "sample_0.json", "sample_2.json", "sample_10.json", "summary.json")
    ]
    assert found.passed_over == ("README.md", "summary.json")


def test_keys_inside_a_file_are_within_its_name(write):
    for n in range(2):
        write({"1": rows(f"a{n}"), "2": rows(f"b{n}")}, f"parts/{n}.json")
    (found,) = row_lists(write({"1": rows("c")}, "parts/2.json").parent).lists
    last = list(found.items())[-1]
    assert (found.path, found.count) == ("*", 15)
    assert last.place == "2.json: key '1', item 2"
    assert (last.fields[KEY], last.fields["@key2"]) == ("1", "2")


@pytest.mark.parametrize("wanted", ["a[].b", "a.b", "$.a[0].b", "a[*].b"])
def test_a_list_may_be_named(wanted, write):
    path = write({"a": [{"b": rows("a"), "c": Summary}]})
    (found,) = row_lists(path, wanted).lists
    assert (found.path, found.count) == ("a[].b", 3)
    with pytest.raises(InputError, match=r"no list of objects at 'x'.*'a', 'a\[\]\.b'"):
        row_lists(path, "x")


ERRORS: dict[str, tuple[bytes, str]] = {
    "empty": (b"\xef\xbb\xbf \n", "is empty"),
    "text": (b"hello there\n", "unknown format"),
    "number": (b"5", "unknown format"),
    "bytes": (b"\x00" * 99, "unknown format"),
    "workbook": (b"PK\x03\x04\x00\xff" * 9, r"binary\); export it as JSON or CSV"),
    "by columns": (b'{"question": ["Who?"]}', "orient='records'"),
    "no list": (b'{"f1": [0.5, 0.25],\n"n": {"a": 1}}', "no list of objects"),
    "no rows": (b'{"0": []}', "no list of objects"),
    "header only": (b"question,answer\n", "no list of objects"),
    "cut": (b'{"a": [{"question":\n"Who?", "answer": "Bo"},\n{"quest', r"line 3, column 2: Unterm"),
    "cut, between": (b'[\n{"answer": "Bo"},\n{"answer": "Cy"}\n', "line 4, column 1: Expecting ',"),
    "no comma": (b'[{"a": "%b"}\n {"a": "b"}]' % (b"x" * 60), "line 2, column 2: Expecting ','"),
    "no colon": (b'[\n{"answer" "Bo"}]', "line 2, column 11: Expecting ':'"),
    "no key": (b'{\n"a": [{"b": "c"}], 5: [{"b": "c"}], "d": []}', "line 2, column 20: Expec"),
    "more": (b'[\n{"answer": "Bo"}]\n[]', "line 3, column 1: Extra data"),
    "no value": (b'[{"answer": "Bo"},\nx]', "line 2, column 1: Expecting value"),
    "deep object": (b'{"a":\n' * 300 + b"1" + b"}" * 300, "nested more than 100 deep"),
    "double list": (b'{"0":\n[{"a": "b"}], "0": [{"a": "%b"}]}' % (b"x" * 60), "key '0' occurs tw"),
    "Latin-1": (b'[{"answer":\n"caf\xe9"}]', r"not UTF-8 \(byte 16\)"),
    "lines, cut": (b'{"answer": "Bo"}\n{"answer": "C', "line 2: not JSON"),
    "lines, a number": (b'{"answer": "Bo"}\n5', r"line 2: must be an object \{"),
    "a column twice": (b"question,answer,question\na,b,c", "column 'question' occurs twice"),
    "a cell too many": (b'question,answer\n"a\nb",b\na,b,c', "line 4: 3 fields where the header h"),
    "open quote": (b'question,answer\n"a,b', "line 2: not CSV"),
    "gzip, cut": (gzip.compress(b'[{"answer": "Bo"}]')[:-9], "gzip data is damaged"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_bad_files_are_refused_in_one_line(name, write):
    data, expected = ERRORS[name]
    with pytest.raises(InputError, match=expected) as error:
        row_lists(write(data, "bad"))
    assert str(error.value).startswith(("bad:", str(write(data, "bad"))))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "value", [[row("a", 0), 5], {"results": [None, row("a", 0)]}, [row("a", 0), [1, 2]]]
)
def test_other_values_among_the_rows_are_refused(value, write):
    (found,) = row_lists(write(value)).lists
    assert [one.fields for one in found.sample] == [row("a", 0)]
    with pytest.raises(InputError, match=r"answers.json: (\[1\]|results\[0\]): must be an obj"):
        list(found.items())


def test_nothing_there(tmp_path):
    with pytest.raises(InputError, match="no such file or folder"):
        row_lists(tmp_path / "nowhere")
    with pytest.raises(InputError, match="no file of answers in this folder"):
        row_lists(tmp_path)


def test_memory_is_at_most_seven_times_the_file(write):
    """A file of 256 MB needs 2 GB at most, also if each character of its text takes four bytes."""
    large = [row("a", n, context="words \N{GRINNING FACE}" * 100) for n in range(900)]
    compact = "\n".join(json.dumps(one, ensure_ascii=False) for one in large)
    paths = [write({"a": [{"b": large}]}), write(compact, "c.jsonl")]
    paths.append(write(json.dumps({"0": large}, ensure_ascii=False), "b.json"))
    for path in paths:
        tracemalloc.start()
        try:
            found = row_lists(path)
            items = [one.fields["answer"] for one in found.lists[-1].items()]
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert len(items) == len(large)
        assert peak < 7 * path.stat().st_size, f"{path.name}: {peak / path.stat().st_size:.1f}"
