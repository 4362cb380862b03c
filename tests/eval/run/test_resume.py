"""Runs that are killed, stopped, broken or moved go on where they were; nothing else may."""

import hashlib
import json
import os
import shlex
import shutil
import signal
import sys
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from eval.records.folder import begin
from eval.records.manifest import load_manifest
from memsys.core.errors import InputError
from memsys.index.weights import WEIGHTS
from tests.eval import faulty
from tests.eval.commands import FAULTY, PATIENT, Run, Start, runs_in, small_sample
from tests.eval.launching import DONE, HANG, environment, hanging_run, started, until
from tests.eval.run.conftest import ALL, assert_as_clean

HANGING = (*FAULTY, "strategy=faulty", *HANG)


def test_killed_run_goes_on_to_the_same_records(start, tmp_path, cache, small, clean):
    (tmp_path / "fault").touch()
    command = [sys.executable, "-m", "eval.run", *HANGING, *small]
    with started(command, tmp_path, environment(tmp_path, cache)) as process:
        run = until(lambda: hanging_run(tmp_path), process, tmp_path)
        again = (*HANGING, *small, f"resume={run.folder.name}")
        before = run.files
        start(*again).refused("another process is writing this run")
        assert run.files == before
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    assert run.manifest["status"] == "running"
    answered = run.records
    with (run.folder / "records.jsonl").open("a") as records:
        records.write('{"id": "beech/3", "answer": "to')
    with (run.folder / "ingest.jsonl").open("a") as ingests:
        ingests.write('{"conver')

    start(*again).ok()
    assert len(runs_in(tmp_path)) == 1
    assert_as_clean(run, clean)
    assert run.records[:DONE] == answered  # timings too: they were not asked again
    assert [r["id"] for r in run.records] == ALL
    steps = [(i["conversation"], i["phase"], i["session"]) for i in run.ingests]
    assert steps == [(i["conversation"], i["phase"], i["session"]) for i in clean.ingests]
    assert len(run.manifest["resumed"]) == 1


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_leaves_its_code_and_the_command_that_goes_on(
    start, tmp_path, small, clean, fault, sent, code, monkeypatch
):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # may be ignored
    hung = SimpleNamespace(sleep=lambda _: os.kill(os.getpid(), sent))
    monkeypatch.setattr(faulty, "time", hung)
    types = "dataset.types=[multi_hop, temporal, open_domain, single_hop, adversarial]"
    ended = start(*HANGING, *small, types)
    signal.signal(signal.SIGINT, before)
    fault.unlink()
    assert ended.code == code
    assert "Traceback" not in ended.err
    (run,) = runs_in(tmp_path)
    assert len(run.records) == DONE
    assert run.manifest["status"] == "interrupted"
    assert run.manifest["ended"] is not None

    command = shlex.split(ended.err.strip().splitlines()[-1])
    assert command[:3] == ["python", "-m", "eval.run"]
    assert command[-1] == f"resume={run.folder.name}"
    assert start(*command[3:]).code == 0
    assert_as_clean(run, clean)


def test_a_complete_run_is_resumed_to_no_effect(start, tmp_path, small, plain):
    before = plain.files
    other = f"cache={tmp_path / 'other'}"
    assert start("strategy=bm25", *small, f"resume={plain.folder.name}", other).code == 0
    assert plain.files["records.jsonl"] == before["records.jsonl"]
    assert plain.files["ingest.jsonl"] == before["ingest.jsonl"]
    mine, its = plain.summary, json.loads(before["summary.json"])
    assert mine["by_type"] == its["by_type"]


@pytest.fixture
def plain(keyed: dict[str, Run], copy: Callable[[Run], Run]) -> Run:
    """A complete run of bm25."""
    return copy(keyed["plain"])


def refused(start: Start, run: Run, *arguments: str) -> str:
    """The one line by which a command is refused; the run stays as it was, to the byte."""
    before = run.files
    ended = start(*arguments).one_line()
    assert run.files == before
    return ended.err


def test_resume_refuses_another_configuration(start, small, plain):
    for differing, overrides in {
        "differs in index.k1;": ("strategy=bm25", *small, "index.k1=1"),
        "strategy.k": ("strategy=bm25", *small, "k=3"),
        "strategy._target_": ("strategy=oracle", *small),
        "dataset.limit": ("strategy=bm25", *small, "dataset.limit=2"),
    }.items():
        assert differing in refused(start, plain, *overrides, f"resume={plain.folder.name}")


def test_resume_refuses_changed_data(start, completed, tmp_path):
    path = tmp_path / "my.json"
    path.write_text(json.dumps(small_sample("ash")))
    command = ("strategy=bm25", "k=2", f"dataset.path={path}")
    run = completed(*command)
    path.write_text(json.dumps(small_sample("ash")) + "\n")
    assert "data files have changed" in refused(start, run, *command, f"resume={run.folder.name}")


def test_resume_refuses_changed_weights(start, completed, tmp_path, small, clean):
    path = tmp_path / "mine.yaml"
    path.write_bytes(WEIGHTS.read_bytes())
    chosen = ("strategy=fusion", "index.fusion=mine.yaml", *small)
    run = completed(*chosen)
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    expected = {"name": "mine.yaml", "bytes": path.stat().st_size, "sha256": sha256}
    assert run.manifest["weights"] == expected
    assert "weights" not in clean.manifest
    path.write_text(path.read_text(encoding="utf-8") + "# again\n", encoding="utf-8")
    start(*chosen, f"resume={run.folder.name}").refused(
        "the file of index.fusion has changed since"
    )


def test_resume_refuses_an_unknown_run(start, tmp_path, small):
    for name in ("nope", "2024"):
        ended = start("strategy=bm25", *small, f"resume={name}").one_line(f"{name}: no such run; ")
        assert ended.err.endswith(" or a part of it, or last\n")
        assert runs_in(tmp_path) == []


def test_moved_folder(start, tmp_path, small, clean, fault):
    moved = Run(tmp_path / "some" / "where")
    command = (*FAULTY, "strategy=faulty", *PATIENT, *small, "strategy.fault=third")
    command = (*command, f"hydra.run.dir={moved.folder}")
    assert start(*command).code == 0
    assert moved.manifest["run_id"] == "where"
    assert "holds a run already" in refused(start, moved, *command)
    fault.unlink()
    assert start(*command, "resume=where").code == 0
    assert_as_clean(moved, clean)
    assert runs_in(tmp_path) == []


@pytest.mark.parametrize("name", ["manifest.json", "report.md", "summary.csv"])
def test_a_run_replaces_no_file_of_a_user(tmp_path, keyed, name):
    (tmp_path / name).write_text("mine")
    with pytest.raises(InputError, match=rf"{name}: is there already.*hydra.run.dir"):
        begin(tmp_path, load_manifest(keyed["plain"].folder), None)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {name: "mine"}


@pytest.mark.parametrize("name", ["contexts.jsonl", "rankings.jsonl"])
def test_a_run_whose_contexts_or_rankings_are_gone_is_not_resumed(tmp_path, keyed, name):
    folder = shutil.copytree(keyed["plain"].folder, tmp_path / "run")
    (folder / name).unlink()
    manifest = load_manifest(folder)
    with pytest.raises(InputError, match=rf"{name}: is gone, and ash/0 has an answer"):
        begin(folder, manifest, "run")
    assert load_manifest(folder) == manifest
