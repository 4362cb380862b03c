"""Runs over one store of all conversations, and under another evidence key."""

import json
import shutil
from pathlib import Path

import pytest

from eval.analyse.compare.__main__ import main as compare
from eval.datasets import locomo as evidence_key
from eval.datasets.locomo import Citation, EvidenceOverlay, LoCoMo
from eval.datasets.overlays import write_overlay
from eval.exchange.merge.__main__ import main as merge
from eval.imports.rescore.__main__ import main as rescore
from eval.pages.report.runs import load
from tests.eval.commands import Run
from tests.eval.run.conftest import THIRD

POOLED = "dataset.pooled=true"
FILTERED = (POOLED, "dataset.owner_filter=true")


@pytest.fixture
def path(small: tuple[str, ...]) -> str:
    return small[0].removeprefix("dataset.path=")


@pytest.fixture
def overlay(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the small data set: question ash/0 cites a turn too many, beech/1 another one."""
    monkeypatch.setattr(evidence_key, "FOLDER", tmp_path / "evidence")
    files = LoCoMo(name="small", path=path).load().files
    entries = (
        Citation("ash/0", ("D1:1", "D1:2"), ("D1:1",)),
        Citation("beech/1", ("D2:2",), ("D1:2", "D2:1")),
    )
    overlay = EvidenceOverlay("an audit", "abc", "CC0", files, entries)
    write_overlay(tmp_path / "evidence" / "small.json", overlay)


def test_a_pooled_run_searches_one_store(made, keyed):
    plain = keyed["plain"]
    assert "evidence" not in plain.manifest
    assert all(record.keys().isdisjoint({"store", "evidence_original"}) for record in plain.records)
    pooled = made("strategy=bm25", POOLED)
    assert pooled.manifest["stores"] == {"pooled": {"turns": 18, "sessions": 6}}
    assert {(one["conversation"], one["store"]) for one in pooled.records} == {
        (name, "pooled") for name in ("ash", "beech", "cedar")
    }
    assert {one["conversation"] for one in pooled.ingests} == {"pooled"}
    assert {line["store"] for line in pooled.lines("rankings.jsonl")} == {"pooled"}
    found = {turn for one in pooled.records for _, turns, *_ in one["retrieved"] for turn in turns}
    assert {turn.partition(":")[0] for turn in found} == {"ash", "beech", "cedar"}
    (reported,) = load([str(pooled.folder)])
    assert reported.texts.turn("pooled", "ash:D1:1") is not None


def test_the_owner_filter_returns_the_own_conversation(made, start, small):
    filtered = made("strategy=bm25", *FILTERED)
    for record in filtered.records:
        owners = {id_.partition(":")[0] for id_, *_ in record["retrieved"]}
        assert owners == {record["conversation"]}
    # A cosine does not depend on the other memories.
    own, among_others = made("strategy=vector_only"), made("strategy=vector_only", *FILTERED)
    assert [one["scores"] for one in among_others.records] == [one["scores"] for one in own.records]
    start("strategy=mem0", "llm=local", "strategy.update.calls=schema", *small, *FILTERED).refused(
        "strategy=mem0: cannot filter by owner"
    )


@pytest.mark.parametrize("strategy", ["hybrid_gate", "oracle"])
def test_every_strategy_runs_pooled(made, strategy):
    records = made(f"strategy={strategy}", "k=10", *FILTERED).records
    assert {one["status"] for one in records} == {"ok"}
    assert all(
        id_.startswith(one["conversation"]) for one in records for id_, *_ in one["retrieved"]
    )
    if strategy == "oracle":
        assert {one["scores"]["evidence_recall"] for one in records} == {1.0}


def test_questions_are_asked_at_the_end_of_their_own_conversation(made, path, tmp_path):
    """graph_score's recency, with the clock of one conversation a year later."""
    samples = json.loads(Path(path).read_text())
    for number in (1, 2):
        samples[1]["conversation"][f"session_{number}_date_time"] = f"2024-05-0{number} 13:56"
    data = tmp_path / "later.json"
    data.write_text(json.dumps(samples))
    terms = []
    for options in ((), FILTERED):
        run = made("strategy=graph_score", "dataset.name=later", f"dataset.path={data}", *options)
        record = run.records[0]
        fields = record["trace"]["memory_score"]["terms"]
        found = record["trace"]["memory_score"]["of"]
        first = next(value for id_, value in found.items() if id_.endswith("D1:1"))
        terms.append(dict(zip(fields, first, strict=True))["recency"])
    assert terms[0] == terms[1]


def test_a_pooled_run_can_be_resumed(broken, made):
    """Questions that failed are asked again; a torn line of the ingestion is repeated."""
    case = broken("strategy.fault=third", POOLED)
    assert case.errors
    with (case.run.folder / "ingest.jsonl").open("a") as ingests:
        ingests.write('{"conver')
    resumed = case.resume()
    unbroken = made(*THIRD, POOLED)
    assert resumed.untimed == unbroken.untimed
    assert resumed.manifest["config_sha256"] == unbroken.manifest["config_sha256"]


def test_parts_of_pooled_runs_are_not_merged(made, tmp_path, refused):
    names = ("ash", "beech")
    parts = [made("strategy=bm25", POOLED, f"dataset.conversations=[{one}]") for one in names]
    message = refused(merge, *(part.folder for part in parts), "--out", tmp_path / "out")
    assert "its store is pooled" in message


@pytest.mark.usefixtures("overlay")
def test_a_run_rescored_is_as_a_run_under_that_evidence(made, path, tmp_path, said, refused):
    keys = ("original", "corrected", "excluded")
    runs = {key: made("strategy=bm25", *FILTERED, f"dataset.evidence={key}") for key in keys}
    excluded = {one["id"]: one for one in runs["excluded"].records}
    assert excluded["ash/0"]["evidence"] == []
    assert excluded["ash/0"]["scores"]["recall@10"] is None
    assert excluded["ash/0"]["scores"]["locomo_f1"] is not None
    corrected = {one["id"]: one for one in runs["corrected"].records}
    assert len(corrected["beech/1"]["evidence"]) == 2
    changed = {id_ for id_, one in corrected.items() if "evidence_original" in one}
    assert changed == {"ash/0", "beech/1"}

    folders = [run.folder for run in runs.values()]
    said(compare, *folders)  # on answers alone
    message = refused(compare, *folders, "--score", "evidence_recall")
    assert "scored by different evidence (original, corrected); rescore one by" in message
    copies = {key: shutil.copytree(run.folder, tmp_path / key) for key, run in runs.items()}
    message = refused(rescore, *folders[:2], "--dataset", path)
    assert "different evidence keys; name one for all by --evidence" in message

    for first, key in zip(keys, ("corrected", "excluded", "original"), strict=True):
        said(rescore, runs[first].folder, "--dataset", path, "--evidence", key)
        rescored, whole = runs[first], Run(copies[key])  # never rescored
        assert without_usage(rescored) == without_usage(whole)
        assert rescored.manifest["config_sha256"] == whole.manifest["config_sha256"]
        assert rescored.manifest["rescored"][-1]["evidence"] == key
        report = (rescored.folder / "report.md").read_text()
        assert (f"evidence key than the data set's: {key}" in report) is (key != "original")


def without_usage(run: Run) -> list[dict[str, object]]:
    return [{k: v for k, v in one.items() if k != "usage"} for one in run.untimed]
