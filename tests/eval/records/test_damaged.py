"""Damaged run folders: one line with file, field and remedy, and never another number."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval.records.folder import begin
from eval.records.manifest import load_manifest
from eval.records.run import load_run
from memsys.core.errors import InputError
from tests.eval.factory import FILE, hashed, ingest_line, record, write_run

ROWS = [record(f"ash/{i}", scores={"locomo_f1": i / 10}) for i in range(5)]
INGESTS = [ingest_line("ash"), ingest_line("ash", "s2"), ingest_line("ash", None)]

# Lines that replace one of records.jsonl; the field or reason that the error names.
RECORDS: list[tuple[str, bytes, str]] = [
    ("null", b"null", "object"),
    ("not UTF-8", b'{"id": "\xff"}', "not JSON"),
    ("cut", b'{"id": "ash/2", "ans', "not JSON"),
    ("an unhashable id", json.dumps(ROWS[2] | {"id": ["ash/2"]}).encode(), "id: "),
    ("another status", json.dumps(ROWS[2] | {"status": "fine"}).encode(), "status"),
    ("a score in words", json.dumps(ROWS[2] | {"scores": {"locomo_f1": "1"}}).encode(), "scores"),
    ("a score of NaN", json.dumps(ROWS[2] | {"scores": {"f1": float("nan")}}).encode(), "NaN"),
    *((f"{name}: {value!r}", json.dumps(ROWS[2] | {name: value}).encode(), field)
      for name, value, field in (
          ("answer", None, "answer: null"),
          ("gold", None, "gold: null"),
          ("scores", {}, "scores: empty"),
          ("trace", {"expansion": "x"}, "trace.expansion: "),
          ("trace", {"expansion": [{}]}, "trace.expansion[0].memory: "),
          ("trace", {"gate": {}}, "trace.gate.open: "),
          ("latency_ms", {"answer": 1.0, "total": 1.0}, "latency_ms.retrieve: "),
          ("usage", {"answer": {"calls": "1"}}, "usage.answer.calls: "),
          ("usage", {"answer": {"input_tokens": -100}}, "usage.answer.input_tokens: "),
          ("usage", {"judge": {"output_tokens": "1"}}, "usage.judge.output_tokens: "),
          ("usage", {"answer": {"by_model": {"m": {"x": 1}}}}, "usage.answer.by_model.m.x: "),
          ("scores", {"locomo_f1": 2.0}, "scores.locomo_f1: Input should be less than or equal"),
          ("status", "error", "error: null, although status is error"),
          ("context_tokens", -5, "context_tokens: Input should be greater than or equal to 0"),
          ("latency_ms", {"retrieve": 1e308, "answer": 0, "total": 0}, "latency_ms.retrieve: "),
      )),
]  # fmt: skip
INGEST: list[tuple[str, bytes, str]] = [
    ("null", b"null", "object"),
    ("memories in words", json.dumps(INGESTS[1] | {"memories": "1"}).encode(), "memories"),
    ("an unhashable id", json.dumps(INGESTS[1] | {"conversation": {}}).encode(), "conversation"),
    ("calls in words", json.dumps(INGESTS[1] | {"usage": {"calls": "1"}}).encode(), "usage.calls"),
]


def without(*names: str) -> Callable[[dict[str, Any]], object]:
    return lambda m: {k: v for k, v in m.items() if k not in names}


def edited(**fields: Any) -> Callable[[dict[str, Any]], object]:
    return lambda m: m | fields


MANIFEST: list[tuple[str, Callable[[dict[str, Any]], object], str]] = [
    ("a list", lambda _: [], "not the manifest"),
    ("only the hash", lambda m: {"config_sha256": m["config_sha256"]}, "run_id: Field required"),
    *((f"no {name}", without(name), f"{name}: Field required")
      for name in ("run_id", "schema_version", "data", "config", "command")),
    ("version 0", edited(schema_version=0), "another version of memsys"),
    *((f"{name} in words", edited(**{name: "x"}), f"{name}: ")
      for name in ("resumed", "seconds", "pricing", "data", "config", "key", "sweep", "subset")),
    ("config null", edited(config=None), "config: "),
    ("prices in words", edited(pricing={"as_of": "x", "models": 5}), "pricing"),
    ("a subset of a name alone", edited(subset={"name": "lite"}), "subset.file"),
    ("fewer questions than none", edited(questions=-5), "questions: "),
    ("a judge without a name", edited(judge={}), "judge"),
    ("another k", lambda m: m | {"config": m["config"] | {"k": 5}}, "config_sha256 does not fit"),
    ("another seed", edited(seed=5), "seed: 5 was edited"),
    ("another strategy", edited(strategy="other"), "strategy: 'other' was edited"),
    ("another protocol", edited(scoring=["mem0"]), "scoring: ['mem0'] was edited"),
    ("another key", edited(key={"name": "corrected", "overlay": None, "texts": None, "wrong": []}),
     "key.name: 'corrected' was edited"),
    ("other citations", edited(evidence={"name": "corrected", "overlay": FILE, "wrong": []}),
     "evidence.name: 'corrected' was edited"),
    ("NaN", edited(seconds={"total": float("nan")}), "NaN"),
]  # fmt: skip


def names(cases: list[tuple[str, Any, str]]) -> list[str]:
    return [name for name, _, _ in cases]


def run(folder: Path) -> Path:
    config = {
        **{"strategy": {"name": "plain"}, "k": 10, "seed": 0},
        **{"scoring": {"protocols": ["locomo"]}, "dataset": {"name": "some", "key": "original"}},
    }
    config["dataset"]["evidence"] = "original"
    return write_run(folder, ROWS, ingests=INGESTS, config=config)


def replaced(path: Path, number: int, line: bytes) -> None:
    lines = path.read_bytes().splitlines()
    lines[number] = line
    path.write_bytes(b"\n".join(lines) + b"\n")


def refused(folder: Path) -> str:
    """The line by which a run is refused to every command; "" where it is read."""
    try:
        _ = load_run(folder).ingests
    except InputError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(("line", "field"), [one[1:] for one in RECORDS], ids=names(RECORDS))
def test_a_damaged_record_is_refused_and_on_resuming_too(tmp_path, line, field):
    folder = run(tmp_path / "run")
    replaced(folder / "records.jsonl", 2, line)
    message = refused(folder)
    assert "records.jsonl: line 3" in message
    assert field in message
    assert message.endswith("; delete the line and resume the run, which asks its question again")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(InputError, match=r"records\.jsonl: line 3"):
        begin(folder, load_manifest(folder), folder.name)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(("line", "field"), [one[1:] for one in INGEST], ids=names(INGEST))
def test_a_damaged_line_of_the_ingestion_is_refused_where_it_is_read(tmp_path, line, field):
    for number in (1, 2):
        folder = run(tmp_path / f"run{number}")
        replaced(folder / "ingest.jsonl", number, line)
        message = refused(folder)
        assert f"ingest.jsonl: line {number + 1}" in message
        assert field in message
        with pytest.raises(InputError, match=rf"ingest\.jsonl: line {number + 1}.*run it again"):
            begin(folder, load_manifest(folder), folder.name)


@pytest.mark.parametrize(("change", "field"), [one[1:] for one in MANIFEST], ids=names(MANIFEST))
def test_a_damaged_manifest_is_refused_by_every_command_and_on_resuming(tmp_path, change, field):
    folder = run(tmp_path / "run")
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(change(manifest)))
    before = (folder / "manifest.json").read_bytes()
    assert field in refused(folder)
    with pytest.raises(InputError, match=re.escape(field)):
        begin(folder, manifest, folder.name)
    assert (folder / "manifest.json").read_bytes() == before


def test_a_manifest_that_is_not_json_and_a_second_record_after_an_answer_are_refused(tmp_path):
    folder = run(tmp_path / "run")
    with (folder / "records.jsonl").open("a") as file:
        file.write(json.dumps(record("ash/1", scores={"locomo_f1": 1.0})) + "\n")
    assert "ash/1 has a second record" in refused(folder)
    for text in (b"{", b'{"a":' * 100_000, b"\xff"):
        (folder / "manifest.json").write_bytes(text)
        assert "manifest.json: cannot be read" in refused(folder)


def changed(number: int, **fields: Any) -> list[dict[str, Any]]:
    return [row | (fields if i == number else {}) for i, row in enumerate(ROWS)]


EVENTS = [row | {"category": 21, "type": "events"} for row in changed(3, gold=None)]
UNANSWERED = {"answer": None, "abstained": None, "answer_tokens": None}


@pytest.mark.parametrize(
    ("rows", "fields", "reason"),
    [
        (ROWS[1:], {"questions": 5}, "holds 4 questions, and the complete run asked 5"),
        (ROWS, {"questions": 1}, "holds 5 questions, and the complete run asked 1"),
        (ROWS, {"questions": 0}, "holds 5 questions, and the complete run asked 0"),
        (ROWS[1:], {"questions": 7, "kind": "imported", "matching": {"matched": 5}}, "asked 5"),
        (changed(3, **UNANSWERED), {}, "answer: ash/3 lacks one, unlike others of its run"),
        (changed(3, **UNANSWERED)[3:], {}, "answer: ash/4 has one, unlike others of its run"),
        (EVENTS, {}, "gold: ash/3 lacks one, unlike others of its type"),
        (changed(3, scores={"locomo_f1": None}), {}, "locomo_f1: ash/3 lacks one, unlike others"),
        (changed(3, judge={"a": [True]}), {"judge": {"name": "a", "score": "zzz"}}, "lacks 'zzz'"),
        (changed(3, type="temporal"), {}, "type: ash/3 is of 'temporal', unlike others of"),
        ([row | {"type": "overall"} for row in ROWS], {}, "type: ash/0 is of 'overall'"),
    ],
)
def test_a_complete_run_without_what_it_asked_is_refused(tmp_path, rows, fields, reason):
    folder = write_run(tmp_path / "run", rows, ingests=INGESTS, **fields)
    message = refused(folder)
    assert f"{folder / 'records.jsonl'}: " in message
    assert reason in message


def test_whole_runs_one_that_has_not_ended_and_one_without_a_reader_are_read(tmp_path):
    begun = write_run(tmp_path / "begun", ROWS[1:], questions=5, status="interrupted")
    assert len(load_run(begun, complete=False).records) == 4
    silent = write_run(tmp_path / "silent", [row | UNANSWERED for row in ROWS], questions=5)
    assert not load_run(silent).has_answers
    theirs = {"kind": "imported", "matching": {"matched": 5}, "questions": 9}
    assert len(load_run(write_run(tmp_path / "theirs", ROWS, **theirs)).records) == 5
    folder = run(tmp_path / "run")
    assert refused(folder) == ""
    assert hashed(load_manifest(folder)) == load_manifest(folder)


@pytest.mark.parametrize("whole", [2, 3])
def test_a_torn_ingestion_is_not_resumed_where_it_has_answers(tmp_path, whole):
    folder = run(tmp_path / "run")
    path = folder / "ingest.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:whole]) + b'{"conv')
    before = path.read_bytes()
    if whole < len(INGESTS):
        with pytest.raises(InputError, match=r"ingest\.jsonl: .*incomplete, and ash has answers"):
            begin(folder, load_manifest(folder), folder.name)
    else:
        assert begin(folder, load_manifest(folder), folder.name)["status"] == "running"
    assert path.read_bytes() == before
