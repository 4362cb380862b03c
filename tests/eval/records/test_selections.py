"""Large selections are stored once, with their context, and read as if each record had them."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from eval.exchange.merge import __main__ as merge
from eval.imports.rescore.recompute import recompute
from eval.records.run import load_run
from memsys.core.errors import InputError
from tests.eval.commands import TIMINGS, Run, run_once

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
