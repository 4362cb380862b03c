"""Runs are read whole, with a label each and what is stored once, or refused in one line."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from eval.exchange.merge import __main__ as merge
from eval.imports.rescore.recompute import recompute
from eval.records import run as loading
from eval.records.run import load_run, load_runs
from memsys.core.errors import InputError
from tests.eval.commands import TIMINGS, Run, run_once
from tests.eval.factory import error, record, write_run

EXCLUDED = {"kind": "excluded", "error_type": "X", "original_gold": "gold"}


def made(folder: Path, *rows: dict[str, Any], **fields: Any) -> loading.Run:
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


LEFT_OUT = {"retrieved", "titles"}


def read(folder: Path, *without: str) -> list[dict[str, Any]]:
    """The records as every command reads them, without times and these fields."""
    records = load_run(folder).records.values()
    kept = [{k: v for k, v in one.items() if k not in TIMINGS | {*without}} for one in records]
    return json.loads(json.dumps(kept))


@pytest.fixture(scope="module")
def whole(tmp_path_factory, cache, small) -> Run:
    """A run of 21 questions on 3 conversations that are longer than the recorded depth."""
    arguments = ("strategy=full_context", "retrieval.depth=2", "budget=null", *small)
    return run_once(tmp_path_factory, cache, "selections", *arguments)


def test_a_record_is_read_as_if_it_had_what_is_stored_once(tmp_path, start, small, whole):
    start("strategy=full_context", "budget=null", *small, f"hydra.run.dir={tmp_path / 'x'}").ok()
    each = tmp_path / "x"
    assert all(row.keys() >= LEFT_OUT for row in Run(each).records)
    assert not any(row.keys() & LEFT_OUT for row in whole.records)
    assert read(each) == read(whole.folder)
    assert load_run(each).rankings == load_run(whole.folder).rankings
    rankings = whole.lines("rankings.jsonl")
    assert len(rankings) == 21
    assert not any("ranking" in row for row in rankings)
    assert len(whole.lines("contexts.jsonl")) == 3


def test_what_is_written_again_leaves_it_out_too(tmp_path, start, whole, capsys):
    expected, out = read(whole.folder, "scores", "judge"), tmp_path / "out"
    for number, part in enumerate(("judge=gold_recall", "reader=none")):
        folder = tmp_path / f"again{number}"
        start(f"from={whole.folder}", part, f"hydra.run.dir={folder}").ok()
        found = read(folder)
        assert [one["retrieved"] for one in found] == [one["retrieved"] for one in expected]
        assert all(one["scores"]["evidence_recall"] in {1.0, None} for one in found)
        assert not any(row.keys() & LEFT_OUT for row in Run(folder).records)
    assert merge.main([str(whole.folder), "--out", str(out)]) == 0, capsys.readouterr().err
    recompute(out)
    assert not any(row.keys() & LEFT_OUT for row in Run(out).records)
    assert read(out) == read(whole.folder)
    assert load_run(out).rankings == load_run(whole.folder).rankings


def test_a_resumed_run_stores_nothing_twice(tmp_path, start, small, whole):
    folder = shutil.copytree(whole.folder, tmp_path / "run")
    kept = whole.files["records.jsonl"].splitlines(keepends=True)[:-3]
    (folder / "records.jsonl").write_bytes(b"".join(kept))
    fields = whole.manifest | {"status": "interrupted"}
    (folder / "manifest.json").write_text(json.dumps(fields), encoding="utf-8")
    arguments = ("strategy=full_context", "retrieval.depth=2", "budget=null", *small)
    start(*arguments, f"resume={folder}", f"hydra.run.dir={folder}").ok()
    assert (folder / "contexts.jsonl").read_bytes() == whole.files["contexts.jsonl"]
    assert not any(row.keys() & LEFT_OUT for row in Run(folder).records)
    assert read(folder) == read(whole.folder)


@pytest.mark.parametrize(
    ("name", "removed", "message"),
    [
        ("contexts.jsonl", {"retrieved", "titles"}, r"contexts\.jsonl: lacks the memories .*ash/0"),
        ("records.jsonl", {"context_sha256"}, r"records\.jsonl: line 1: .*retrieved: absent"),
        ("rankings.jsonl", {"context_sha256"}, r"rankings\.jsonl: line 1: .*ranking: use either"),
    ],
)
def test_a_selection_that_is_gone_is_noticed(tmp_path, whole, name, removed, message):
    folder = shutil.copytree(whole.folder, tmp_path / "run")
    rows = [{k: v for k, v in row.items() if k not in removed} for row in Run(folder).lines(name)]
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        _ = load_run(folder).rankings
