"""Runs are read whole, with a label each, or refused in one line."""

import json
from pathlib import Path
from typing import Any

import pytest

from eval.records.run import Run, load_run, load_runs
from memsys.core.errors import InputError
from tests.eval.factory import error, record, write_run

EXCLUDED = {"kind": "excluded", "error_type": "X", "original_gold": "gold"}


def made(folder: Path, *rows: dict[str, Any], **fields: Any) -> Run:
    return load_run(write_run(folder, rows, **fields))


def ids(rows: list[Any]) -> list[str]:
    return [row["id"] for row in rows]


def test_a_run_is_found_by_folder_and_by_id(tmp_path, monkeypatch):
    write_run(tmp_path / "results" / "runs" / "one", [record()])
    other = write_run(tmp_path / "other", [record()], "graph")
    monkeypatch.chdir(tmp_path)
    assert load_run("one").label == "one"
    assert [run.label for run in load_runs(["one", str(other)])] == ["plain", "graph"]


def labels(folder: Path, **made: dict[str, Any]) -> list[str]:
    """Labels of runs, given the fields of each one's manifest by the name of its folder."""
    rows = [record()]
    folders = [write_run(folder / name, rows, **fields) for name, fields in made.items()]
    return [run.label for run in load_runs(folders)]


def test_runs_are_labelled_by_what_differs(tmp_path):
    by_k = {f"k{k}": {"config": {"strategy": {"name": "plain", "k": k}, "k": k}} for k in (5, 10)}
    assert labels(tmp_path / "k", **by_k) == ["plain k=5", "plain k=10"]
    # An option stands for all its settings.
    graphs = {"rules": {"a": 1, "b": 1, "c": 1}, "titles": {"a": 2, "b": 2, "c": 2}}
    by_graph = {
        f"{name}{k}": {
            "choices": {"strategy": "plain", "graph": name},
            "config": {"strategy": {"name": "plain"}, "graph": settings, "k": k},
        }
        for name, settings in graphs.items()
        for k in (5, 10)
    }
    expected = [f"plain graph={name} k={k}" for name in graphs for k in (5, 10)]
    assert labels(tmp_path / "graph", **by_graph) == expected
    # Imports of one name are labelled by their folders, as equal runs are.
    imports = {
        name: {"config": {"k": 5, "import": {"file": {"sha256": name * 20}}}} for name in ("x", "y")
    }
    assert labels(tmp_path / "imports", **imports) == ["x", "y"]


def test_equal_runs_are_labelled_by_their_folders_else_by_their_numbers(tmp_path):
    found = labels(tmp_path, **{"x/one": {}, "x/two": {}, "y/two": {}})
    assert found == ["one", "plain #2", "plain #3"]
    ids = {f"2026-11-23_14-34-3{i}-123456_plain": {} for i in (1, 2)}
    assert labels(tmp_path / "ids", **ids) == ["plain #1", "plain #2"]


@pytest.mark.parametrize(
    ("names", "message"), [(["one", "./one"], "2 times"), (["one", "none"], "none: no such")]
)
def test_a_run_named_twice_and_a_missing_one_are_refused(tmp_path, monkeypatch, names, message):
    write_run(tmp_path / "one", [record()])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=message):
        load_runs(names)


def test_failed_and_excluded_questions_do_not_count(tmp_path):
    rows = [
        record("a/1"),
        record("a/2", **error()),
        record("a/3", key=EXCLUDED),
        record("a/4", key=EXCLUDED | {"kind": "corrected"}),
        record("a/5", **error(), key=EXCLUDED),
    ]
    del rows[0]["key"]  # as in runs from before there was a choice of keys
    run = made(tmp_path / "run", *rows)
    assert ids(run.counted) == ["a/1", "a/4"]
    assert ids(run.excluded) == ["a/3", "a/5"]


def test_of_a_question_asked_again_the_last_record_counts(tmp_path):
    full = {"locomo_f1": 1.0}
    again = record("a/1", scores=full)
    run = made(tmp_path / "run", record("a/1", **error()), record("a/2", scores=full), again)
    assert ids(run.counted) == ["a/1", "a/2"]
    assert run.counted[0]["scores"]["locomo_f1"] == 1.0


def test_what_has_not_ended_may_be_loaded_on_request(tmp_path):
    folder = write_run(tmp_path / "run", [record(**error())], status="interrupted")
    (run,) = load_runs([folder], complete=False)
    assert run.counted == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no records"),
        (json.dumps(record()) + '\n{"id": "a/1"}\n', r"line 2: conversation: Field required"),
        ("3\n", "line 1: the whole: Input should be an object"),
        (json.dumps(record(**error())), "every question failed or is left out"),
    ],
)
def test_invalid_records_are_refused_by_file_line_and_field(tmp_path, text, message):
    folder = write_run(tmp_path / "run", [])
    (folder / "records.jsonl").write_text(text)
    with pytest.raises(InputError, match=message) as refused:
        load_run(folder)
    assert str(refused.value).startswith(str(folder))


def test_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(InputError, match="no such run; name a run folder, or an id under results"):
        load_run(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"holds no run \(manifest\.json is missing\)"):
        load_run(tmp_path)


def test_a_trace_that_only_some_records_hold_is_refused(tmp_path):
    rows = [record("a/1", trace={"expansion": []}), record("a/2"), record("a/3", **error())]
    with pytest.raises(InputError, match=r"1 of 2 records hold no trace\.expansion .*first: a/2"):
        made(tmp_path / "run", *rows).traces("expansion")
    assert not made(tmp_path / "two", *rows[1:]).traces("gate")
    assert made(tmp_path / "three", rows[0], rows[2]).traces("expansion")
